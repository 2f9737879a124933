import type {
  EffectiveProfile,
  KnownInput,
  QuiesceProof,
  SessionRef,
  StopOutcome,
  TurnEnded,
  TurnEvent,
  TurnInput,
  Verdict,
} from '../../collab/ports.js'
import type { TurnId } from '../../collab/refs.js'
import { errorLabel } from '../../lib/log.js'
import { filesOfAnswer } from '../answer-files.js'
import { failed, interrupted } from '../event-queue.js'
import { aborted, within } from '../wait.js'
import { connect, type Connected, type Place, troubleOf } from './connect.js'
import { becomeGone, descendantsOf } from './descendants.js'
import { inputOf } from './input.js'
import { lookUpInput } from './look-up.js'
import { DEFAULT_EFFORT, DEFAULT_MODEL, type CodexDeps } from './options.js'
import { type CodexPeer, RpcError } from './peer.js'
import { fields, text } from './read.js'
import { modeOf } from './profile.js'
import { refusalsIn } from './refusals.js'
import { writtenSince, writtenSoFar } from './rollout.js'
import { CodexTurn } from './turn.js'
import type { Trouble } from '../trouble.js'

/** One codex binary, as it was found and asked for its version. */
export interface Program {
  readonly file: string
  readonly version: string
}

/** One thread of codex. Its process may end and start again in between; its id stays. */
export class CodexLane {
  readonly ref: SessionRef
  #link: Connected
  #running: { readonly turn: CodexTurn; readonly done: Promise<void> } | null = null
  #proof: QuiesceProof = { executor: 'gone' }
  #idle: NodeJS.Timeout | undefined
  #closed = false
  #full = false

  constructor(
    link: Connected,
    private readonly program: Program,
    private readonly place: Place,
    private readonly deps: CodexDeps,
    private readonly onClosed: () => void,
  ) {
    this.#link = link
    this.ref = { runtime: 'codex', id: link.threadId }
    this.#rest()
  }

  /** True when the next turn can run in the process that is there. */
  get warm(): boolean {
    return !this.#closed && this.#link.peer.usable
  }

  /** What it remembers is more than the model reads, and could not be shortened: each turn in it would fail again. */
  get full(): boolean {
    return this.#full
  }

  get effective(): EffectiveProfile {
    const { model, effort, confinement, differs } = this.#link
    const inForce = { model, effort, confinement, ...(differs.length === 0 ? {} : { differs }) }
    return { runtime: 'codex', version: this.program.version, realModel: true, ...inForce }
  }

