import type {
  EffectiveProfile,
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
import { confinementOf } from '../confine/confinement.js'
import { failed, interrupted } from '../event-queue.js'
import { readableOperation } from '../operation.js'
import { aborted, within } from '../wait.js'
import { connect, type Connected, type Place } from './connect.js'
import { messageIdOf, userMessage } from './input.js'
import type { Said } from './messages.js'
import type { ClaudeDeps } from './options.js'
import type { ClaudeSdk } from './sdk.js'
import { ClaudeTurn } from './turn.js'
import type { Trouble } from '../trouble.js'

/** One session. Its process may end and start again in between; its id stays. */
export class ClaudeLane {
  readonly ref: SessionRef
  #link: Connected
  #running: { readonly turn: ClaudeTurn; readonly done: Promise<void> } | null = null
  #proof: QuiesceProof = { executor: 'gone' }
  #idle: NodeJS.Timeout | undefined
  #closed = false
  /** The model takes no more of this session. */
  full = false
  #model: string | null
  #version: string | null = null
  #effort: string | null = null
  #ended = new WeakMap<Connected, Promise<QuiesceProof>>()

  constructor(
    link: Connected,
    private readonly sdk: ClaudeSdk,
    private readonly place: Place,
    private readonly settings: ClaudeDeps,
    private readonly onClosed: () => void,
  ) {
    this.#link = link
    this.#model = settings.model === '' ? null : settings.model
    this.ref = { runtime: 'claude', id: link.sessionId }
    this.#watch(link)
    this.#rest()
  }

  /** True when the next turn can run in the process that is there. */
  get warm(): boolean {
    return !this.#closed && this.#link.process.usable
  }

  get effective(): EffectiveProfile {
    return {
      runtime: 'claude',
      version: this.#version,
      model: this.#model,
      effort: this.#effort,
      realModel: true,
      confinement: confinementOf(this.place.profile),
    }
  }

  turn(input: TurnInput, signal: AbortSignal): AsyncIterable<TurnEvent> {
    if (this.#running !== null) throw new Error('a Claude session runs one turn at a time')
    clearTimeout(this.#idle)
    const turn = new ClaudeTurn(input, messageIdOf(input.turn), this.place.workspace, this.settings, (said) =>
      this.#learn(said),
    )
    const onAbort = (): void => turn.halt(interrupted)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    const done = this.#run(turn)
      .catch((error: unknown): TurnEnded => {
        this.settings.logger.error('an agent turn failed', { turnId: input.turn, error: errorLabel(error) })
        return failed('unavailable', 'the turn could not be run')
      })
      .then((ended) => {
        signal.removeEventListener('abort', onAbort)
        this.#running = null
        this.full ||= ended.ended === 'failed' && ended.because === 'context-full'
        this.#rest()
        turn.end(ended)
      })
    this.#running = { turn, done }
    return turn.events
  }

  async #run(turn: ClaudeTurn): Promise<TurnEnded> {
    if (this.#closed) return failed('exited', 'the session was closed; open it again')
    if (turn.halted !== null) return turn.halted
    const trouble = await this.#warmUp(turn.halting)
    if (turn.halted !== null) return turn.halted
    if (trouble !== null) return failed(trouble.because, trouble.detail)
    const link = this.#link
    const message = await userMessage(turn.input, turn.message, link.sessionId, this.place.workspace)
    if (turn.halted !== null) return turn.halted
    const stopListening = link.process.listen(turn)
    link.process.send(message)
    try {
      const outcome = await Promise.race([turn.concluded, link.process.ended, aborted(turn.halting)])
      if (outcome !== undefined && turn.halted === null) {
        if (!('kind' in outcome)) return failed(outcome.because, outcome.detail)
        if (turn.mayHaveLeft) await this.#endCommands(turn, link)
        return await this.#withFiles(turn, outcome)
      }
      const quiet = within(this.settings.cancelMs, Promise.race([turn.concluded, link.process.ended]), 'late' as const)
      void link.process.interrupt()
      // What does not end its turn is ended itself, with everything it started; so is what could begin another one.
      const late = (await quiet) === 'late' || turn.owesAnswer
      if (late || (turn.mayHaveLeft && !(await link.process.endCommands()).gone)) this.#proof = await this.#end(link)
      return turn.halted ?? interrupted
    } finally {
      stopListening()
    }
  }

  /** Nothing of a turn outlives it, and what was ended is named. */
  async #endCommands(turn: ClaudeTurn, link: Connected): Promise<void> {
    const { commands } = await link.process.endCommands()
    for (const command of commands) {
      turn.events.push({ kind: 'ended-with-turn', tool: 'Bash', command: readableOperation([command]) })
    }
  }

  /** The files that an answer names come before its end. */
  async #withFiles(turn: ClaudeTurn, ended: TurnEnded): Promise<TurnEnded> {
    if (ended.ended !== 'completed') return ended
    for (const event of await filesOfAnswer(ended.final, this.place.workspace)) turn.events.push(event)
    return turn.halted ?? ended
  }

  /** Starts the process again when it is gone; the session must be the same one, or the turn does not run. */
  async #warmUp(signal: AbortSignal): Promise<Trouble | null> {
    if (this.#link.process.usable) return null
    this.#proof = await this.#end(this.#link)
    if (this.#proof.executor !== 'gone') {
      return { because: 'unavailable', detail: 'what the last turn left running could not be ended' }
    }
    const link = await connect(this.sdk, this.place, this.ref.id, signal, this.settings)
    if ('because' in link) return link
    this.#watch(link)
    if (link.resumed) {
      this.#link = link
      return null
    }
    await this.#end(link)
    return { because: 'exited', detail: 'the agent ended before it had written down this session; open a new one' }
  }

  async steer(turn: TurnId, input: TurnInput): Promise<'taken' | 'too-late'> {
    const running = this.#running?.turn
    const link = this.#link
    const message = await userMessage(input, messageIdOf(input.turn), link.sessionId, this.place.workspace)
    const open = running !== undefined && running === this.#running?.turn && running.input.turn === turn
    if (!open || !link.process.usable) return 'too-late'
    if (!running.expect(message.uuid)) return 'too-late'
    link.process.send(message)
    return 'taken'
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
    return this.#end(this.#link)
  }

  #learn(said: Extract<Said, { kind: 'init' }>): void {
    this.#model = said.model ?? this.#model
    this.#effort = said.effort
    const { model } = this.settings
    // A short name such as `opus` stands in the whole one.
    if (model !== '' && said.model !== null && !said.model.includes(model)) {
      this.settings.logger.warn('an agent runs on another model than was set', { reason: said.model.slice(0, 60) })
    }
    this.#version = said.version === null ? this.#version : `claude ${said.version}`.slice(0, 120)
    if (said.toolsReached === false) this.settings.logger.warn('an agent cannot reach its tools', {})
  }

  /** Whenever a process ends, for whatever reason, its right to write is given back. */
  #watch(link: Connected): void {
    void link.process.ended.then(() => this.#end(link))
  }

  #end(link: Connected): Promise<QuiesceProof> {
    const known = this.#ended.get(link)
    if (known !== undefined) return known
    const ending = link.process.end().then(async (proof) => {
      // While something of it may still write, nobody else may.
      if (proof.executor === 'gone') await link.lock.release()
      return proof
    })
    this.#ended.set(link, ending)
    return ending
  }

  /** Between turns the process is kept for a while. */
  #rest(): void {
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => void this.#end(this.#link), this.settings.idleMs)
    this.#idle.unref()
  }
}
