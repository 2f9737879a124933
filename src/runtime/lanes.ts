import type {
  EffectiveProfile,
  KnownInput,
  Opening,
  QuiesceProof,
  RuntimeSession,
  SessionRef,
  SessionSpec,
  StopOutcome,
  TurnEvent,
  TurnInput,
  Verdict,
} from '../collab/ports.js'
import type { TurnId } from '../collab/refs.js'
import type { HostedRuntime } from './hosted.js'
import type { NotConfined, Trouble } from './trouble.js'

/** One session of one runtime, whose process may end and start again in between; its id stays. */
export interface Lane {
  readonly ref: SessionRef
  readonly effective: EffectiveProfile
  /** The next turn can run in the process that is there, with everything it remembers. */
  readonly warm: boolean
  /** What it remembers is more than the model takes: each turn in it would fail again. */
  readonly full?: boolean
  turn(input: TurnInput, signal: AbortSignal): AsyncIterable<TurnEvent>
  /** Absent: the runtime has no way to add to a running turn. */
  steer?(turn: TurnId, input: TurnInput): Promise<'taken' | 'too-late'>
  /** Absent: the runtime keeps no ids of ours. */
  lookUp?(turn: TurnId): Promise<KnownInput>
  stop(turn: TurnId): Promise<StopOutcome>
  answer(approval: string, verdict: Verdict): void
  close(): Promise<QuiesceProof>
}

/**
 * Starts a session, or goes on with the one that `resume` names.
 *
 * @param closed told once by the lane when it is closed
 */
export type Begin<L extends Lane> = (
  spec: SessionSpec,
  resume: string | null,
  signal: AbortSignal,
  closed: (lane: L) => void,
) => Promise<{ readonly lane: L; readonly resumed: boolean } | Trouble | NotConfined>

/**
 * The sessions of one runtime in this process: opening one that is still here gives the same process, so that a session
 * never has two writers here. A session is found by its lane as well as by its id: the id is the agent's own word, and
 * one agent cannot take the place of another by saying the other's.
 */
export function createLanes<L extends Lane>(
  runtime: string,
  begin: Begin<L>,
): Required<Pick<HostedRuntime, 'open' | 'quiesce' | 'end'>> {
  const lanes = new Map<string, L>()
  const full = new Set<string>()
  const openings = new Set<Promise<Opening>>()
  const lastOpening = new Map<string, Promise<Opening>>()
  const ending = new AbortController()

  const openNow = async (spec: SessionSpec, resume: string | null, signal: AbortSignal): Promise<Opening> => {
    const key = resume === null ? '' : keyOf(spec.lane, resume)
    const here = resume === null ? undefined : lanes.get(key)
    // A session that every turn fails in is left; the next one begins with what the ledger knows.
    if (here?.full === true) full.add(key)
    else if (here?.warm === true) return { outcome: 'opened', session: new LaneSession('resumed', here) }
    // Its process is gone; what is left of it must not be found again.
    await here?.close()
    const goOn = resume === null || full.has(key) ? null : resume
    const closed = (lane: L): void => {
      const own = keyOf(spec.lane, lane.ref.id)
      if (lanes.get(own) === lane) lanes.delete(own)
    }
    const begun = await begin(spec, goOn, AbortSignal.any([signal, ending.signal]), closed)
    if ('notConfined' in begun) return { outcome: 'not-confined', detail: begun.notConfined }
    if ('because' in begun) return { outcome: 'unavailable', ...begun }
    const { lane, resumed } = begun
    lanes.set(keyOf(spec.lane, lane.ref.id), lane)
    return { outcome: 'opened', session: new LaneSession(resumed ? 'resumed' : 'new', lane) }
  }

  return {
    async open(spec, signal) {
      const resume = spec.resume?.runtime === runtime ? spec.resume.id : null
      // Two openings of one session wait for one another, so that the second one finds the process of the first.
      const key = resume === null ? null : keyOf(spec.lane, resume)
      const before = key === null ? undefined : lastOpening.get(key)
      const opening = Promise.resolve(before).then(() => openNow(spec, resume, signal))
      openings.add(opening)
      if (key !== null) lastOpening.set(key, opening)
      try {
        return await opening
      } finally {
        openings.delete(opening)
        if (key !== null && lastOpening.get(key) === opening) lastOpening.delete(key)
      }
    },
    async quiesce({ id }, lane) {
      const key = keyOf(lane, id)
      await lastOpening.get(key)?.catch(() => null)
      return (await lanes.get(key)?.close()) ?? { executor: 'gone' }
    },
    async end() {
      ending.abort()
      await Promise.allSettled(openings)
      const proofs = await Promise.all([...lanes.values()].map((lane) => lane.close()))
      return { executor: proofs.every(({ executor }) => executor === 'gone') ? 'gone' : 'unknown' }
    },
  }
}

const keyOf = (lane: string, id: string): string => JSON.stringify([lane, id])

/** A lane's session as one opening of it is seen. */
class LaneSession implements RuntimeSession {
  constructor(
    readonly opened: 'new' | 'resumed',
    private readonly lane: Lane,
  ) {}

  get ref(): SessionRef {
    return this.lane.ref
  }

  get effective(): EffectiveProfile {
    return this.lane.effective
  }

  turn(input: TurnInput, signal: AbortSignal): AsyncIterable<TurnEvent> {
    return this.lane.turn(input, signal)
  }

  async steer(turn: TurnId, input: TurnInput): Promise<'taken' | 'too-late' | 'unsupported'> {
    return (await this.lane.steer?.(turn, input)) ?? 'unsupported'
  }

  async lookUp(turn: TurnId): Promise<KnownInput> {
    return (await this.lane.lookUp?.(turn)) ?? { known: 'unknown' }
  }

  stop(turn: TurnId): Promise<StopOutcome> {
    return this.lane.stop(turn)
  }

  async answer(approval: string, verdict: Verdict): Promise<void> {
    this.lane.answer(approval, verdict)
  }

  close(): Promise<QuiesceProof> {
    return this.lane.close()
  }
}
