import type { TurnEnded, TurnEvent, TurnInput, Verdict } from '../../collab/ports.js'
import { operationOf } from '../acp/permission.js'
import { EventQueue, failed, interrupted } from '../event-queue.js'
import { troubleOf } from './failure.js'
import type { Result, Said, ToolUse } from './messages.js'
import type { ClaudeDeps } from './options.js'
import type { Listener } from './process.js'
import type { PermissionAnswer } from './sdk.js'
import { useOf } from '../use.js'
import { namedBy } from './use.js'

/** Bytes of one answer. */
const LONGEST_ANSWER = 4 * 1024 * 1024

/** Whatever the program says shows that it lives; told again at most so often, in ms. */
const SIGN_MS = 20_000

type Activity = Extract<TurnEvent, { kind: 'activity' }>['activity']

interface Pending {
  settle(answer: PermissionAnswer): void
  readonly input: Readonly<Record<string, unknown>>
}

/** What one turn has heard so far, and what the agent waits for. */
export class ClaudeTurn implements Listener {
  readonly events: EventQueue
  readonly #halting = new AbortController()
  readonly #pending = new Map<string, Pending>()
  /** Messages put into the running turn that the program has not yet taken up. */
  readonly #awaited = new Set<string>()
  readonly #uses = new Map<string, ToolUse>()
  /** What the agent has said since its last tool. */
  #words: string[] = []
  readonly #answers: string[] = []
  #bytes = 0
  #activity: Activity | null = null
  #shownAt = 0
  #started = false
  /** There may be commands that the agent left. */
  mayHaveLeft = false
  #fault: string | null = null
  #refused = false
  #over = false
  #conclude: (ended: TurnEnded) => void = () => {}
  /** How the turn ended by the program's own word. */
  readonly concluded: Promise<TurnEnded>
  /** How the turn must end, whatever the program still says; set once. */
  halted: TurnEnded | null = null

