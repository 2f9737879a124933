import fc from 'fast-check'
import { decideAccept } from '../../src/collab/decide/accept.js'
import { decideOpenChild, decideReturnChild } from '../../src/collab/decide/children.js'
import { decideCancel } from '../../src/collab/decide/control.js'
import { decideRelate } from '../../src/collab/decide/relate.js'
import { decideTakeChild, waitCircle, type Waiter } from '../../src/collab/decide/take-child.js'
import type { Refusal } from '../../src/collab/decision.js'
import { isOpen, unopened, type ExchangeState } from '../../src/collab/exchange-state.js'
import type { Fact } from '../../src/collab/observation.js'
import {
  MANAGER,
  type AgentId,
  type AskId,
  type ConversationId,
  type RequestId,
  type ResultId,
  type TextDigest,
} from '../../src/collab/refs.js'
import { accepting, applied, assigning, contextAt, host, id, presenting, requestAt } from './exchange.js'
import { commandFor, weighedWords, type Word } from './history.js'
import { aimOf } from './history-aim.js'
import { decidePresent } from '../../src/collab/decide/present.js'
import { decideAssign } from '../../src/collab/decide/assign.js'

/* Random histories of several requests that come of one another, in the pure core. */

/** `on` and `pick` choose among what there is. */
export interface Deed {
  readonly do: 'message' | 'ask' | 'work' | 'cancel' | 'carry' | 'relate'
  readonly say: Word
  readonly on: number
  readonly pick: number
}

/**
 * What a history of one request says about others, or ends it elsewhere, is done by deeds of the world. Nobody gives it
 * to somebody else, either: that whoever waits is no candidate is for the exchange to see.
 */
const alone = weighedWords.filter(
  (word) => !/child|return|take-up|go-on|again|link-work|skip|recall|assign|consult/.test(word),
) as readonly Word[]

export const deeds: fc.Arbitrary<readonly Deed[]> = fc.array(
  fc.record({
    do: fc.constantFrom<Deed['do']>(
      'message',
      'ask',
      'ask',
      'ask',
      'work',
      'work',
      'work',
      'work',
      'cancel',
      'carry',
      'carry',
      'relate',
    ),
    say: fc.constantFrom(...alone),
    on: fc.nat({ max: 11 }),
    pick: fc.nat({ max: 11 }),
  }),
  { minLength: 8, maxLength: 60 },
)

/** One deed that was taken: the facts of each request that it touched. */
export interface Done {
  readonly deed: Deed
  readonly facts: readonly Fact[]
  readonly before: ReadonlyMap<RequestId, ExchangeState>
  readonly after: ReadonlyMap<RequestId, ExchangeState>
}

/** An agent that asked another; refused when that closes a circle. */
export interface AskSaid {
  readonly on: RequestId
  readonly agent: AgentId
  readonly target: AgentId
  readonly refusal: Refusal | null
  readonly before: ReadonlyMap<RequestId, ExchangeState>
}

export interface World {
  readonly done: readonly Done[]
  readonly asks: readonly AskSaid[]
  readonly requests: ReadonlyMap<RequestId, ExchangeState>
}

export const agents = ['anna', 'ben', 'cara', 'dora'].map((name) => id<AgentId>(name))

/** Lives a history; at the end every duty that crosses requests is carried, as their wakes would. */
export function live(history: readonly Deed[]): World {
  const done: Done[] = []
  const asks: AskSaid[] = []
  let requests: ReadonlyMap<RequestId, ExchangeState> = new Map()
  let n = 0
  const take = (deed: Deed, facts: readonly Fact[]) => {
    const before = requests
    const after = new Map(requests)
    for (const fact of facts)
      after.set(fact.request, applied(after.get(fact.request) ?? unopened(fact.request), [fact]))
    requests = after
    if (facts.length > 0) done.push({ deed, facts, before, after })
  }
  for (const deed of history) {
    n += 1
    if (deed.do === 'message') {
      take(deed, messageOf(n))
      continue
    }
    const state = [...requests.values()][deed.on % Math.max(1, requests.size)]
    if (state === undefined) continue
    if (deed.do === 'ask') {
      const said = askOf(requests, state, deed, n)
      if (said === null) continue
      asks.push({ ...said, on: state.id, before: requests })
      if (said.refusal === null) take(deed, said.facts)
    } else if (deed.do === 'carry') take(deed, picked(dutiesOf(requests, n), deed.pick) ?? [])
    else if (deed.do === 'relate') take(deed, relateOf(requests, state, deed, n))
    else {
      const say = deed.do === 'cancel' ? 'cancel' : deed.say
      const said = commandFor({ say, pick: deed.pick }, n, state, state.id, null)
      const decision = said?.decide(state, said.command as never)
      if (decision?.outcome === 'accepted') take(deed, decision.facts)
    }
  }
  const carry: Deed = { do: 'carry', say: 'cancel', on: 0, pick: 0 }
  for (let duties = dutiesOf(requests, n); duties.length > 0; duties = dutiesOf(requests, ++n))
    take(carry, duties[0] ?? [])
  return { done, asks, requests }
}

