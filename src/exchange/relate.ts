import { digestOfContext, type SemanticContext } from '../collab/context.js'
import { decideRelate } from '../collab/decide/relate.js'
import type { Receipt } from '../collab/decision.js'
import type { ExchangeState } from '../collab/exchange-state.js'
import type { Observation } from '../collab/observation.js'
import type { WakeRef } from '../collab/ports.js'
import type { ActorRef, AskId, EventId, Instant, LaneId, RequestId, Revision, Seq, TextDigest } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { digestOf } from '../lib/digest.js'
import type { Tx } from '../stores/db.js'
import { append, type Also } from '../stores/ledger/commit.js'
import { factsOf, fold, foldWithPrior, lockHead } from '../stores/ledger/read.js'
import { inputOf } from '../stores/turns/turns.js'
import type { Exchange } from './deps.js'
import type { Stands } from './exchange.js'
import { askIdOf, eventIdOf } from './ids.js'

export interface Relate {
  readonly eventId: EventId
  readonly earlier: RequestId
  readonly later: RequestId
  /** The earlier request's revision that the author saw. */
  readonly onRevision: Revision
  readonly as: 'addition' | 'correction' | 'context'
  readonly actor: ActorRef
  /** By what the same command is known again; absent: all of it. */
  readonly said?: unknown
  /** Absent: whoever says it cannot be replaced. */
  readonly stands?: Stands
}

/**
 * A later message goes on in an earlier request. The only act that locks two heads, in id order, and writes both in
 * one transaction: as addition or correction the earlier one owes it at its next revision and its lane is woken, as
 * context it changes nothing there but what waited for an answer. The later one's input is settled as continued.
 *
 * The later request's facts stand under an event id that follows from the command's, and the prior run is looked for
 * there, since as context the earlier request may get no fact at all.
 *
 * @returns accepted, already-applied, conflict, or rejected with what `decideRelate` refuses
 * @source RFC §5.6, ledger invariant 2 and "Every authorised message" — A5
 */
export async function relateRequests(x: Pick<Exchange, 'db' | 'wake' | 'clock'>, relate: Relate): Promise<Receipt> {
  const { said, stands: _asked, ...all } = relate
  const digest = digestOf(said ?? all)
  const now = x.clock.now()
  const { receipt, wakes } = await x.db.tx((tx) => attempt(tx, relate, digest, now))
  if (wakes.length > 0) x.wake.kick(wakes)
  return receipt
}

interface Done {
  readonly receipt: Receipt
  readonly wakes: readonly WakeRef[]
}

async function attempt(tx: Tx, relate: Relate, digest: string, now: number): Promise<Done> {
  const { eventId, earlier, later, onRevision, as, actor, stands } = relate
  const replaced = stands === undefined ? null : await stands(tx)
  if (replaced !== null) return ended({ outcome: 'rejected', refusal: replaced })
  // One order for everybody: two who relate the same pair the other way round wait for each other and never lock up.
  for (const id of [...new Set([earlier, later])].sort()) await lockHead(tx, id)
  const laterEvent = eventIdOf('continued', eventId)
  const { prior } = await foldWithPrior(tx, later, laterEvent)
  if (prior !== null) {
    const { seq, revision } = prior
    const same = prior.digest === digest
    return ended(same ? { outcome: 'already-applied', eventId, seq, revision } : { outcome: 'conflict', eventId })
  }
  if ((await foldWithPrior(tx, earlier, eventId)).prior !== null) return ended({ outcome: 'conflict', eventId })
  const before = await readOne(tx, earlier)
  const after = await readOne(tx, later)
  const decision = decideRelate(before.state, after.state, {
    kind: 'relate-requests',
    eventId,
    requestId: earlier,
    later,
    at: now as Instant,
    actor,
    as,
    onRevision,
    next: as === 'context' ? null : nextOf(before, after, onRevision, as),
  })
  if (decision.outcome === 'rejected') return ended(decision)
  const wakes: WakeRef[] = []
  const [first, ...rest] = decision.earlier
  if (first !== undefined) {
    wakes.push(
      ...(await append(tx, {
        request: earlier,
        eventId,
        digest,
        facts: [first, ...rest],
        seen: before.state.seq,
        head: before.state.head,
        at: now,
        also: await owedAgain(tx, before.state, now),
      })),
    )
  }
  await append(tx, {
    request: later,
    eventId: laterEvent,
    digest,
    facts: decision.later,
    seen: after.state.seq,
    head: after.state.head,
    at: now,
    also: await settled(tx, later),
  })
  const seq = (after.state.seq + decision.later.length) as Seq
  return { receipt: { outcome: 'accepted', eventId, seq, revision: after.state.head }, wakes }
}

