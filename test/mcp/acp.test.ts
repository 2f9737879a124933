import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { OWNER_PROFILE } from '../../src/collab/audience.js'
import type { SessionSpec, ToolAccess } from '../../src/collab/ports.js'
import type { LaneId } from '../../src/collab/refs.js'
import { MESSAGE_CLOSE, MESSAGE_OPEN } from '../../src/collab/project/prompt.js'
import type { Logger } from '../../src/lib/log.js'
import { silentLogger } from '../../src/lib/log.js'
import { createAcpRuntime } from '../../src/runtime/acp/adapter.js'
import type { AcpOptions } from '../../src/runtime/acp/options.js'
import type { HostedRuntime } from '../../src/runtime/hosted.js'
import { groupIsGone } from '../../src/runtime/process-group.js'
import { acpOptions, collect, eventually, inputOf, never, temporaryFolder } from '../kit/runtime-bench.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { caller, servedDoor, type ServedDoor } from './kit.js'

const command = await scriptedAgent()
/** As `app` gives it: this very program, whatever folder the agent stands in. */
const file = (path: string) => new URL(`../../${path}`, import.meta.url)
const bridge = {
  command: process.execPath,
  args: ['--import', file('node_modules/tsx/dist/loader.mjs').href, fileURLToPath(file('src/main.ts'))],
}

let door: ServedDoor
let epoch = 0
beforeAll(async () => {
  // As the ledger does it: only the newest token of the seat is somebody.
  door = await servedDoor({
    caller: async (bearer) => {
      const n = Number(/^lma_epoch-(\d+)$/.exec(bearer)?.[1] ?? 0)
      if (n === 0) return { refused: 'unknown' }
      return n === epoch ? { ...caller, epoch } : { refused: 'stale-epoch' }
    },
  })
})
afterAll(() => door.close())

