import type { RequestPermissionOutcome, RequestPermissionRequest } from '@agentclientprotocol/sdk'
import type { TurnEnded, TurnEvent, TurnInput, Verdict } from '../../collab/ports.js'
import { EventQueue, failed, interrupted } from '../event-queue.js'
import { nameOffered, offeredFile } from './offered-files.js'
import type { AcpSettings } from './options.js'
import type { Listener } from './peer.js'
import { operationOf, outcomeOf } from './permission.js'
import type { Update } from './updates.js'
import { useOf } from '../use.js'
import { namedBy } from './use.js'

/** Bytes of one answer. */
const LONGEST_ANSWER = 4 * 1024 * 1024
const MOST_FILES = 20
/** Bytes of all files of one answer; they wait in memory until they are stored. */
const MOST_FILE_BYTES = 100 * 1000 * 1000

type Activity = Extract<TurnEvent, { kind: 'activity' }>['activity']

/** What one turn has heard so far, and what the agent waits for. */
export class AcpTurn implements Listener {
  readonly events: EventQueue
  readonly #halting = new AbortController()
  readonly #pending = new Map<string, (outcome: RequestPermissionOutcome) => void>()
  readonly #options = new Map<string, RequestPermissionRequest['options']>()
  readonly #text: string[] = []
  #bytes = 0
  #toolSinceText = false
  #activity: Activity | null = null
  #started = false
  #files: Promise<void> = Promise.resolve()
  #fileCount = 0
  #fileBytes = 0
  #refused = false
  /** How the turn must end, whatever the agent still says; set once. */
  halted: TurnEnded | null = null

  constructor(
    readonly input: TurnInput,
    private readonly workspace: string,
    private readonly hostTurn: string,
    private readonly settings: AcpSettings,
  ) {
    this.events = new EventQueue(() => this.halt(interrupted))
  }

  /** Aborts when the turn must end before the agent has ended it. */
  get halting(): AbortSignal {
    return this.#halting.signal
  }

  halt(ended: TurnEnded): void {
    if (this.halted !== null || this.events.ended) return
    this.halted = ended
    this.#cancelPending()
    this.#halting.abort()
  }

  update(update: Update): void {
    if (this.halted !== null) return
    this.#start()
    switch (update.kind) {
      case 'thinking':
        return this.#show('thinking')
      case 'tool':
        this.#toolSinceText = true
        return this.#show('tool')
      case 'text':
        this.#show('answering')
        return this.#add(update.text)
      case 'block':
        this.#files = this.#files.then(() => this.#offer(update.block))
        return
      case 'other':
        return
    }
  }

  permission(request: RequestPermissionRequest): Promise<RequestPermissionOutcome> {
    if (this.halted !== null || this.events.ended) return Promise.resolve({ outcome: 'cancelled' })
    this.#start()
    const approval = this.settings.newId()
    return new Promise((resolve) => {
      this.#pending.set(approval, resolve)
      this.#options.set(approval, request.options)
      const operation = operationOf(request.toolCall)
      void useOf(namedBy(request.toolCall) ?? [], this.workspace).then((use) => {
        if (this.#pending.has(approval)) this.events.push({ kind: 'approval', approval, operation, use })
      })
    })
  }

  /** An approval that is not pending any more is left as it is. */
  answer(approval: string, verdict: Verdict): void {
    const settle = this.#pending.get(approval)
    if (settle === undefined) return
    this.#pending.delete(approval)
    this.#refused ||= verdict === 'reject-once'
    settle(outcomeOf(verdict, this.#options.get(approval) ?? []))
  }

  /** The agent says that the turn is over. Its reason decides nothing by itself: agents differ in what they give. */
  async conclude(stopReason: string): Promise<TurnEnded> {
    this.#start()
    await this.#files
    if (this.halted !== null) return this.halted
    if (stopReason !== 'end_turn') {
      this.settings.logger.info('an agent ended its turn early', { turnId: this.input.turn, reason: stopReason })
    }
    const final = this.#text.join('').trim()
    if (final !== '') return { kind: 'ended', ended: 'completed', final, conclusion: null }
    // After a refused approval some agents end the turn without a word; that is no failure of theirs.
    if (stopReason === 'cancelled' && this.#refused) return interrupted
    return failed('no-output', `the agent ended its turn without an answer (${stopReason})`)
  }

  /** Ends the stream. What was still asked is cancelled: it can not be answered any more. */
  end(ended: TurnEnded): void {
    this.#cancelPending()
    this.events.push(ended)
  }

  #start(): void {
    if (this.#started) return
    this.#started = true
    this.events.push({ kind: 'started', hostTurn: this.hostTurn })
  }

  #show(activity: Activity): void {
    if (this.#activity === activity) return
    this.#activity = activity
    this.events.push({ kind: 'activity', activity })
  }

  #add(text: string): void {
    if (text === '') return
    // Words before and after a tool call are messages of their own.
    if (this.#toolSinceText && this.#text.length > 0 && !/\s$/u.test(this.#text.at(-1) ?? '')) this.#text.push('\n\n')
    this.#toolSinceText = false
    this.#text.push(text)
    this.#bytes += Buffer.byteLength(text)
    if (this.#bytes > LONGEST_ANSWER) this.halt(failed('too-large', 'the answer is over 4 MiB'))
  }

  async #offer(block: Readonly<Record<string, unknown>>): Promise<void> {
    if (this.halted !== null) return
    const full = this.#fileCount >= MOST_FILES || this.#fileBytes >= MOST_FILE_BYTES
    const file = full ? ({ offered: false, because: 'too-many' } as const) : await offeredFile(block, this.workspace)
    if (file.offered) {
      this.#fileCount++
      this.#fileBytes += file.event.bytes.byteLength
      this.events.push(file.event)
    } else {
      this.settings.logger.warn('a file of an answer was left out', { turnId: this.input.turn, reason: file.because })
      // A link to somewhere else, and what is no file at all, nobody meant to give.
      if (file.because === 'not-a-file') return
      this.events.push({ kind: 'file-left-out', fileName: nameOffered(block), because: file.because })
    }
  }

  #cancelPending(): void {
    for (const settle of this.#pending.values()) settle({ outcome: 'cancelled' })
    this.#pending.clear()
    this.#options.clear()
  }
}