const picked = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(1, list.length)]

/** The words of a request, which stand nowhere else, and what its asker wrote about it. */
export const wordsOf = (request: RequestId) => id<TextDigest>(`words-${request}`)
export const summaryOf = (request: RequestId) => id<TextDigest>(`brief-${request}`)

/** A request in its place with its own words; `origin` is the message at its root. */
function placed(request: RequestId, conversation: ConversationId, origin: RequestId) {
  const plain = requestAt(1, request)
  const asks = plain.asks.map((ask) => ({ ...ask, textDigest: wordsOf(request) }))
  const context = { ...contextAt(1, wordsOf(origin)), accessScope: `conversation:${conversation}` }
  return { request: { ...plain, conversation, asks }, context }
}

/** A person's message in one of two chats, in its receiver's running turn. */
function messageOf(n: number): readonly Fact[] {
  const request = id<RequestId>(`root-${n}`)
  const message = { ...accepting(null, request), ...placed(request, id<ConversationId>(`c${1 + (n % 2)}`), request) }
  let state = unopened(request)
  const facts: Fact[] = []
  const said = [
    decideAccept(state, message),
    decideAssign((state = folded(state, decideAccept(state, message))), assigning(`a-${request}`, 1, true, request)),
    decidePresent(
      (state = folded(state, decideAssign(state, assigning(`a-${request}`, 1, true, request)))),
      presenting(`t-${request}`, `a-${request}`, 1, request),
    ),
  ]
  for (const decision of n % 3 === 0 ? said.slice(0, 1) : said) {
    if (decision.outcome === 'accepted') facts.push(...decision.facts)
  }
  return facts
}

const folded = (state: ExchangeState, decision: ReturnType<typeof decideAccept>): ExchangeState =>
  decision.outcome === 'accepted' ? applied(state, decision.facts) : state

/** Who waits for whom, from a request upwards, as the exchange reads it before it asks. */
export function chainOf(
  requests: ReadonlyMap<RequestId, ExchangeState>,
  state: ExchangeState,
  agent: AgentId,
): readonly Waiter[] {
  const chain: Waiter[] = [{ request: state.id, agent }]
  for (let below = state; ;) {
    const above = requests.get(below.request?.parent ?? id<RequestId>('none'))
    if (above === undefined) return chain
    const child = above.children.get(below.id)
    const asker = below.request?.sender
    const waits = child !== undefined && isOpen(child) && asker?.kind === 'agent'
    chain.push({ request: above.id, agent: waits ? asker.agent : null })
    below = above
  }
}

