import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { OWNER_PROFILE } from '../../src/collab/audience.js'
import type { RuntimeSession, TurnEvent } from '../../src/collab/ports.js'
import type { LaneId, TurnId } from '../../src/collab/refs.js'
import type { HostedRuntime } from '../../src/runtime/hosted.js'
import { withLimits } from '../../src/runtime/limits.js'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const SILENCE = 1_000
const TOTAL = 20_000

/** One turn of a runtime that says these things at once and then nothing more; what was heard of it. */
async function turnThatSays(...said: readonly TurnEvent[]) {
  const stopped: string[] = []
  const inner: RuntimeSession = {
    ref: { runtime: 'test', id: 's' },
    opened: 'new',
    effective: { runtime: 'test', version: null, model: null, effort: null, realModel: false },
    async *turn() {
      yield* said
      await new Promise(() => {})
    },
    lookUp: async () => ({ known: 'unknown' }) as const,
    steer: async () => 'unsupported',
    stop: async (turn) => {
      stopped.push(turn)
      return 'stopped'
    },
    answer: async () => {},
    close: async () => ({ executor: 'gone' }),
  }
  const hosted: HostedRuntime = {
    name: 'test',
    abilities: new Set(),
    available: async () => ({ available: true }),
    open: async () => ({ outcome: 'opened', session: inner }),
    end: async () => ({ executor: 'gone' }),
  }
  const signal = new AbortController().signal
  const spec = { lane: 'lane' as LaneId, profile: OWNER_PROFILE, workspace: '/nowhere', resume: null }
  const opening = await withLimits(hosted, { silenceMs: SILENCE, totalMs: TOTAL }).open(spec, signal)
  if (opening.outcome !== 'opened') throw new Error('it opens')
  const { session } = opening
  const heard: TurnEvent[] = []
  void (async () => {
    const input = { turn: 'turn' as TurnId, text: '', attachments: [] }
    for await (const event of session.turn(input, signal)) heard.push(event)
  })()
  await vi.advanceTimersByTimeAsync(0)
  return { session, stopped, end: () => heard.find((event) => event.kind === 'ended') }
}
const asks = (approval: string): TurnEvent => ({ kind: 'approval', approval, operation: 'rm', use: null })
const hung = (detail: string) => ({ kind: 'ended', ended: 'failed', because: 'hung', detail })

describe('a turn of which nothing is heard', () => {
  test('is stopped after its silence', async () => {
    const turn = await turnThatSays({ kind: 'started', hostTurn: 'h' })
    await vi.advanceTimersByTimeAsync(SILENCE - 1)
    expect(turn.end()).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    expect(turn.end()).toEqual(hung('no sign of life'))
    expect(turn.stopped).toEqual(['turn'])
  })

  test('is not silent while it waits for an answer; its silence begins with the answer to the last one', async () => {
    const turn = await turnThatSays(asks('one'), asks('two'))
    await vi.advanceTimersByTimeAsync(5.5 * SILENCE)
    await turn.session.answer('one', 'allow-once')
    await vi.advanceTimersByTimeAsync(3 * SILENCE)
    expect(turn.end()).toBeUndefined()
    await turn.session.answer('two', 'reject-once')
    await vi.advanceTimersByTimeAsync(SILENCE - 1)
    expect(turn.end()).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    expect(turn.end()).toEqual(hung('no sign of life'))
  })

  test('ends at the limit of a turn, whoever it waits for', async () => {
    const turn = await turnThatSays(asks('one'))
    await vi.advanceTimersByTimeAsync(TOTAL - 1)
    expect(turn.end()).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    expect(turn.end()).toEqual(hung('the time limit of a turn was reached'))
  })
})
