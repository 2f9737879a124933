import type { RuntimeSession, SessionRef, TurnEvent, TurnInput } from '../collab/ports.js'
import type { LaneId } from '../collab/refs.js'
import { failed } from './event-queue.js'
import type { HostedRuntime } from './hosted.js'
import { within } from './wait.js'

export interface TurnLimits {
  /** No event for so long: the turn is stopped as hung. Milliseconds. */
  readonly silenceMs: number
  /** Longer than this no turn may run. Milliseconds. */
  readonly totalMs: number
}

const tooLong = Symbol('too long')

/** The same runtime, whose turns cannot hang: after a silence or past the limit they are stopped and end as `hung`. */
export function withLimits(runtime: HostedRuntime, limits: TurnLimits): HostedRuntime {
  return {
    name: runtime.name,
    abilities: runtime.abilities,
    available: () => runtime.available(),
    end: () => runtime.end(),
    ...(runtime.quiesce === undefined
      ? {}
      : { quiesce: (session: SessionRef, lane: LaneId) => runtime.quiesce!(session, lane) }),
    ...(runtime.confines === undefined ? {} : { confines: () => runtime.confines!() }),
    ...(runtime.checks === undefined ? {} : { checks: runtime.checks }),
    ...(runtime.binding === undefined ? {} : { binding: runtime.binding }),
    async open(spec, signal) {
      const opening = await runtime.open(spec, signal)
      if (opening.outcome !== 'opened') return opening
      return { outcome: 'opened', session: limited(opening.session, limits) }
    },
  }
}

function limited(session: RuntimeSession, limits: TurnLimits): RuntimeSession {
  const signs: Signs = { last: 0, waiting: new Set() }
  return {
    ref: session.ref,
    opened: session.opened,
    effective: session.effective,
    turn: (input, signal) => watched(session, input, signal, limits, signs),
    steer: (turn, input) => session.steer(turn, input),
    lookUp: (turn) => session.lookUp(turn),
    stop: (turn) => session.stop(turn),
    answer: (approval, verdict) => {
      signs.waiting.delete(approval)
      signs.last = performance.now()
      return session.answer(approval, verdict)
    },
    close: () => session.close(),
  }
}

/** Of one turn. A runtime that waits for somebody's answer is not silent: the answer is. */
interface Signs {
  last: number
  /** Permissions that were asked for and are not answered yet. */
  readonly waiting: Set<string>
}

async function* watched(
  session: RuntimeSession,
  input: TurnInput,
  signal: AbortSignal,
  limits: TurnLimits,
  signs: Signs,
): AsyncIterable<TurnEvent> {
  const events = session.turn(input, signal)[Symbol.asyncIterator]()
  const end = performance.now() + limits.totalMs
  signs.waiting.clear()
  for (;;) {
    signs.last = performance.now()
    const reading = events.next()
    const next = await patiently(reading, limits.silenceMs, end, signs)
    if (typeof next === 'string') {
      await session.stop(input.turn)
      yield failed('hung', next)
      return
    }
    if (next.done === true) return
    if (next.value.kind === 'approval') signs.waiting.add(next.value.approval)
    yield next.value
    if (next.value.kind === 'ended') return
  }
}

/** What comes next, or why nothing is waited for any longer. */
async function patiently<T>(reading: Promise<T>, silenceMs: number, end: number, signs: Signs): Promise<T | string> {
  for (;;) {
    const now = performance.now()
    if (now >= end) return 'the time limit of a turn was reached'
    const silentAt = signs.waiting.size > 0 ? now + silenceMs : signs.last + silenceMs
    if (now >= silentAt) return 'no sign of life'
    const next = await within(Math.min(silentAt, end) - now, reading, tooLong)
    if (next !== tooLong) return next
  }
}
