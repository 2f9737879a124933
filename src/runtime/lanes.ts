import type {
  EffectiveProfile,
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
import type { Trouble } from './trouble.js'

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
) => Promise<{ readonly lane: L; readonly resumed: boolean } | Trouble>

/**
 * The sessions of one runtime in this process: opening one that is still here gives the same process, so that a session
 * never has two writers here.
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
  const closed = (lane: L): void => {
    if (lanes.get(lane.ref.id) === lane) lanes.delete(lane.ref.id)
  }

  const openNow = async (spec: SessionSpec, resume: string | null, signal: AbortSignal): Promise<Opening> => {
    const here = resume === null ? undefined : lanes.get(resume)
    // A session that every turn fails in is left; the next one begins with what the ledger knows.
    if (here?.full === true) full.add(here.ref.id)
    else if (here?.warm === true) return { outcome: 'opened', session: new LaneSession('resumed', here) }
    // Its process is gone; what is left of it must not be found again.
    await here?.close()
    const goOn = resume === null || full.has(resume) ? null : resume
    const begun = await begin(spec, goOn, AbortSignal.any([signal, ending.signal]), closed)
    if ('because' in begun) return { outcome: 'unavailable', ...begun }
    const { lane, resumed } = begun
    lanes.set(lane.ref.id, lane)
    return { outcome: 'opened', session: new LaneSession(resumed ? 'resumed' : 'new', lane) }
  }

  return {
    async open(spec, signal) {
      const resume = spec.resume?.runtime === runtime ? spec.resume.id : null
      // Two openings of one session wait for one another, so that the second one finds the process of the first.
      const before = resume === null ? undefined : lastOpening.get(resume)
      const opening = Promise.resolve(before).then(() => openNow(spec, resume, signal))
      openings.add(opening)
      if (resume !== null) lastOpening.set(resume, opening)
      try {
        return await opening
      } finally {
        openings.delete(opening)
        if (resume !== null && lastOpening.get(resume) === opening) lastOpening.delete(resume)
      }
    },
    async quiesce({ id }) {
      await lastOpening.get(id)?.catch(() => null)
      return (await lanes.get(id)?.close()) ?? { executor: 'gone' }
    },
    async end() {
      ending.abort()
      await Promise.allSettled(openings)
      const proofs = await Promise.all([...lanes.values()].map((lane) => lane.close()))
      return { executor: proofs.every(({ executor }) => executor === 'gone') ? 'gone' : 'unknown' }
    },
  }
}

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
