import { pathToFileURL } from 'node:url'
import type { ContentBlock } from '@agentclientprotocol/sdk'
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
import { confinementOf } from '../confine/confinement.js'
import { failed, interrupted } from '../event-queue.js'
import { readOwn } from '../own-file.js'
import { aborted, within } from '../wait.js'
import type { FoundCommand } from './command-line.js'
import { connect, type Connected, type Place, troubleOf } from './connect.js'
import type { AcpSettings } from './options.js'
import { AcpTurn } from './turn.js'
import type { Trouble } from '../trouble.js'

/** Bytes of a picture that is shown to the model itself and not only linked. */
const LARGEST_SHOWN = 5 * 1024 * 1024

/** One session of one agent. Its process may end and start again in between; its id stays. */
export class AcpLane {
  readonly ref: SessionRef
  #link: Connected
  #running: { readonly turn: AcpTurn; readonly done: Promise<void> } | null = null
  #proof: QuiesceProof = { executor: 'gone' }
  #idle: NodeJS.Timeout | undefined
  #turns = 0
  #closed = false

  constructor(
    link: Connected,
    private readonly command: Extract<FoundCommand, { found: true }>,
    private readonly place: Place,
    private readonly settings: AcpSettings,
    private readonly onClosed: () => void,
  ) {
    this.#link = link
    this.ref = { runtime: 'acp', id: link.sessionId }
    this.#rest()
  }

  /** True when the next turn can run in the process that is there, with everything it remembers. */
  get warm(): boolean {
    return !this.#closed && this.#link.peer.usable
  }

  get closed(): boolean {
    return this.#closed
  }

  get processId(): number | undefined {
    return this.#link.peer.pid
  }

  get effective(): EffectiveProfile {
    const { peer, model } = this.#link
    const confinement = confinementOf(this.place.profile)
    return { runtime: 'acp', version: peer.version, model, effort: null, realModel: true, confinement }
  }

  turn(input: TurnInput, signal: AbortSignal): AsyncIterable<TurnEvent> {
    if (this.#running !== null) throw new Error('an ACP session runs one turn at a time')
    clearTimeout(this.#idle)
    this.#turns++
    const turn = new AcpTurn(input, this.place.workspace, `${this.ref.id}:${this.#turns}`, this.settings)
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
        this.#rest()
        turn.end(ended)
      })
    this.#running = { turn, done }
    return turn.events
  }

  async #run(turn: AcpTurn): Promise<TurnEnded> {
    if (this.#closed) return failed('exited', 'the session was closed; open it again')
    const trouble = await this.#warmUp(turn.halting)
    if (turn.halted !== null) return turn.halted
    if (trouble !== null) return failed(trouble.because, trouble.detail)
    const { peer, sessionId } = this.#link
    const prompt = await this.#prompt(turn.input)
    if (turn.halted !== null) return turn.halted
    const stopListening = peer.listen(sessionId, turn)
    const answered = peer.prompt(sessionId, prompt).then(
      (stopReason) => ({ stopReason }),
      (error: unknown) => troubleOf(error, peer, this.settings),
    )
    try {
      const outcome = await Promise.race([answered, peer.ended, aborted(turn.halting)])
      if (outcome !== undefined && turn.halted === null) {
        return 'stopReason' in outcome
          ? await turn.conclude(outcome.stopReason)
          : failed(outcome.because, outcome.detail)
      }
      await peer.cancel(sessionId)
      const quiet = await within(this.settings.cancelMs, Promise.race([answered, peer.ended]), 'late' as const)
      // An agent that does not end its turn is ended itself, with everything it started.
      if (quiet === 'late') this.#proof = await peer.end()
      return turn.halted ?? interrupted
    } finally {
      stopListening()
    }
  }

  /** Starts the process again when it is gone; the session must be the same one, or the turn does not run. */
  async #warmUp(signal: AbortSignal): Promise<Trouble | null> {
    if (this.#link.peer.usable) return null
    this.#proof = await this.#link.peer.end()
    const link = await connect(this.command, this.place, this.ref.id, signal, this.settings)
    if ('because' in link) return link
    if (link.resumed) {
      this.#link = link
      return null
    }
    await link.peer.end()
    return { because: 'exited', detail: 'the agent ended and cannot continue this session; open a new one' }
  }

  async #prompt(input: TurnInput): Promise<ContentBlock[]> {
    const blocks: ContentBlock[] = [{ type: 'text', text: input.text }]
    const shows = this.#link.peer.capabilities.promptCapabilities?.image === true
    for (const { path, fileName, mediaType } of input.attachments) {
      blocks.push({ type: 'resource_link', uri: pathToFileURL(path).href, name: fileName, mimeType: mediaType })
      if (!shows || !/^image\/(?:png|jpeg|gif|webp)$/u.test(mediaType)) continue
      const picture = await readOwn(path, this.place.workspace, LARGEST_SHOWN)
      if (picture !== null) blocks.push({ type: 'image', mimeType: mediaType, data: picture.toString('base64') })
    }
    return blocks
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

  /** Between turns the process is kept for a while. */
  #rest(): void {
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => void this.#link.peer.end(), this.settings.idleMs)
    this.#idle.unref()
  }
}
