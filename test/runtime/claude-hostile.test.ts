import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { OWNER_PROFILE } from '../../src/collab/audience.js'
import type { LaneId } from '../../src/collab/refs.js'
import { silentLogger } from '../../src/lib/log.js'
import { createClaudeRuntime } from '../../src/runtime/claude/adapter.js'
import type { ClaudeOptions } from '../../src/runtime/claude/options.js'
import type { HostedRuntime } from '../../src/runtime/hosted.js'
import { type ClaudeBench, claudeBench, hasClaude } from '../kit/claude-bench.js'
import { never, noClaude, temporaryFolder } from '../kit/runtime-bench.js'

/** The real SDK with a program in the place of `claude` that does not behave. */
describe.skipIf(!hasClaude)('a program that is not claude', { timeout: 60_000 }, () => {
  let bench: ClaudeBench
  let workspace: Awaited<ReturnType<typeof temporaryFolder>>
  const runtimes: HostedRuntime[] = []
  beforeEach(async () => {
    bench = await claudeBench()
    workspace = await temporaryFolder()
  })
  afterEach(async () => {
    for (const runtime of runtimes.splice(0)) expect(await runtime.end()).toEqual({ executor: 'gone' })
    expect(bench.processes()).toEqual([])
    await bench.close()
    await workspace.remove()
  })

  const opening = (script: string, more: Partial<ClaudeOptions> = {}) => {
    const bin = join(bench.home, 'claude')
    writeFileSync(bin, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    const runtime = createClaudeRuntime(bench.options({ bin, ...more }))
    runtimes.push(runtime)
    return runtime.open(
      { lane: 'lane-1' as LaneId, profile: OWNER_PROFILE, workspace: workspace.path, resume: null },
      never,
    )
  }

  test('writes something else: garbage', async () => {
    const chatter =
      'i=0; while [ $i -lt 60 ]; do echo "<html>not the agent</html>"; i=$((i+1)); done; exec tail -f /dev/null'
    expect(await opening(chatter)).toEqual({
      outcome: 'unavailable',
      because: 'garbage',
      detail: 'the agent wrote lines that are not its protocol',
    })
  })

  test('writes a line without an end: too large, and it is not kept in memory', async () => {
    expect(await opening('exec head -c 60000000 /dev/zero')).toMatchObject({ because: 'too-large' })
  })

  test('ends at its start: exited, told without its key and its paths', async () => {
    const credential = { ANTHROPIC_AUTH_TOKEN: 'secret-canary-1', ANTHROPIC_BASE_URL: bench.mock.url }
    const script = 'echo "bad token $ANTHROPIC_AUTH_TOKEN in /srv/private/agent/home" >&2; exit 3'
    expect(await opening(script, { credential })).toEqual({
      outcome: 'unavailable',
      because: 'exited',
      detail: 'the agent ended with code 3: bad token *** in …',
    })
  })

  test('says nothing: hung, and it is ended though it is deaf', async () => {
    const deaf = 'trap "" TERM; while :; do sleep 600; done'
    expect(await opening(deaf, { openMs: 300, killAfterMs: 200 })).toMatchObject({ because: 'hung' })
  })

  test('opening can be stopped', async () => {
    const bin = join(bench.home, 'claude')
    writeFileSync(bin, '#!/bin/sh\nexec tail -f /dev/null\n', { mode: 0o755 })
    const runtime = createClaudeRuntime(bench.options({ bin }))
    runtimes.push(runtime)
    const abort = new AbortController()
    const stopped = runtime.open(
      { lane: 'l' as LaneId, profile: OWNER_PROFILE, workspace: workspace.path, resume: null },
      abort.signal,
    )
    abort.abort()
    expect(await stopped).toEqual({
      outcome: 'unavailable',
      because: 'unavailable',
      detail: 'opening the session was stopped',
    })
  })

  test('is not there: not available, by the name of its setting only', async () => {
    const runtime = createClaudeRuntime(bench.options({ bin: '/opt/private/place/claude' }))
    const detail = 'CLAUDE_BIN cannot be run; set it to the full path of `claude`, or unset it'
    expect(await runtime.available()).toEqual({ available: false, detail })
  })
})

/** Stand-ins for the SDK itself; the real one is not needed. */
describe('an SDK', () => {
  const opened = async (code: string) => {
    const folder = await temporaryFolder()
    writeFileSync(join(folder.path, 'sdk.mjs'), code)
    const runtime = createClaudeRuntime({
      ...noClaude,
      sdk: pathToFileURL(join(folder.path, 'sdk.mjs')).href,
      homes: join(folder.path, 'homes'),
      credential: { ANTHROPIC_API_KEY: 'k' },
      env: {},
      logger: silentLogger,
      newId: () => randomUUID(),
      clock: { now: () => 0 },
    })
    const spec = { lane: 'l' as LaneId, profile: OWNER_PROFILE, workspace: folder.path, resume: null }
    const outcomes = [await runtime.open(spec, never), await runtime.available()]
    expect(await runtime.end()).toEqual({ executor: 'gone' })
    await folder.remove()
    return outcomes
  }

  test('without its program says how to get it', async () => {
    const code = 'export function query() { throw new Error("Native CLI binary for linux-x64 not found") }'
    expect(await opened(code)).toMatchObject([
      { outcome: 'unavailable', detail: expect.stringMatching(/^the agent SDK came without its program/u) },
      { available: true },
    ])
  })

  test('that is another package is not taken for it', async () => {
    const detail = expect.stringMatching(/is something else; install it beside the gateway: npm install/u)
    expect(await opened('export const nothing = 1')).toMatchObject([{ detail }, { available: false, detail }])
  })

  test('that cannot be read is told without its error', async () => {
    const detail = expect.stringMatching(/^@anthropic-ai\/claude-agent-sdk cannot be loaded; install it/u)
    expect(await opened('throw new Error("/srv/private")')).toMatchObject([{ detail }, { available: false, detail }])
  })
})
