import { describe, expect, test } from 'vitest'
import { OWNER_PROFILE } from '../../src/collab/audience.js'
import type { LaneId } from '../../src/collab/refs.js'
import { silentLogger } from '../../src/lib/log.js'
import { createRuntime, endpoints, type RuntimeDeps } from '../../src/runtime/registry.js'
import { never, noClaude, noCodex } from '../kit/runtime-bench.js'

const deps: RuntimeDeps = {
  logger: silentLogger,
  newId: () => 'id-1',
  clock: { now: () => 0 },
  env: { PATH: '/usr/bin:/bin' },
  codex: noCodex,
  claude: noClaude,
}

describe('the registry', () => {
  test('gives each name its own adapter', () => {
    for (const endpoint of endpoints) expect(createRuntime({ endpoint }, deps).name).toBe(endpoint)
  })

  test('claude whose package is not there says how to install it, and starts nothing', async () => {
    const runtime = createRuntime({ endpoint: 'claude' }, deps)
    const mend = 'install it beside the gateway: npm install --no-save @anthropic-ai/claude-agent-sdk@0.3.332'
    const detail = `@anthropic-ai/claude-agent-sdk is not installed; ${mend}`
    expect(await runtime.available()).toEqual({ available: false, detail })
    expect(await runtime.checks?.()).toMatchObject([{ name: 'claude', state: 'failed', mend }])
    const spec = { lane: 'l' as LaneId, profile: OWNER_PROFILE, workspace: '/nonexistent', resume: null }
    expect(await runtime.open(spec, never)).toEqual({ outcome: 'unavailable', because: 'unavailable', detail })
  })

  test('codex that is not there says what to set, and starts nothing', async () => {
    const runtime = createRuntime({ endpoint: 'codex' }, deps)
    const detail =
      'CODEX_BIN (codex) cannot be found or run; set CODEX_BIN to the full path of the codex binary, or unset it'
    expect(await runtime.available()).toEqual({ available: false, detail })
    expect(await runtime.checks?.()).toMatchObject([{ name: 'codex', state: 'failed' }])
    const spec = { lane: 'l' as LaneId, profile: OWNER_PROFILE, workspace: '/nonexistent', resume: null }
    expect(await runtime.open(spec, never)).toMatchObject({ outcome: 'unavailable', because: 'unavailable' })
  })

  test('a managed host that holds no conversation is told apart from a name that nobody knows', async () => {
    const runtime = createRuntime({ endpoint: 'dsh' }, deps)
    expect(await runtime.available()).toMatchObject({
      available: false,
      detail: expect.stringMatching(/^managed_host_chat_transport_unsupported: dsh runs one bounded piece/u),
    })
    const spec = { lane: 'l' as LaneId, profile: OWNER_PROFILE, workspace: '/nonexistent', resume: null }
    expect(await runtime.open(spec, never)).toMatchObject({ outcome: 'unavailable', because: 'unavailable' })
  })

  test('acp without a command says which setting is missing', async () => {
    const runtime = createRuntime({ endpoint: 'acp' }, deps)
    expect(await runtime.available()).toMatchObject({ detail: expect.stringContaining('MANAGER_COMMAND is empty') })
  })

  test('acp declares no fence: its agents may leave their process group', () => {
    expect(createRuntime({ endpoint: 'acp', command: 'sh' }, deps).abilities.has('fence')).toBe(false)
  })
})
