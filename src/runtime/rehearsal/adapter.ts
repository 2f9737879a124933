import type { SessionProfile } from '../../collab/audience.js'
import type {
  EffectiveProfile,
  Opening,
  KnownInput,
  QuiesceProof,
  RuntimeAbility,
  RuntimeSession,
  SessionRef,
  SessionSpec,
  StopOutcome,
  TurnEnded,
  TurnEvent,
  TurnInput,
  Verdict,
} from '../../collab/ports.js'
import type { TurnId } from '../../collab/refs.js'
import { errorLabel, type Logger } from '../../lib/log.js'
import type { HostedRuntime } from '../hosted.js'
import { EventQueue, failed } from '../event-queue.js'
import { perform } from './perform.js'
import { TurnCount } from './turn-count.js'

export interface RehearsalOptions {
  readonly logger: Logger
  readonly newId: () => string
}

/**
 * The built-in runtime without a model. It follows written directives (`directives.ts`) and nothing else, so that
 * every path of the gateway can be tried and tested; `effective.realModel` is false, and the exchange labels its answers.
 * It runs no commands and opens nobody's files, so every profile holds as it is and nothing has to confine it.
 */
export function createRehearsalRuntime(options: RehearsalOptions): HostedRuntime {
  const running = new Set<RehearsalSession>()
  // 'fence' holds because a rehearsal has no executor that could outlive `close`.
  const abilities: ReadonlySet<RuntimeAbility> = new Set(['resume', 'activity', 'fence'])
  return {
    name: 'rehearsal',
    abilities,
    available: async () => ({ available: true }),
    confines: async () => true,
    open: (spec) => open(spec, options, running),
    end: async () => {
      await Promise.all([...running].map((session) => session.close()))
      return { executor: 'gone' }
    },
  }
}

async function open(spec: SessionSpec, options: RehearsalOptions, running: Set<RehearsalSession>): Promise<Opening> {
  const known = spec.resume?.runtime === 'rehearsal' ? spec.resume.id : null
  try {
    const turns = known === null ? null : await new TurnCount(spec.workspace, known).read()
    if (known !== null && turns !== null) {
      return {
        outcome: 'opened',
        session: new RehearsalSession(known, 'resumed', turns, spec.workspace, spec.profile, options, running),
      }
    }
    const id = options.newId()
    await new TurnCount(spec.workspace, id).write(0)
    return {
      outcome: 'opened',
      session: new RehearsalSession(id, 'new', 0, spec.workspace, spec.profile, options, running),
    }
  } catch (error) {
    options.logger.warn('a rehearsal session could not be opened', { error: errorLabel(error) })
    return { outcome: 'unavailable', because: 'unavailable', detail: 'the workspace cannot be written' }
  }
}

const NOTHING = { reads: 'nothing', writes: 'nothing', network: 'none', by: 'runtime' } as const

interface RunningTurn {
  readonly turn: TurnId
  readonly stopping: AbortController
  readonly done: Promise<void>
}

class RehearsalSession implements RuntimeSession {
  readonly ref: SessionRef
  readonly effective: EffectiveProfile
  readonly #pending = new Map<string, (verdict: Verdict) => void>()
  #running: RunningTurn | null = null
  #turns: number

  constructor(
    id: string,
    readonly opened: 'new' | 'resumed',
    turns: number,
    private readonly workspace: string,
    profile: SessionProfile,
    private readonly options: RehearsalOptions,
    /** The sessions that have a turn now. */
    private readonly inTurn: Set<RehearsalSession>,
  ) {
    this.ref = { runtime: 'rehearsal', id }
    const confinement = { profile: profile.kind, paths: [], ...NOTHING } as const
    this.effective = { runtime: 'rehearsal', version: null, model: null, effort: null, realModel: false, confinement }
    this.#turns = turns
  }

  turn(input: TurnInput, signal: AbortSignal): AsyncIterable<TurnEvent> {
    if (this.#running !== null) throw new Error('a rehearsal session runs one turn at a time')
    const stopping = new AbortController()
    const onAbort = (): void => stopping.abort()
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) stopping.abort()
    const events = new EventQueue(() => stopping.abort())
    const done = this.#run(input, stopping.signal, events).then((ended) => {
      signal.removeEventListener('abort', onAbort)
      this.#running = null
      this.inTurn.delete(this)
      // Last, so that whoever reads it can start the next turn at once.
      events.push(ended)
    })
    this.#running = { turn: input.turn, stopping, done }
    this.inTurn.add(this)
    return events
  }

  async #run(input: TurnInput, signal: AbortSignal, events: EventQueue): Promise<TurnEnded> {
    try {
      this.#turns += 1
      await new TurnCount(this.workspace, this.ref.id).write(this.#turns)
      events.push({ kind: 'started', hostTurn: `${this.ref.id}:${this.#turns}` })
      return await perform(input, {
        turnNumber: this.#turns,
        signal,
        report: (event) => void events.push(event),
        ask: (operation) => this.#ask(operation, signal, events),
      })
    } catch (error) {
      this.options.logger.error('a rehearsed turn failed', { turnId: input.turn, error: errorLabel(error) })
      return failed('unavailable', 'the workspace cannot be written')
    }
  }

  #ask(operation: string, signal: AbortSignal, events: EventQueue): Promise<Verdict | null> {
    const approval = this.options.newId()
    return new Promise((resolve) => {
      const settle = (verdict: Verdict | null): void => {
        this.#pending.delete(approval)
        signal.removeEventListener('abort', onAbort)
        resolve(verdict)
      }
      const onAbort = (): void => settle(null)
      if (signal.aborted) return resolve(null)
      signal.addEventListener('abort', onAbort, { once: true })
      this.#pending.set(approval, settle)
      events.push({ kind: 'approval', approval, operation, use: null })
    })
  }

  async lookUp(): Promise<KnownInput> {
    return { known: 'unknown' }
  }

  async steer(): Promise<'unsupported'> {
    return 'unsupported'
  }

  async stop(turn: TurnId): Promise<StopOutcome> {
    if (this.#running?.turn !== turn) return 'already-ended'
    const { stopping, done } = this.#running
    stopping.abort()
    await done
    return 'stopped'
  }

  /** An approval that is not pending (answered, or its turn is over) is left as it is. */
  async answer(approval: string, verdict: Verdict): Promise<void> {
    this.#pending.get(approval)?.(verdict)
  }

  async close(): Promise<QuiesceProof> {
    const running = this.#running
    running?.stopping.abort()
    await running?.done
    return { executor: 'gone' }
  }
}