  constructor(
    readonly input: TurnInput,
    /** The id of the turn's message in the transcript. */
    readonly message: string,
    private readonly workspace: string,
    private readonly settings: ClaudeDeps,
    private readonly onInit: (said: Extract<Said, { kind: 'init' }>) => void,
  ) {
    this.events = new EventQueue(() => this.halt(interrupted))
    this.concluded = new Promise((resolve) => {
      this.#conclude = (ended) => {
        this.#over = true
        resolve(ended)
      }
    })
  }

  /** Aborts when the turn must end before the program has ended it. */
  get halting(): AbortSignal {
    return this.#halting.signal
  }

  /** True while something that was put in may still be taken up by a turn that nobody waits for. */
  get owesAnswer(): boolean {
    return this.#awaited.size > 0
  }

  halt(ended: TurnEnded): void {
    if (this.halted !== null || this.events.ended) return
    this.halted = ended
    this.#cancelPending()
    this.#halting.abort()
  }

  /**
   * A message is put into the running turn: the turn goes on until it was taken up and answered. False when the turn
   * is over already.
   */
  expect(message: string): boolean {
    if (this.halted !== null || this.#over) return false
    this.#awaited.add(message)
    return true
  }

  said(said: Said): void {
    if (said.kind === 'taken') this.#awaited.delete(said.message)
    if (said.kind === 'init') this.onInit(said)
    if (this.halted !== null) {
      if (said.kind === 'result') this.#conclude(this.halted)
      return
    }
    this.#alive()
    switch (said.kind) {
      case 'init':
        return this.#start()
      case 'taken':
        return said.message === this.message ? this.#start() : undefined
      case 'thinking':
      case 'answering':
      case 'tool':
        if (said.kind === 'tool') {
          this.mayHaveLeft ||= !said.quiet
          if (said.use !== undefined) this.#uses.set(said.use.id, said.use)
          // What was said before it was about the work, not the answer.
          this.#words = []
        }
        this.#start()
        return this.#show(said.kind)
      case 'text':
        this.#start()
        this.#show('answering')
        return this.#add(said.text)
      case 'retry': {
        this.#show('other')
        const trouble = troubleOf({ text: '', terminal: null, status: said.status }, said.error)
        // The first time the program may still renew its sign-in; after that no waiting mends it.
        if (trouble.because === 'signed-out' && said.attempt > 1) this.halt(failed(trouble.because, trouble.detail))
        return
      }
      case 'fault':
        this.#fault = said.error
        return
      case 'refused-by-policy':
        this.#start()
        this.events.push({
          kind: 'refused-by-host',
          by: 'policy',
          rule: said.because,
          tool: said.tool,
          operation: this.#operation(said.use),
        })
        return
      case 'result':
        this.#start()
        return this.#result(said.result)
      case 'other':
        return
    }
  }

  permission(tool: string, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<PermissionAnswer> {
    if (this.halted !== null || this.events.ended) return Promise.resolve(stopped)
    this.#start()
    const approval = this.settings.newId()
    return new Promise((resolve) => {
      this.#pending.set(approval, { settle: resolve, input })
      // The program takes its question back.
      signal.addEventListener('abort', () => this.#settle(approval, stopped), { once: true })
      const operation = operationOf({ toolCallId: approval, title: tool, rawInput: input })
      void useOf(namedBy(tool, input) ?? [], this.workspace).then((use) => {
        if (this.#pending.has(approval)) this.events.push({ kind: 'approval', approval, operation, use })
      })
    })
  }

  /** An approval that is not pending any more is left as it is. */
  answer(approval: string, verdict: Verdict): void {
    const pending = this.#pending.get(approval)
    if (pending === undefined) return
    this.#refused ||= verdict === 'reject-once'
    this.#settle(approval, verdict === 'allow-once' ? { behavior: 'allow', updatedInput: pending.input } : refused)
  }

  /** Ends the stream. What was still asked is cancelled: it can not be answered any more. */
  end(ended: TurnEnded): void {
    this.#cancelPending()
    this.events.push(ended)
  }

  /** What a tool was called with; null for a call that was not heard of whole. */
  #operation(use: string | null): string | null {
    const known = use === null ? undefined : this.#uses.get(use)
    if (known === undefined) return null
    return operationOf({ toolCallId: known.id, title: known.name, rawInput: known.input })
  }

  #result(result: Result): void {
    if (result.tokens !== null) {
      this.settings.logger.info('tokens of this claude turn', { turnId: this.input.turn, count: result.tokens })
    }
    if (result.isError) {
      // An error ends the turn; the program's own abort is nobody's failure.
      if (result.terminal?.startsWith('aborted') === true) return this.#conclude(interrupted)
      const { because, detail } = troubleOf(result, this.#fault)
      return this.#conclude(failed(because, detail))
    }
    this.#fault = null
    // The result repeats only the last block of an answer.
    const whole = this.#words.join('\n\n').trim()
    const answer = whole.endsWith(result.text.trim()) ? whole : result.text.trim()
    if (answer !== '') this.#answers.push(answer)
    this.#words = []
    if (this.#awaited.size > 0) return
    const final = this.#answers.join('\n\n')
    if (final !== '') return this.#conclude({ kind: 'ended', ended: 'completed', final, conclusion: null })
    if (this.#refused) return this.#conclude(interrupted)
    this.#conclude(
      failed('no-output', `the agent ended its turn without an answer (${result.terminal ?? 'no reason given'})`),
    )
  }

  #start(): void {
    if (this.#started) return
    this.#started = true
    this.events.push({ kind: 'started', hostTurn: this.message })
  }

  #show(activity: Activity): void {
    if (this.#activity === activity) return
    this.#activity = activity
    this.#tell(activity)
  }

  /** A long command or a long thought is no silence: the program gives a sign of it every half minute or more often. */
  #alive(): void {
    if (this.#activity === null || this.settings.clock.now() - this.#shownAt < SIGN_MS) return
    this.#tell(this.#activity)
  }

  #tell(activity: Activity): void {
    this.#shownAt = this.settings.clock.now()
    this.events.push({ kind: 'activity', activity })
  }

  #add(text: string): void {
    this.#words.push(text)
    this.#bytes += Buffer.byteLength(text)
    if (this.#bytes > LONGEST_ANSWER) this.halt(failed('too-large', 'the answer is over 4 MiB'))
  }

  #settle(approval: string, answer: PermissionAnswer): void {
    const pending = this.#pending.get(approval)
    this.#pending.delete(approval)
    pending?.settle(answer)
  }

  #cancelPending(): void {
    for (const approval of this.#pending.keys()) this.#settle(approval, stopped)
  }
}

const stopped: PermissionAnswer = { behavior: 'deny', message: 'the turn was stopped', interrupt: true }
const refused: PermissionAnswer = {
  behavior: 'deny',
  message: 'This operation was not permitted. Do not try it again or work around it; say what it would have done.',
}
