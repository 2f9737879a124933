import { randomUUID } from 'node:crypto'
import type { ToolCaller } from '../../src/collab/agent-tools.js'
import { decideConclude } from '../../src/collab/decide/resolve.js'
import type { ExchangeState } from '../../src/collab/exchange-state.js'
import type { Fact } from '../../src/collab/observation.js'
import {
  MANAGER,
  type ConversationId,
  type Instant,
  type RequestId,
  type TextDigest,
  type TurnId,
} from '../../src/collab/refs.js'
import { returningResult } from '../../src/exchange/agents/answer.js'
import { createAgentTools } from '../../src/exchange/agents/tools.js'
import type { Exchange } from '../../src/exchange/deps.js'
import { decideAndCommit } from '../../src/exchange/exchange.js'
import { digestOfText, eventIdOf, laneOf, resultIdOf } from '../../src/exchange/ids.js'
import { scopeOf } from '../../src/exchange/open.js'
import { createPerformer } from '../../src/exchange/perform.js'
import { factsOf, fold } from '../../src/stores/ledger/read.js'
import { endTurnRow } from '../../src/stores/turns/turns.js'
import type { States } from '../kit/world-checks.js'
import type { Db } from '../../src/stores/db.js'
import { overtaken } from './between.js'
import { beginning, isMeant, type Act, type Heard } from './history-acts.js'
import { callOf } from './history-calls.js'
import { attached, beginTurn, openRoot, registered, rigOf, stateOf, type Rig } from './agents-kit.js'

/*
 * Random histories of an installation: owners in two chats, a manager in each, and three workers, over the agents'
 * own tools and the wakes of the exchange, on a real Postgres with several of them at once.
 */

/** Words that stand nowhere else, with the request whose they are. */
export interface Mark {
  readonly mark: string
  readonly of: RequestId
  /** What an owner wrote is attached to whatever comes of it. */
  readonly kind: 'message' | 'words'
}

export class Installation {
  readonly heard: Heard[] = []
  readonly marks: Mark[] = []
  private readonly requests: RequestId[] = []
  /** Requests that somebody asked to cancel. */
  readonly cancelled = new Set<RequestId>()
  private readonly chats = [`oc_${randomUUID()}`, `oc_${randomUUID()}`]
  private readonly conversations = new Map<string, ConversationId>()
  private readonly turns = new Map<ConversationId, { readonly turn: TurnId; readonly request: RequestId }>()
  private count = 0

  readonly rig: Rig
  private readonly workers: readonly string[]

  /** Its workers have names of their own: an attached agent reads its inbox over all conversations. */
  constructor(db: Db) {
    const names = ['anna', 'ben', 'cara'].map((name) => `${name}-${randomUUID().slice(0, 8)}`)
    this.workers = names
    this.rig = rigOf(
      db,
      names.map((name) => registered(name)),
    )
  }

  /** Those who stand alone, one after the other; what tools do, at once. */
  async live(history: readonly Act[], look: (heard: readonly Heard[]) => Promise<void>): Promise<void> {
    let volley: Act[] = []
    const flush = async () => {
      const states = await this.states()
      const calls = volley.flatMap((act) => this.callOf(act, states) ?? [])
      volley = []
      const heard = (await Promise.all(calls.map((call) => call()))).flat()
      this.heard.push(...heard)
      await look(heard)
    }
    for (const act of [...beginning, ...history]) {
      const alone = act.say === 'message' || act.say === 'begin' || act.say === 'end'
      if (alone || act.pick % 3 === 0 || volley.length === 4) await flush()
      if (!alone) volley.push(act)
      else await this.stand(act)
    }
    await flush()
  }

  /** One act is overtaken: before its `at`-th step another one happens whole, with all that follows from it. */
  async overtake(first: Act, second: Act, at: number): Promise<readonly Heard[]> {
    const states = await this.states()
    const other = this.callOf(second, states)
    const heard: Heard[] = []
    const db = overtaken(this.rig.x.db, at, async () => {
      heard.push(...((await other?.()) ?? []))
      await this.settle()
    })
    heard.push(...((await this.callOf(first, states, { ...this.rig.x, db })?.()) ?? []))
    this.heard.push(...heard)
    return heard
  }