  turn(input: TurnInput, signal: AbortSignal): AsyncIterable<TurnEvent> {
    // Codex would take a second one for a word into the first, and both would end as one.
    if (this.#running !== null) throw new Error('a codex session runs one turn at a time')
    clearTimeout(this.#idle)
    const turn = new CodexTurn(input, this.ref.id, this.place.workspace, this.deps)
    const onAbort = (): void => turn.halt(interrupted)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    const done = this.#run(turn)
      .catch((error: unknown): TurnEnded => {
        this.deps.logger.error('a codex turn failed', { turnId: input.turn, error: errorLabel(error) })
        return failed('unavailable', 'the turn could not be run')
      })
      .then((ended) => {
        signal.removeEventListener('abort', onAbort)
        this.#running = null
        this.#rest()
        turn.end(ended)
      })
    this.#running = { turn, done }
    return turn.events
  }

  async #run(turn: CodexTurn): Promise<TurnEnded> {
    if (this.#closed) return failed('exited', 'the session was closed; open it again')
    const trouble = await this.#warmUp(turn.halting)
    if (turn.halted !== null) return turn.halted
    if (trouble !== null) return failed(trouble.because, trouble.detail)
    const input = await inputOf(turn.input)
    const written = await writtenSoFar(this.#link.path)
    if (turn.halted !== null) return turn.halted
    const { peer } = this.#link
    const stopListening = peer.listen(turn)
    peer.prompted()
    try {
      let outcome = await this.#attempt(peer, turn, 'turn/start', this.#turnParams(turn, input))
      if (isFull(outcome) && (await this.#compact(peer, turn))) {
        turn.renew()
        outcome = await this.#attempt(peer, turn, 'turn/start', this.#turnParams(turn, input))
      }
      this.#full = isFull(outcome)
      if (outcome === null || turn.halted !== null) return turn.halted ?? interrupted
      if (!('ended' in outcome)) return failed(outcome.because, outcome.detail)
      const left = turn.running
      await this.#endCommands(peer, turn)
      for (const command of left) turn.events.push({ kind: 'ended-with-turn', tool: 'exec_command', command })
      const lines = await writtenSince(this.#link.path, written)
      for (const refusal of refusalsIn(lines, turn.items, modeOf(this.place.profile, this.deps))) {
        turn.events.push({ kind: 'refused-by-host', ...refusal })
      }
      if (outcome.ended === 'completed') {
        for (const file of await filesOfAnswer(outcome.final, this.place.workspace)) turn.events.push(file)
      }
      return turn.halted ?? outcome
    } finally {
      stopListening()
      const { usage } = turn
      if (usage !== null) {
        const tokens = usage.input + usage.output
        this.deps.logger.info('tokens of this codex thread so far', { turnId: turn.input.turn, count: tokens })
      }
    }
  }

  /** Lets codex shorten what the thread remembers, which is a turn of its own there. False: it could not. */
  async #compact(peer: CodexPeer, turn: CodexTurn): Promise<boolean> {
    this.deps.logger.info('a codex thread is full and is shortened', { turnId: turn.input.turn })
    turn.renew()
    await this.#attempt(peer, turn, 'thread/compact/start', { threadId: this.ref.id })
    return turn.compacted && turn.halted === null
  }

  #turnParams(turn: CodexTurn, input: readonly unknown[]): Readonly<Record<string, unknown>> {
    return {
      threadId: this.ref.id,
      clientUserMessageId: turn.input.turn,
      input,
      model: this.deps.model || DEFAULT_MODEL,
      effort: this.deps.effort || DEFAULT_EFFORT,
    }
  }

  /** Begins something in codex and waits for its end. Null: it was halted, and is interrupted by now. */
  async #attempt(
    peer: CodexPeer,
    turn: CodexTurn,
    method: string,
    params: unknown,
  ): Promise<TurnEnded | Trouble | null> {
    const refused = this.#begin(peer, turn, method, params)
    const outcome = await Promise.race([turn.completed, refused, peer.ended, aborted(turn.halting)])
    if (outcome !== undefined && turn.halted === null) return outcome
    await this.#interrupt(peer, turn, refused)
    return null
  }

  /** Resolves only when codex refuses; the name of what began, and its end, are heard by the turn. */
  #begin(peer: CodexPeer, turn: CodexTurn, method: string, params: unknown): Promise<Trouble> {
    return new Promise((resolve) => {
      peer.request(method, params).then(
        (response) => {
          const id = text(fields(fields(response)['turn'])['id'])
          if (id !== null) turn.begin(id)
        },
        (error: unknown) => void troubleOf(error, peer, this.deps).then(resolve),
      )
    })
  }

  /** Ends the turn in codex and every command of it; codex that does not do so in time is ended itself. */
  async #interrupt(peer: CodexPeer, turn: CodexTurn, refused: Promise<Trouble>): Promise<void> {
    let commands: readonly number[] = []
    const quiet = async (): Promise<void> => {
      await Promise.race([turn.named, refused])
      // Before anything of them ends: what loses its parent is not found below codex any more.
      commands = await descendantsOf(peer.pid ?? 0)
      if (turn.hostTurn === null) return
      try {
        await peer.request('turn/interrupt', { threadId: this.ref.id, turnId: turn.hostTurn })
      } catch (error) {
        // It has just ended by itself.
        if (!(error instanceof RpcError)) throw error
      }
      await turn.completed
    }
    const gone = peer.ended.then(() => 'gone' as const)
    const ended = await within(
      this.deps.interruptMs,
      Promise.race([quiet(), gone]).catch(() => 'gone' as const),
      'late',
    )
    if (ended !== undefined) this.#proof = await peer.end()
    else await this.#endCommands(peer, turn, commands)
  }

