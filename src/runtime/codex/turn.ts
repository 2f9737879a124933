import type { TurnEnded, TurnInput, Verdict } from '../../collab/ports.js'
import { EventQueue, failed, interrupted } from '../event-queue.js'
import { failureOf } from './failure.js'
import { activityOf, commandOf, operationOf, type Activity } from './items.js'
import type { CodexDeps } from './options.js'
import { type Listener, RpcError } from './peer.js'
import { count, fields, text, type Fields } from './read.js'
import { useOf } from '../use.js'
import { namedBy } from './use.js'

/** Bytes of one answer. */
const LONGEST_ANSWER = 4 * 1024 * 1024
/** A report that changes nothing visible still shows, this often, that the turn lives. Milliseconds. */
const PULSE_MS = 5_000
const METHOD_NOT_FOUND = -32601

/** Tokens of one turn, as far as the provider counts them. */
export interface Usage {
  readonly input: number
  readonly cached: number
  readonly output: number
}

/** How an approval of each kind is answered on the wire. */
const answers: Readonly<Record<string, (verdict: Verdict, params: Fields) => unknown>> = {
  'item/commandExecution/requestApproval': (verdict) => ({ decision: verdict === 'allow-once' ? 'accept' : 'decline' }),
  'item/fileChange/requestApproval': (verdict) => ({ decision: verdict === 'allow-once' ? 'accept' : 'decline' }),
  'mcpServer/elicitation/request': (verdict) => ({
    action: verdict === 'allow-once' ? 'accept' : 'decline',
    content: verdict === 'allow-once' ? {} : null,
    _meta: null,
  }),
  'item/permissions/requestApproval': (verdict, params) => ({
    permissions: verdict === 'allow-once' ? params['permissions'] : {},
    scope: 'turn',
  }),
}

/** What one turn has heard so far, and what codex waits for. */
export class CodexTurn implements Listener {
  readonly events: EventQueue
  readonly #halting = new AbortController()
  readonly #pending = new Map<string, (verdict: Verdict | null) => void>()
  readonly #items = new Map<string, Fields>()
  #answer: { readonly text: string; readonly final: boolean } | null = null
  #activity: Activity | null = null
  #pulse = 0
  #error: unknown = null
  /** The turn as codex calls it; null until it has begun there. */
  hostTurn: string | null = null
  usage: Usage | null = null
  /** Codex has shortened what the thread remembers. */
  compacted = false
  /** Codex started helpers of its own in this turn; what they run is heard of by nobody here. */
  hasHelpers = false
  /** Commands and patches as they were last reported, by their ids. */
  get items(): ReadonlyMap<string, Fields> {
    return this.#items
  }

  readonly #commands = new Set<string>()
  #onCommandsEnded: (() => void) | null = null
  /** How the turn must end, whatever codex still says; set once. */
  halted: TurnEnded | null = null
  #began = false
  #complete: (ended: TurnEnded) => void = () => {}
  #name: () => void = () => {}
  #completed: Promise<TurnEnded>
  #named: Promise<void>

  constructor(
    readonly input: TurnInput,
    private readonly thread: string,
    private readonly workspace: string,
    private readonly deps: CodexDeps,
  ) {
    this.events = new EventQueue(() => this.halt(interrupted))
    this.#completed = new Promise((resolve) => (this.#complete = resolve))
    this.#named = new Promise((resolve) => (this.#name = resolve))
  }

  /** Resolves when codex says that the turn is over. */
  get completed(): Promise<TurnEnded> {
    return this.#completed
  }

  /** Resolves when codex has given the turn its name. */
  get named(): Promise<void> {
    return this.#named
  }

  /** Codex has ended it, and begins it again under another name. To whoever reads it is still the same turn. */
  renew(): void {
    this.hostTurn = null
    this.#answer = null
    this.#error = null
    this.#completed = new Promise((resolve) => (this.#complete = resolve))
    this.#named = new Promise((resolve) => (this.#name = resolve))
  }

  /** Aborts when the turn must end before codex has ended it. */
  get halting(): AbortSignal {
    return this.#halting.signal
  }

  halt(ended: TurnEnded): void {
    if (this.halted !== null || this.events.ended) return
    this.halted = ended
    this.#dropPending()
    this.#halting.abort()
  }

  /** Which turn of codex this is; said by the answer to its start and by its own report, whichever comes first. */
  begin(hostTurn: string): void {
    if (this.hostTurn !== null) return
    this.hostTurn = hostTurn
    this.#name()
  }

