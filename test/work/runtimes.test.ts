import { describe, expect, test } from 'vitest'
import { OWNER_PROFILE } from '../../src/collab/audience.js'
import { createRuntimes } from '../../src/app/agents.js'
import type { AgentEndpoint, RuntimeSession } from '../../src/collab/ports.js'
import { MANAGER, type AgentId, type LaneId } from '../../src/collab/refs.js'
import { silentLogger } from '../../src/lib/log.js'
import type { HostedRuntime } from '../../src/runtime/hosted.js'
import { createRuntime, type RuntimeChoice } from '../../src/runtime/registry.js'
import { unavailableRuntime } from '../../src/runtime/unavailable.js'
import { noClaude, noCodex } from '../kit/runtime-bench.js'

const managed = (runtime: string, command: string | null = null): AgentEndpoint => ({
  kind: 'managed',
  runtime,
  command,
})

function bench(
  endpoints: Record<string, AgentEndpoint>,
  real: ((choice: RuntimeChoice) => HostedRuntime) | null = null,
) {
  const opened: RuntimeChoice[] = []
  const ended: string[] = []
  const seen: string[] = []
  const manager = unavailableRuntime('the manager', '')
  const runtimes = createRuntimes({
    manager,
    directory: {
      list: async () => [],
      async find(agent) {
        const endpoint = endpoints[agent]
        if (endpoint === undefined) return null
        const unknown = { lastEvidenceAt: null, reachable: null }
        const told = { role: '', responsibility: '', host: '', abilities: [], capacity: 1 }
        return { agent, goal: 'g', goalState: 'active', endpoint, ...told, ...unknown }
      },
    },
    saw: (agent, reachable) => void seen.push(`${agent} ${reachable}`),
    open(choice) {
      opened.push(choice)
      if (real !== null) return real(choice)
      const runtime: HostedRuntime = {
        ...unavailableRuntime(choice.endpoint, ''),
        async open() {
          return choice.command === 'broken'
            ? { outcome: 'unavailable', because: 'exited', detail: '' }
            : { outcome: 'opened', session: null as unknown as RuntimeSession } // nobody looks into it
        },
        async end() {
          ended.push(choice.command ?? choice.endpoint)
          return { executor: 'gone' }
        },
      }
      return runtime
    },
  })
  return { seen, runtimes, manager, opened, ended, of: (agent: string) => runtimes.runtimeFor(agent as AgentId) }
}

describe('the runtimes of agents', () => {
  test('the manager has its own, an attached or unknown agent has none', async () => {
    const { of, manager, opened } = bench({ ann: { kind: 'attached' } })
    expect(await of(MANAGER)).toBe(manager)
    expect([await of('ann'), await of('nobody')]).toEqual([null, null])
    expect(opened).toEqual([])
  })

  test('a managed agent gets one of its own, made once also when asked for at the same time', async () => {
    const { of, opened } = bench({
      ann: managed('acp', 'one --acp'),
      ben: managed('acp', 'one --acp'),
      cat: managed('rehearsal'),
    })
    const [first, second, other, third] = await Promise.all([of('ann'), of('ann'), of('ben'), of('cat')])
    expect(first).toBe(second)
    expect(first).not.toBe(other)
    expect(third?.name).toBe('rehearsal')
    expect(opened).toEqual([
      { endpoint: 'acp', command: 'one --acp', commandName: 'the command of agent ann' },
      { endpoint: 'acp', command: 'one --acp', commandName: 'the command of agent ben' },
      { endpoint: 'rehearsal' },
    ])
  })

  test('another endpoint is another runtime, and the earlier one is left alone until the end', async () => {
    const endpoints = { ann: managed('acp', 'one') }
    const { of, opened, ended, runtimes } = bench(endpoints)
    const first = await of('ann')
    endpoints.ann = managed('acp', 'two')
    const second = await of('ann')
    expect(second).not.toBe(first)
    expect(opened.map(({ command }) => command)).toEqual(['one', 'two'])
    expect(ended).toEqual([])
    await runtimes.end()
    expect(ended).toEqual(['one', 'two'])
  })

  test('a runtime that this version does not have says so; nothing stands in for it', async () => {
    const { of, opened } = bench({ ann: managed('elsewhere') })
    const runtime = await of('ann')
    expect(await runtime?.available()).toEqual({ available: false, detail: expect.stringContaining('elsewhere') })
    expect(opened).toEqual([])
  })

  test('an agent on a managed host without a conversation is asked of that host, and not called unknown', async () => {
    const given = { logger: silentLogger, newId: () => 'id', clock: { now: () => 0 }, env: {} }
    const deps = { ...given, codex: noCodex, claude: noClaude }
    const { of } = bench({ ann: managed('dsh') }, (choice) => createRuntime(choice, deps))
    const detail = expect.stringContaining('managed_host_chat_transport_unsupported')
    expect(await (await of('ann'))?.available()).toEqual({ available: false, detail })
  })

  test('A4 whether an agent can be reached is noted when its executor is asked for, and not when we gave up', async () => {
    const { of, seen } = bench({ ann: managed('acp', 'fine'), ben: managed('acp', 'broken') })
    const spec = { lane: 'l' as LaneId, profile: OWNER_PROFILE, workspace: '/nonexistent', resume: null }
    const signal = new AbortController().signal
    await of('ann')
    expect(seen).toEqual([])
    await (await of('ann'))?.open(spec, signal)
    await (await of('ben'))?.open(spec, signal)
    await (await of('ben'))?.open(spec, AbortSignal.abort())
    expect(seen).toEqual(['ann true', 'ben false'])
  })

  test('a command that cannot be run is named as the agent’s, not as a setting of the manager', async () => {
    const given = { logger: silentLogger, newId: () => 'id', clock: { now: () => 0 }, env: { PATH: '/nonexistent' } }
    const deps = { ...given, codex: noCodex, claude: noClaude }
    const { of } = bench({ ann: managed('acp', 'absent-agent') }, (choice) => createRuntime(choice, deps))
    expect(await (await of('ann'))?.available()).toMatchObject({
      available: false,
      detail: expect.stringMatching(/^the program of the command of agent ann \(absent-agent\)/),
    })
  })

  test('after the end nothing is started any more', async () => {
    const { of, opened, runtimes } = bench({ ann: managed('rehearsal') })
    await runtimes.end()
    expect(await (await of('ann'))?.available()).toMatchObject({ available: false })
    expect(opened).toEqual([])
  })
})