  /**
   * Nothing of a turn outlives it: an interrupt ends the turn and not its commands, and a command may be left to run
   * on purpose. Helpers that codex started have threads of their own, which only the end of the process ends for sure.
   */
  async #endCommands(peer: CodexPeer, turn: CodexTurn, known: readonly number[] = []): Promise<void> {
    if (turn.hasHelpers) {
      this.#proof = await peer.end()
      return
    }
    if (turn.halted === null && turn.openCommands === 0) return
    const standing = new Set(this.#link.standing)
    const below = await descendantsOf(peer.pid ?? 0)
    const commands = [...known, ...below].filter((pid) => !standing.has(pid))
    const clean = async (): Promise<boolean> => {
      await peer.request('thread/backgroundTerminals/clean', { threadId: this.ref.id })
      await turn.commandsEnded()
      // Codex says that a command has ended when it has told it to.
      return becomeGone(commands, this.deps.interruptMs)
    }
    const cleaned = await within(
      this.deps.interruptMs,
      clean().catch(() => false),
      false,
    )
    if (!cleaned) this.#proof = await peer.end()
  }

  /** Starts the process again when it is gone; the thread must be the same one, or the turn does not run. */
  async #warmUp(signal: AbortSignal): Promise<Trouble | null> {
    if (this.#link.peer.usable) return null
    this.#proof = await this.#link.peer.end()
    const link = await connect(this.program.file, this.place, this.ref.id, signal, this.deps)
    if ('because' in link) return link
    if (link.resumed) {
      this.#link = link
      return null
    }
    await link.peer.end()
    return { because: 'exited', detail: 'codex ended and no longer has this thread; open a new session' }
  }

  async steer(turn: TurnId, input: TurnInput): Promise<'taken' | 'too-late'> {
    const running = this.#running
    if (running?.turn.input.turn !== turn) return 'too-late'
    await Promise.race([running.turn.named, running.done])
    const { hostTurn, halted, events } = running.turn
    if (hostTurn === null || halted !== null || events.ended) return 'too-late'
    try {
      await this.#link.peer.request('turn/steer', {
        threadId: this.ref.id,
        expectedTurnId: hostTurn,
        clientUserMessageId: input.turn,
        input: await inputOf(input),
      })
      return 'taken'
    } catch {
      // Refused, because that turn is over; or codex ended, and the turn with it.
      return 'too-late'
    }
  }

  async lookUp(turn: TurnId): Promise<KnownInput> {
    if (this.#running !== null || !this.warm) return { known: 'unknown' }
    try {
      return await lookUpInput(this.#link.peer, this.ref.id, turn, this.place.workspace)
    } catch (error) {
      this.deps.logger.warn('codex could not be asked what it has', { turnId: turn, error: errorLabel(error) })
      return { known: 'unknown' }
    }
  }

  async stop(turn: TurnId): Promise<StopOutcome> {
    const running = this.#running
    if (running?.turn.input.turn !== turn) return 'already-ended'
    this.#proof = { executor: 'gone' }
    running.turn.halt(interrupted)
    await running.done
    return this.#proof.executor === 'gone' ? 'stopped' : 'unknown'
  }

  answer(approval: string, verdict: Verdict): void {
    this.#running?.turn.answer(approval, verdict)
  }

  async close(): Promise<QuiesceProof> {
    this.#closed = true
    clearTimeout(this.#idle)
    const running = this.#running
    running?.turn.halt(interrupted)
    await running?.done
    clearTimeout(this.#idle)
    this.onClosed()
    return this.#link.peer.end()
  }

  /** Between turns the process is kept for a while; after that an idle session holds none. */
  #rest(): void {
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => void this.#link.peer.end(), this.deps.idleMs)
    this.#idle.unref()
  }
}

function isFull(outcome: TurnEnded | Trouble | null): boolean {
  return outcome !== null && 'because' in outcome && outcome.because === 'context-full'
}