const ended = (receipt: Receipt): Done => ({ receipt, wakes: [] })

interface One {
  readonly state: ExchangeState
  readonly facts: readonly Observation[]
}

async function readOne(tx: Tx, request: RequestId): Promise<One> {
  const facts = await factsOf(tx, request)
  return { state: fold(request, facts), facts }
}

/** The earlier request's next revision: everything stands as before, and it owes what the later message still owes. */
function nextOf(
  before: One,
  after: One,
  onRevision: Revision,
  as: 'addition' | 'correction',
): { readonly request: WorkRequest; readonly context: SemanticContext } | null {
  const last = contextOf(before.facts)
  const { request } = before.state
  const source = after.state.request
  if (last === null || request === null || source === null) return null
  const revision = (onRevision + 1) as Revision
  const digests = askDigestsOf(after.facts)
  const owed = [...after.state.asks].flatMap(([id, ask]) =>
    ask.is === 'owed' || ask.is === 'deferred' ? (digests.get(id) ?? []) : [],
  )
  // Its own writer, also where it is worked on in somebody else's name.
  const writtenBy = source.sender.kind === 'person' ? source.sender.openId : source.authority.openId
  const context: SemanticContext = {
    ...last,
    revision,
    brief: { ...last.brief, corrections: [...last.brief.corrections, ...owed] },
    sourceRefs: [...last.sourceRefs, { kind: 'message', id: source.origin.messageId, writtenBy }],
  }
  return {
    context,
    request: {
      ...request,
      revision,
      kind: as,
      sender: source.sender,
      contextDigest: digestOfContext(context),
      asks: owed.map((textDigest, n) => ({ id: askIdOf(request.id, revision, n + 1), textDigest })),
      supersedes: onRevision,
    },
  }
}

function contextOf(facts: readonly Observation[]): SemanticContext | null {
  const contexts = facts.flatMap((fact) =>
    fact.kind === 'request-opened' || fact.kind === 'request-revised' ? [fact.context] : [],
  )
  return contexts.at(-1) ?? null
}

/** The text of each ask that a request ever had. */
export function askDigestsOf(facts: readonly Observation[]): ReadonlyMap<AskId, TextDigest> {
  const asks = facts.flatMap((fact) => {
    if (fact.kind === 'request-opened') return fact.opened.asks
    if (fact.kind === 'request-revised') return fact.revised.asks
    return fact.kind === 'asks-split' ? fact.into : []
  })
  return new Map(asks.map((ask) => [ask.id, ask.textDigest]))
}

/** The earlier request runs again, unless it waits for the owner's word. */
async function owedAgain(tx: Tx, state: ExchangeState, now: number): Promise<Also> {
  const input = await inputOf(tx, state.id)
  if (input === null || state.held !== null) return {}
  const { position } = input
  const lane = input.lane as LaneId
  return {
    input: { lane, state: 'waiting', because: null, position },
    wakes: [{ kind: 'turn', subject: lane, dueAt: now }],
  }
}

async function settled(tx: Tx, later: RequestId): Promise<Also> {
  const input = await inputOf(tx, later)
  if (input === null) return {}
  return {
    input: { lane: input.lane as LaneId, state: 'settled', because: 'continued', position: input.position },
  }
}