  /** Everything that crosses requests is done, each wake by two workers at once. */
  async settle(): Promise<void> {
    for (let round = 0; round < 50; round += 1) {
      const due = await this.dueWakes()
      if (due.length === 0) return
      for (const subject of due) await Promise.all([this.perform(subject), this.perform(subject)])
    }
    throw new Error('the wakes never come to an end')
  }

  async states(): Promise<States> {
    const states = new Map<RequestId, ExchangeState>()
    for (const id of await this.all()) states.set(id, fold(id, await factsOf(this.rig.x.db.sql, id)))
    return states
  }

  async facts(): Promise<readonly Fact[]> {
    return (await Promise.all((await this.all()).map((id) => factsOf(this.rig.x.db.sql, id)))).flat() as readonly Fact[]
  }

  callers(): readonly ToolCaller[] {
    return [0, 1, 2, 3, 4].map((n) => this.caller(n))
  }

  /** Requests of this history, oldest first; children are opened by the tools. */
  private async all(): Promise<readonly RequestId[]> {
    const rows = await this.rig.x.db.sql<{ id: RequestId }[]>`
      select id from collab.work_requests where conversation = any(${[...this.conversations.values()]})
      order by opened_at, id`
    for (const { id } of rows) if (!this.requests.includes(id)) this.requests.push(id)
    return this.requests
  }

  private caller(n: number): ToolCaller {
    if (n > 1) return attached(this.workers[n - 2] ?? '')
    const conversation = [...this.conversations.values()][n] ?? ('none' as ConversationId)
    const turn = this.turns.get(conversation)?.turn ?? null
    return { agent: MANAGER, session: `session-${conversation}`, epoch: 1, lane: laneOf(conversation), turn }
  }

  /** Mostly whoever has the request, or handed it on; now and then anybody. */
  private callerFor(act: Act, state: ExchangeState): ToolCaller {
    const { request } = state
    if (act.pick % 5 === 4 || request === null) return this.caller(act.by)
    const ofAsker = /revise|cancel|reassign|relate/.test(act.say)
    const receiver = [...state.attempts.values()].findLast((one) => one.released === null)?.target ?? request.target
    const asker = request.sender.kind === 'agent' ? request.sender.agent : MANAGER
    const who = ofAsker ? asker : (receiver ?? MANAGER)
    const worker = this.workers.indexOf(who)
    if (worker !== -1) return this.caller(2 + worker)
    return this.caller([...this.conversations.values()].indexOf(request.conversation))
  }

  private mark(of: RequestId, kind: Mark['kind'] = 'words'): string {
    const mark = `~${(this.count += 1)}${kind.slice(0, 1)}${of.slice(-4)}~`
    this.marks.push({ mark, of, kind })
    return mark
  }

  /** What is not said by a tool: an owner writes, the manager's turn begins and ends. */
  private async stand(act: Act): Promise<void> {
    const chat = this.chats[act.by % 2] ?? ''
    if (act.say === 'message') {
      const text = `~${(this.count += 1)}m~`
      const { request, conversation } = await openRoot(this.rig, text, chat)
      this.conversations.set(chat, conversation)
      this.marks.push({ mark: text, of: request, kind: 'message' })
      this.requests.push(request)
      return
    }
    const conversation = this.conversations.get(chat)
    if (conversation === undefined) return
    if (act.say === 'begin') await this.begin(conversation)
    else await this.end(conversation)
  }

  private async begin(conversation: ConversationId): Promise<void> {
    if (this.turns.has(conversation)) return
    for (const state of (await this.states()).values()) {
      const { request, fence, head } = state
      if (request?.conversation !== conversation || request.parent !== null || state.closed !== null) continue
      const live = [...state.attempts.values()].find((one) => one.released === null)
      const free = fence === null ? live === undefined : live?.revision === head && live.target === MANAGER
      const owed = [...state.asks.values()].some((ask) => ask.is === 'owed')
      if (!free || !owed || state.cancel !== 'none' || state.children.size > 0) continue
      this.turns.set(conversation, { turn: await beginTurn(this.rig, state.id, MANAGER), request: state.id })
      return
    }
  }

