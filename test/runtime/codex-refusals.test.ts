import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { HostRefusal } from '../../src/collab/host-refusal.js'
import { createCodexRuntime } from '../../src/runtime/codex/adapter.js'
import type { SandboxMode } from '../../src/runtime/codex/options.js'
import { refusalsIn } from '../../src/runtime/codex/refusals.js'
import type { HostedRuntime } from '../../src/runtime/hosted.js'
import { acceptance } from '../kit/acceptance.js'
import { codexBench, type CodexBench, hasCodex } from '../kit/codex-bench.js'
import { collect, inputOf, never, opened, temporaryFolder } from '../kit/runtime-bench.js'

describe('what codex wrote down of a turn', () => {
  const call = (id: string, cmd: string, name = 'exec_command') => ({
    payload: { type: 'function_call', call_id: id, name, arguments: JSON.stringify({ cmd }) },
  })
  const output = (id: string, text: string) => ({
    payload: { type: 'function_call_output', call_id: id, output: text },
  })
  const item = (id: string, status: string, code: number | null, printed = '') => ({
    payload: { type: 'item_completed', item: { id, status, exit_code: code, aggregated_output: printed } },
  })
  const ran = (code: number, printed: string) =>
    `Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code ${code}\nOutput:\n${printed}`
  const runs = 'Chunk ID: 1\nWall time: 0.1 seconds\nProcess running with session ID 7\nOutput:\n'

  test.each<[string, readonly object[], string | null]>([
    ['a call that was kept back', [call('1', 'git push'), output('1', 'Rejected("no pushes")')], 'policy'],
    ['a call that ran and has no item', [call('1', 'touch /x'), output('1', ran(1, 'x'))], 'sandbox'],
    [
      'an item with the error of the system',
      [call('1', 'touch /x'), item('1', 'failed', 1, 'touch: /x: Read-only file system'), output('1', ran(1, 'x'))],
      'sandbox',
    ],
    ['an item that failed', [call('1', 'false'), item('1', 'failed', 1), output('1', ran(1, ''))], null],
    [
      'what a person declined',
      [call('1', 'touch /x'), item('1', 'declined', null), output('1', 'Rejected("rejected by user")')],
      null,
    ],
    ['a command that still runs and prints of rejects', [call('1', 'tail'), output('1', `${runs}rejected`)], null],
    ['a command that printed of it and went well', [call('1', 'cat'), output('1', ran(0, 'rejected'))], null],
    ['a tool that is no shell', [call('1', 'x', 'update_plan'), output('1', 'rejected')], null],
    ['a call that could not be read', [call('1', 'x'), output('1', 'failed to parse arguments')], null],
    ['lines of another shape', [{}, { payload: 7 }, { payload: { type: 'function_call' } }], null],
  ])('%s', (_what, lines, by) => {
    expect(refusalsIn(lines as never, new Map(), 'workspace-write').map((one) => one.by)).toEqual(
      by === null ? [] : [by],
    )
  })

  test('without a sandbox nothing is a denial of one', () => {
    const lines = [call('1', 'touch /x'), item('1', 'failed', 1, 'Read-only file system'), output('1', ran(1, ''))]
    expect(refusalsIn(lines as never, new Map(), 'danger-full-access')).toEqual([])
  })
})

describe.skipIf(!hasCodex)('what the real codex refuses by itself', () => {
  let bench: CodexBench
  let workspace: Awaited<ReturnType<typeof temporaryFolder>>
  const runtimes: HostedRuntime[] = []
  beforeAll(async () => {
    bench = await codexBench()
    for (const home of ['owner', 'restricted']) {
      const rules = join(bench.root, 'codex', home, 'rules')
      mkdirSync(rules, { recursive: true })
      const rule = 'prefix_rule(pattern=["git","push"], decision="forbidden", justification="no pushes")\n'
      writeFileSync(join(rules, 'default.rules'), rule)
    }
  })
  afterAll(() => bench.close())
  beforeEach(async () => {
    workspace = await temporaryFolder()
  })
  afterEach(async () => {
    for (const runtime of runtimes.splice(0)) expect(await runtime.end()).toEqual({ executor: 'gone' })
    await workspace.remove()
  })

  const make = (sandbox: SandboxMode) => {
    const runtime = createCodexRuntime(bench.options({ sandbox }))
    runtimes.push(runtime)
    return runtime
  }
  const refusedIn = async (
    message: string,
    sandbox: SandboxMode = 'workspace-write',
  ): Promise<readonly HostRefusal[]> => await inSession(await opened(make(sandbox), workspace.path), message)
  const inSession = async (session: Awaited<ReturnType<typeof opened>>, message: string) => {
    const { events, ended } = await collect(session.turn(inputOf(message), never), async (event) => {
      if (event.kind === 'approval') await session.answer(event.approval, 'reject-once')
    })
    expect(ended).toMatchObject({ ended: 'completed' })
    return events.flatMap((event) => {
      if (event.kind !== 'refused-by-host') return []
      const { kind: _, ...refusal } = event
      return [refusal]
    })
  }

  acceptance('A2', 'a denial of the sandbox is reported as one, at once or later, and nothing else is', async () => {
    const target = join(bench.root, 'not-here.txt')
    const denied = (operation: string) => ({ by: 'sandbox', rule: 'workspace-write', tool: 'exec_command', operation })
    const session = await opened(make('workspace-write'), workspace.path)
    for (const command of [`touch ${target}`, `sleep 0.6; touch ${target}`]) {
      expect(await inSession(session, `!run ${command}`)).toEqual([denied(command)])
    }
    for (const command of ['false', 'cat /nowhere', 'echo Read-only file system', 'touch here']) {
      expect(await inSession(session, `!run ${command}`)).toEqual([])
    }
    expect(existsSync(target)).toBe(false)
  })

  acceptance('A2', 'it is reported the same in a thread that another process goes on with', async () => {
    const first = await opened(make('workspace-write'), workspace.path)
    await inSession(first, '!reply hi')
    await first.close()
    const again = await opened(make('workspace-write'), workspace.path, first.ref)
    expect(again.opened).toBe('resumed')
    const command = `touch ${join(bench.root, 'not-here.txt')}`
    expect(await inSession(again, `!run ${command}`)).toMatchObject([{ by: 'sandbox', operation: command }])
    expect(await inSession(again, '!run git push origin')).toMatchObject([{ by: 'policy', rule: 'command rule' }])
  })

  acceptance('A2', 'what a rule forbids is reported with the rule, without anybody being asked', async () => {
    expect(await refusedIn('!run git push origin')).toEqual([
      { by: 'policy', rule: 'command rule', tool: 'exec_command', operation: 'git push origin' },
    ])
  })

  acceptance('A2', 'an escalation that no approval policy allows is a refusal of the host', async () => {
    const refused = await refusedIn('!ask touch /var/x', 'workspace-only')
    expect(refused).toMatchObject([{ by: 'policy', rule: 'approval policy', operation: 'touch /var/x' }])
    const patched = await refusedIn(`!patch ${join(bench.root, 'x')}`, 'workspace-only')
    expect(patched).toMatchObject([{ by: 'policy', rule: 'approval policy' }])
  })

  acceptance('A2', 'what a person declines is no refusal of the host', async () => {
    expect(await refusedIn(`!ask touch ${join(bench.root, 'x')}`)).toEqual([])
    expect(await refusedIn(`!patch ${join(bench.root, 'x')}`)).toEqual([])
  })
})