  notified(method: string, params: unknown): void {
    const said = fields(params)
    // Threads of helpers that codex starts itself are its own affair.
    if (said['threadId'] !== this.thread) return
    if (method === 'turn/started') {
      const id = text(fields(said['turn'])['id'])
      if (id === null) return
      this.begin(id)
      if (id !== this.hostTurn || this.halted !== null || this.#began) return
      this.#began = true
      this.events.push({ kind: 'started', hostTurn: id })
      return
    }
    if (method === 'turn/completed') {
      const turn = fields(said['turn'])
      if (this.hostTurn !== null && turn['id'] === this.hostTurn) this.#complete(this.#endOf(turn))
      return
    }
    // What still comes of an earlier turn, and of no turn, changes nothing here.
    if (this.hostTurn === null || said['turnId'] !== this.hostTurn) return
    this.#count(method, fields(said['item']))
    if (this.halted === null) this.#heard(method, said)
  }

  /** Commands of this turn that still run, as they were given. */
  get running(): readonly string[] {
    return [...this.#commands].map((id) => commandOf(this.#items.get(id) ?? {}))
  }

  /** Commands of this turn that still run. */
  get openCommands(): number {
    return this.#commands.size
  }

  /** Resolves when none of them runs any more. */
  commandsEnded(): Promise<void> {
    if (this.#commands.size === 0) return Promise.resolve()
    return new Promise((resolve) => (this.#onCommandsEnded = resolve))
  }

  async asked(method: string, params: unknown): Promise<unknown> {
    const said = fields(params)
    const answer = answers[method]
    if (answer === undefined) throw new RpcError(METHOD_NOT_FOUND, 'this client does not answer that')
    if (said['threadId'] !== this.thread || this.halted !== null || this.events.ended) return null
    const approval = this.deps.newId()
    const item = this.#items.get(text(said['itemId']) ?? '') ?? {}
    const operation = operationOf(method, said, item)
    const named = namedBy(method, said, item)
    const verdict = await new Promise<Verdict | null>((resolve) => {
      this.#pending.set(approval, resolve)
      void useOf(named ?? [], this.workspace).then((use) => {
        // The turn may have ended meanwhile, and nothing of it is asked any more.
        if (this.#pending.has(approval)) this.events.push({ kind: 'approval', approval, operation, use })
      })
    })
    return verdict === null ? null : answer(verdict, said)
  }

  /** An approval that is not pending any more is left as it is. */
  answer(approval: string, verdict: Verdict): void {
    const settle = this.#pending.get(approval)
    if (settle === undefined) return
    this.#pending.delete(approval)
    settle(verdict)
  }

  /** Ends the stream. What was still asked can not be answered any more. */
  end(ended: TurnEnded): void {
    this.#dropPending()
    this.events.push(ended)
  }

  /** Also of a turn that is being stopped: what it started is not gone before codex says so. */
  #count(method: string, item: Fields): void {
    const [type, id] = [item['type'], text(item['id'])]
    this.hasHelpers ||= type === 'collabAgentToolCall' || type === 'subAgentActivity'
    if (type !== 'commandExecution' || id === null) return
    if (method === 'item/started') this.#commands.add(id)
    if (method === 'item/completed') this.#commands.delete(id)
    if (this.#commands.size === 0) this.#onCommandsEnded?.()
  }

  #heard(method: string, said: Fields): void {
    switch (method) {
      case 'item/started':
      case 'item/completed': {
        const item = fields(said['item'])
        const type = text(item['type'])
        if (type === 'userMessage') return
        this.#show(activityOf(type))
        this.compacted ||= method === 'item/completed' && type === 'contextCompaction'
        const id = text(item['id'])
        if (id !== null && (type === 'fileChange' || type === 'commandExecution')) this.#items.set(id, item)
        if (method === 'item/completed' && type === 'agentMessage') this.#said(item)
        return
      }
      case 'item/agentMessage/delta':
        return this.#show('answering')
      case 'item/reasoning/textDelta':
      case 'item/reasoning/summaryTextDelta':
        return this.#show('thinking')
      case 'thread/tokenUsage/updated':
        this.usage = usageOf(said['tokenUsage'])
        return
      case 'error':
        if (said['willRetry'] !== true) this.#error = said['error']
        return this.#show('other')
      default:
        return this.#beat()
    }
  }

  /** The last message is the answer; one that is marked as final is not replaced by a remark behind it. */
  #said(item: Fields): void {
    const words = text(item['text']) ?? ''
    if (words.trim() === '') return
    if (Buffer.byteLength(words) > LONGEST_ANSWER) return this.halt(failed('too-large', 'the answer is over 4 MiB'))
    const final = item['phase'] === 'final_answer'
    if (this.#answer?.final !== true || final) this.#answer = { text: words, final }
  }

  #endOf(turn: Fields): TurnEnded {
    switch (turn['status']) {
      case 'completed': {
        const final = this.#answer?.text.trim() ?? ''
        if (final !== '') return { kind: 'ended', ended: 'completed', final, conclusion: null }
        return failed('no-output', 'codex ended its turn without an answer')
      }
      case 'interrupted':
        return interrupted
      default: {
        const { because, detail } = failureOf(turn['error'] ?? this.#error)
        return failed(because, detail)
      }
    }
  }

  #show(activity: Activity): void {
    if (this.#activity === activity) return this.#beat()
    this.#activity = activity
    this.#pulse = this.deps.clock.now()
    this.events.push({ kind: 'activity', activity })
  }

  #beat(): void {
    const now = this.deps.clock.now()
    // A clock that is set back must not make a turn look dead.
    if (Math.abs(now - this.#pulse) < PULSE_MS) return
    this.#pulse = now
    this.events.push({ kind: 'activity', activity: this.#activity ?? 'other' })
  }

  #dropPending(): void {
    for (const settle of this.#pending.values()) settle(null)
    this.#pending.clear()
  }
}

/** @source codex app-server: ThreadTokenUsage; `last` is the last request, and a turn may make several */
function usageOf(value: unknown): Usage {
  const total = fields(fields(value)['total'])
  return {
    input: count(total['inputTokens']),
    cached: count(total['cachedInputTokens']),
    output: count(total['outputTokens']),
  }
}