function askOf(requests: ReadonlyMap<RequestId, ExchangeState>, state: ExchangeState, deed: Deed, n: number) {
  const { agent, ask, base, actor } = aimOf(deed.pick, n, state, state.id)
  const target = picked([...agents, MANAGER, agent], deed.on + deed.pick) ?? MANAGER
  const child = id<RequestId>(`${state.id}.${n}`)
  const opened = decideOpenChild(state, {
    ...base,
    kind: 'open-child',
    actor,
    agent,
    child,
    target,
    intent: deed.pick % 3 === 2 ? 'consultation' : 'delegation',
    asks: deed.pick % 4 === 3 ? [] : [ask],
  })
  if (opened.outcome === 'rejected' && opened.refusal.reason !== 'asks-own-requester') return null
  const through = waitCircle(chainOf(requests, state, agent), target)
  const refusal: Refusal | null =
    opened.outcome === 'rejected' ? opened.refusal : through === null ? null : { reason: 'wait-cycle', through }
  if (opened.outcome === 'rejected') return { agent, target, refusal, facts: [] }
  const conversation = state.request?.conversation ?? id<ConversationId>('c1')
  const [top = ''] = child.split('.')
  const { request: message, context } = placed(child, conversation, id<RequestId>(top))
  const summary = { textDigest: summaryOf(child), writtenBy: `agent:${agent}` }
  const taken = decideTakeChild(unopened(child), {
    kind: 'take-child',
    ...base,
    requestId: child,
    actor,
    request: {
      ...message,
      parent: state.id,
      sender: { kind: 'agent', agent, turn: id('asking') },
      target,
      returnTo: { channel: 'request', request: state.id, ask: null, direct: deed.pick % 5 === 4 },
    },
    context: { ...context, brief: { ...context.brief, summary } },
    attempt: { ...assigning(`a-${child}`, 1, deed.pick % 3 !== 2, child).attempt, target },
  })
  const facts = taken.outcome === 'accepted' ? [...opened.facts, ...taken.facts] : opened.facts
  return { agent, target, refusal, facts }
}

/** What the wakes across requests still have to do: a cancellation downwards, and the return of what ended. */
export function dutiesOf(requests: ReadonlyMap<RequestId, ExchangeState>, n: number): readonly (readonly Fact[])[] {
  const duties: (readonly Fact[])[] = []
  const base = { eventId: id<never>(`duty-${n}`), at: 1_000 as never }
  for (const parent of requests.values()) {
    for (const [childId, known] of parent.children) {
      const child = requests.get(childId)
      if (child === undefined) continue
      if (parent.cancel !== 'none' && isOpen(known) && child.cancel === 'none' && child.closed === null) {
        const said = {
          ...base,
          kind: 'cancel-request',
          requestId: childId,
          actor: host,
          onRevision: null,
          because: 'owner',
        } as const
        const decision = decideCancel(child, said)
        if (decision.outcome === 'accepted') duties.push(decision.facts)
      }
      const end = endOf(child)
      if (end === null) continue
      const direct =
        end.result !== null && child.request?.returnTo.channel === 'request' && child.request.returnTo.direct
      const decision = decideReturnChild(parent, {
        ...base,
        kind: 'return-child',
        requestId: parent.id,
        child: childId,
        ...end,
        direct,
      })
      if (decision.outcome === 'accepted') duties.push(decision.facts)
    }
  }
  return duties
}

function endOf(
  child: ExchangeState,
): { readonly ended: 'resolved' | 'rejected' | 'cancelled' | 'failed'; readonly result: ResultId | null } | null {
  if (child.closed === 'resolved')
    return { ended: 'resolved', result: child.results.findLast((one) => one.kind === 'result')?.id ?? null }
  if (child.closed === 'rejected' || child.closed === 'cancelled') return { ended: child.closed, result: null }
  return child.failure === null ? null : { ended: 'failed', result: null }
}

function relateOf(
  requests: ReadonlyMap<RequestId, ExchangeState>,
  later: ExchangeState,
  deed: Deed,
  n: number,
): readonly Fact[] {
  const earlier = picked(
    [...requests.values()].filter((one) => one.request?.parent === null),
    deed.pick,
  )
  if (earlier === undefined || later.request?.parent !== null) return []
  const as = (['addition', 'correction', 'context'] as const)[deed.pick % 3] ?? 'addition'
  const owed = [...later.asks].filter(([, ask]) => ask.is === 'owed')
  const revision = (earlier.head + 1) as never
  const next = requestAt(earlier.head + 1, earlier.id)
  const asks = owed.map((_one, k) => ({ id: id<AskId>(`related-${n}-${k}`), textDigest: wordsOf(later.id) }))
  const decision = decideRelate(earlier, later, {
    kind: 'relate-requests',
    eventId: id<never>(`relate-${n}`),
    requestId: earlier.id,
    later: later.id,
    at: 1_000 as never,
    actor: host,
    as,
    onRevision: earlier.head,
    next:
      as === 'context'
        ? null
        : {
            request: { ...next, ...earlier.request, revision, kind: as, asks },
            context: {
              ...contextAt(earlier.head + 1),
              accessScope: `conversation:${earlier.request?.conversation ?? 'c1'}`,
            },
          },
  })
  return decision.outcome === 'accepted' ? [...decision.earlier, ...decision.later] : []
}