describe('an ACP agent and its tools', () => {
  let workspace: Awaited<ReturnType<typeof temporaryFolder>>
  const runtimes: HostedRuntime[] = []
  beforeEach(async () => {
    workspace = await temporaryFolder()
    door.fake.calls.length = 0
    door.fake.answers.clear()
  })
  afterEach(async () => {
    for (const runtime of runtimes.splice(0)) expect(await runtime.end()).toEqual({ executor: 'gone' })
    await workspace.remove()
  })

  const tools = async (): Promise<ToolAccess> => ({ url: `${door.url}/mcp`, token: `lma_epoch-${++epoch}` })
  const make = (flags: readonly string[] = [], more: Partial<AcpOptions> = {}): HostedRuntime => {
    const runtime = createAcpRuntime(acpOptions(command(...flags), more))
    runtimes.push(runtime)
    return runtime
  }
  const open = async (runtime: HostedRuntime, spec: Partial<SessionSpec> = {}) => {
    const whole = {
      lane: 'lane-1' as LaneId,
      profile: OWNER_PROFILE,
      workspace: workspace.path,
      resume: null,
      tools,
      ...spec,
    }
    const opening = await runtime.open(whole, never)
    if (opening.outcome !== 'opened') throw new Error(`not opened: ${opening.outcome}: ${opening.detail}`)
    return opening.session
  }
  const finalOf = async (session: Awaited<ReturnType<typeof open>>, message: string) => {
    const { ended } = await collect(session.turn(inputOf(message), never))
    return ended.ended === 'completed' ? ended.final.trim() : `${ended.ended}: ${JSON.stringify(ended)}`
  }
  const pidOf = (session: { readonly ref: { readonly id: string } }) => Number(/^s(\d+)-/u.exec(session.ref.id)?.[1])
  const shown = 'exchange_show: {"request":{"id":"r1","revision":1,"state":"open"}}'
  const show = '!tool exchange_show {"request":"r1"}'

  test('it really calls a tool over HTTP, with the token of its own process', async () => {
    const session = await open(make())
    expect(await finalOf(session, show)).toBe(shown)
    expect(door.fake.calls).toEqual([{ verb: 'show', caller: { ...caller, epoch }, said: { said: 'r1' } }])
  })

  test('it works through an inbox: reads, assesses every ask, reports', async () => {
    door.fake.answers.set('inboxRead', {
      items: [{ request: 'r7', revision: 3, asks: [{ id: 'a1' }, { id: 'a2' }], brief: 'mend it' }],
      nextCursor: null,
    })
    const session = await open(make())
    const final = await finalOf(session, '!tool inbox_read\n!assess accepted I can\n!report All mended.')
    expect(final).toContain('assess_request: {"outcome":"accepted"')
    expect(final).toContain('report_result: {"outcome":"accepted"')
    const [, assessed, reported] = door.fake.calls
    expect(assessed?.said).toMatchObject({ request: 'r7', onRevision: 3, asks: [{ ask: 'a1' }, { ask: 'a2' }] })
    expect(reported?.said).toMatchObject({ request: 'r7', covers: ['a1', 'a2'], text: 'All mended.' })
  })

  test('it takes the ids from its prompt, and a later call may use an earlier answer', async () => {
    const session = await open(make())
    const question = '"intent":"consultation","asks":"$asks","question":"Safe?","brief":"b","reason":"r"'
    const message = [
      `!tool ask_agent {"request":"$request","receiver":"tester",${question}}`,
      '!tool exchange_show {"request":"$last.child"}',
    ].join('\n')
    const text = [
      'From the owner, in a direct chat, written now. Request r9, revision 2.',
      [MESSAGE_OPEN, message, MESSAGE_CLOSE].join('\n'),
      'Asked, by id (for your tools):\n- a8: one\n- a9: two',
    ].join('\n\n')
    await collect(session.turn({ ...inputOf(''), text }, never))
    expect(door.fake.calls.map(({ said }) => said)).toMatchObject([
      { request: 'r9', asks: ['a8', 'a9'] },
      { said: 'r2' },
    ])
  })

  test('a token is asked for when a process begins, not for each turn; a resumed session gets its own', async () => {
    const before = epoch
    const runtime = make()
    const session = await open(runtime)
    expect([await finalOf(session, show), await finalOf(session, show)]).toEqual([shown, shown])
    expect((await open(runtime, { resume: session.ref })).opened).toBe('resumed')
    expect(epoch).toBe(before + 1)
    const pid = pidOf(session)
    process.kill(pid, 'SIGKILL')
    await eventually(() => groupIsGone(pid))
    // A turn that begins before the end of the process was heard of fails and begins no other one.
    await eventually(async () => (await finalOf(session, show)) === shown)
    expect(epoch).toBe(before + 2)
  })

  test('session/load hands them over, too', async () => {
    const runtime = make(['--load'])
    const session = await open(runtime)
    await finalOf(session, '!reply hi')
    await session.close()
    const again = await open(runtime, { resume: session.ref })
    expect(again.opened).toBe('resumed')
    expect(await finalOf(again, show)).toContain(shown)
  })

  test('A18 an executor that was replaced tries to report and is refused by its epoch', async () => {
    const report = '!tool report_result {"request":"r1","covers":["a1"],"text":"mine"}'
    const session = await open(make())
    expect(await finalOf(session, report)).toContain('"outcome":"accepted"')
    await tools()
    expect(await finalOf(session, report)).toContain('stale-epoch: this session was replaced')
    expect(door.fake.calls.map(({ verb }) => verb)).toEqual(['report'])
  })

  test('an agent without HTTP reaches them through the bridge, which ends with it', async () => {
    const session = await open(make(['--stdio-tools'], { bridge }))
    expect(await finalOf(session, show)).toBe(shown)
    expect(await session.close()).toEqual({ executor: 'gone' })
    expect(await groupIsGone(pidOf(session))).toBe(true)
  })

  test('without HTTP and without a bridge it has none, and a line says so', async () => {
    const lines: string[] = []
    const logger: Logger = {
      ...silentLogger,
      warn: (message, fields) => void lines.push(`${message} ${fields?.reason}`),
    }
    const before = epoch
    const session = await open(make(['--stdio-tools'], { logger }))
    expect(lines).toEqual(['an agent cannot reach its tools unsupported'])
    expect(await finalOf(session, show)).toBe('exchange_show failed: no tools were given')
    expect(epoch).toBe(before)
  })

  test('no tools are given where there are none, and a token that cannot be had is an answer', async () => {
    expect(await finalOf(await open(make(), { tools: null }), show)).toContain('no tools were given')
    const failing = () => Promise.reject(new Error('database at /srv/private is away'))
    const opening = await make().open(
      { lane: 'lane-1' as LaneId, profile: OWNER_PROFILE, workspace: workspace.path, resume: null, tools: failing },
      never,
    )
    expect(opening).toEqual({
      outcome: 'unavailable',
      because: 'unavailable',
      detail: 'the tools of the agent could not be prepared',
    })
  })
})