  private async end(conversation: ConversationId): Promise<void> {
    const running = this.turns.get(conversation)
    if (running === undefined) return
    const { x } = this.rig
    const { request } = await stateOf(this.rig, running.request)
    if (request === null) return
    const text = this.mark(running.request)
    await decideAndCommit(
      x,
      {
        kind: 'conclude-turn',
        eventId: eventIdOf('concluded', running.turn),
        requestId: running.request,
        at: x.clock.now() as Instant,
        actor: { kind: 'agent', agent: MANAGER, turn: running.turn },
        turn: running.turn,
        result: resultIdOf(running.turn),
        textDigest: digestOfText(text),
        conclusionDigest: null as TextDigest | null,
        accessScope: scopeOf(conversation),
        files: [],
      } as const,
      decideConclude,
      (facts) => ({
        ...(facts.some((fact) => fact.kind === 'result-committed')
          ? returningOf(facts, request, x.clock.now())
          : { deliveries: [], wakes: [] }),
        texts: [{ digest: digestOfText(text), accessScope: scopeOf(conversation), body: text }],
      }),
    )
    await endTurnRow(x.db.sql, running.turn, 'completed', null, x.clock.now())
    this.turns.delete(conversation)
  }

  /** A call of a tool, or of a worker that carries a wake. */
  private callOf(act: Act, states: States, x: Exchange = this.rig.x): (() => Promise<readonly Heard[]>) | null {
    if (act.say === 'carry') return () => this.carry(act.pick, x)
    const meant = [...states.values()].filter((one) => isMeant(act, one))
    const from = meant.length === 0 ? [...states.values()] : meant
    const state = from[act.on % Math.max(1, from.length)]
    if (state === undefined || state.request === null) return null
    return callOf(act, {
      tools: createAgentTools(x),
      caller: this.callerFor(act, state),
      state,
      states,
      workers: this.workers,
      now: this.rig.clock.now(),
      mark: (of) => this.mark(of),
      onAsked: (words, of) => {
        for (const [n, one] of this.marks.entries()) if (words.includes(one.mark)) this.marks[n] = { ...one, of }
      },
      onCancelled: (request) => this.cancelled.add(request),
    })
  }

  private async carry(pick: number, x: Exchange): Promise<readonly Heard[]> {
    const due = await this.dueWakes()
    const subject = due[pick % Math.max(1, due.length)]
    if (subject !== undefined) await Promise.all([this.perform(subject, x), this.perform(subject)])
    return []
  }

  private async dueWakes(): Promise<readonly string[]> {
    const rows = await this.rig.x.db.sql<{ subject: string }[]>`
      select subject from collab.wakes
      where kind = 'upkeep' and state = 'pending' and due_at <= ${this.rig.clock.now()}
        and subject ~ '^(child|return|revised|due|below|cancel)-'
      order by subject`
    // Also of children that are not opened yet.
    const own = new Set<string>()
    for (const [id, state] of await this.states()) for (const one of [id, ...state.children.keys()]) own.add(one)
    return rows.map(({ subject }) => subject).filter((subject) => own.has(subject.slice(subject.indexOf('-') + 1)))
  }

  private async perform(subject: string, x: Exchange = this.rig.x): Promise<void> {
    await createPerformer(x).perform({
      kind: 'upkeep',
      subject,
      generation: 1,
      signal: new AbortController().signal,
      lastAttempt: false,
    })
  }
}

function returningOf(facts: readonly Fact[], request: Parameters<typeof returningResult>[0], at: number) {
  const fact = facts.find((one) => one.kind === 'result-committed')
  if (fact?.kind !== 'result-committed') throw new Error('a concluded turn has a result')
  return returningResult(request, fact.result, { language: 'en', label: null, refused: [], bearing: null, at }, [])
}
