import type { Fact } from '../../src/collab/observation.js'
import type { DeliveryOutcome, PartState } from '../../src/collab/delivery.js'
import {
  MANAGER,
  type AskId,
  type AttemptId,
  type BotId,
  type ConversationId,
  type EventId,
  type Instant,
  type RequestId,
  type ResultId,
  type Revision,
  type TextDigest,
  type TurnId,
} from '../../src/collab/refs.js'
import type { OutgoingFile } from '../../src/collab/channel.js'
import type { Exchange } from '../../src/exchange/deps.js'
import { conversationIdOf, digestOfText } from '../../src/exchange/ids.js'
import { openRequest, scopeOf } from '../../src/exchange/open.js'
import { ensureConversation } from '../../src/stores/conversations/conversations.js'
import { append } from '../../src/stores/ledger/commit.js'
import { stateOfRequest } from '../../src/stores/ledger/read.js'
import { findRequest } from '../../src/stores/views/requests.js'
import { byOwner } from '../kit/exchange.js'

export const bot = 'cli_test_app' as BotId
let counter = 0

/** One message of an owner becomes a request, by the exchange's own verb. */
export async function ask(
  x: Exchange,
  said: { text: string; at: number; chat?: string; thread?: string; late?: boolean },
): Promise<RequestId> {
  const { text, at, chat = 'oc_dm', thread = null, late = false } = said
  const chatType = chat === 'oc_dm' ? 'p2p' : 'group'
  const id = conversationIdOf(bot, chat, thread ?? '')
  const place = { id, bot, chatId: chat, threadKey: thread ?? '', chatType }
  const conversation = await ensureConversation(x.db.sql, place, 'en', at)
  const message = {
    bot,
    messageId: `om_${++counter}_${at}`,
    chatId: chat,
    chatType,
    threadId: thread,
    rootId: null,
    parentId: null,
    sender: { openId: 'ou_owner', unionId: null, type: 'user', tenantKey: null },
    createTime: at as Instant,
    messageType: 'text',
    text,
    mentions: [],
    mentionsSelf: true,
    mentionsAll: false,
    attachments: [],
    expand: null,
    recalled: false,
    unknown: [],
  } as const
  return await openRequest(x, { message, conversation, receivedAt: at, late, ...byOwner(message) })
}

/** Appends facts as they are: what a turn or an operator would have left. */
async function note(x: Exchange, request: RequestId, facts: readonly [Fact, ...Fact[]], texts: readonly string[] = []) {
  const { seq, head, request: opened } = await stateOfRequest(x.db.sql, request)
  const accessScope = scopeOf(opened?.conversation ?? '')
  const also = { texts: texts.map((body) => ({ digest: digestOfText(body), accessScope, body })) }
  const eventId = `seed-${++counter}` as EventId
  const at = facts[0].at
  await x.db.tx((tx) => append(tx, { request, eventId, digest: eventId, facts, seen: seq, head, at, also }))
}

const base = (request: RequestId, at: number) =>
  ({ request, revision: 1 as Revision, attempt: null, actor: { kind: 'host' }, at: at as Instant }) as const

/** Shows the request to a turn; returns the turn. */
export async function present(x: Exchange, request: RequestId, at: number): Promise<TurnId> {
  const attempt = `attempt-${++counter}` as AttemptId
  const turn = `turn-${counter}` as TurnId
  const { asks } = await stateOfRequest(x.db.sql, request)
  const assigned = {
    id: attempt,
    request,
    revision: 1 as Revision,
    target: MANAGER,
    intent: 'delegation',
    effectful: true,
    supersedes: null,
  } as const
  await note(x, request, [
    { ...base(request, at), attempt, kind: 'attempt-assigned', assigned },
    {
      ...base(request, at),
      attempt,
      kind: 'turn-presented',
      turn,
      hostTurn: 'h',
      asks: [...asks.keys()],
      contextItems: [],
    },
  ])
  return turn
}

/** Ends the turn with an answer to everything that is owed. */
export async function answer(
  x: Exchange,
  request: RequestId,
  turn: TurnId,
  said: { text: string; at: number; conclusion?: string; files?: readonly OutgoingFile[] },
): Promise<ResultId> {
  const { asks, turns, request: opened } = await stateOfRequest(x.db.sql, request)
  const id = `result-${++counter}` as ResultId
  const attempt = turns.get(turn)?.attempt ?? null
  const fact = { ...base(request, said.at), attempt, actor: { kind: 'agent', agent: MANAGER, turn } } as const
  const result = {
    id,
    kind: 'result',
    textDigest: digestOfText(said.text),
    conclusionDigest: said.conclusion === undefined ? null : digestOfText(said.conclusion),
    accessScope: scopeOf(opened?.conversation ?? ('' as ConversationId)),
    covers: [...asks.keys()] as AskId[],
    remainder: [],
    files: said.files ?? [],
    supersedes: null,
  } as const
  const texts = said.conclusion === undefined ? [said.text] : [said.text, said.conclusion]
  await note(
    x,
    request,
    [
      { ...fact, kind: 'turn-ended', turn, ending: { ended: 'completed' } },
      { ...fact, kind: 'result-committed', turn, result },
      { ...base(request, said.at), attempt, kind: 'fence-released', because: 'terminal-result' },
    ],
    texts,
  )
  return id
}

export async function fail(x: Exchange, request: RequestId, turn: TurnId, at: number): Promise<void> {
  const { turns } = await stateOfRequest(x.db.sql, request)
  const fact = { ...base(request, at), attempt: turns.get(turn)?.attempt ?? null }
  await note(x, request, [
    { ...fact, kind: 'turn-ended', turn, ending: { ended: 'failed', because: 'exited' } },
    { ...fact, kind: 'failure-handed-over', because: 'exited' },
  ])
}

/** A cancellation that waited takes effect. */
export async function acknowledge(x: Exchange, request: RequestId, at: number): Promise<void> {
  await note(x, request, [{ ...base(request, at), kind: 'cancel-acknowledged' }])
}

/** A delivery of an answer with its parts, in whatever state. */
export async function deliver(
  x: Exchange,
  given: {
    request: RequestId | null
    cause: string
    at: number
    outcome: DeliveryOutcome | null
    parts: readonly PartState[]
    id?: string
  },
): Promise<string> {
  const id = given.id ?? `delivery-${++counter}`
  const route = { channel: 'lark', bot, chatId: 'oc_dm', chatType: 'p2p', threadId: null, replyTo: 'om_1' }
  const settled = given.outcome === null ? null : given.at + 1_000
  const source = {
    kind: 'answer',
    language: 'en',
    endsReceipt: null,
    textDigest: digestOfText('x') as TextDigest,
    conclusionDigest: null,
    accessScope: 's',
    files: [],
    label: null,
    reportName: 'report',
  }
  const { sql } = x.db
  await sql`insert into collab.deliveries (id, cause_kind, cause_id, route_key, route, bot, request, source, created_at,
      planned_at, settled_at, outcome)
    values (${id}, 'result', ${given.cause}, ${id}, ${sql.json(route)}, ${bot}, ${given.request}, ${sql.json(source)},
      ${given.at}, ${given.at}, ${settled}, ${given.outcome})`
  for (const [index, state] of given.parts.entries()) {
    await sql`insert into collab.delivery_parts (delivery, index, sub_index, key, msg_type, content, bytes, renderer, state,
        because, message_id, attempts)
      values (${id}, ${index}, 0, ${`${id}-${index}`}, 'interactive', '{}', 2, 'card/1', ${state},
        ${state === 'parked' ? 'lookup-incomplete' : null}, ${state === 'verified' ? `om_sent_${id}_${index}` : null}, 1)`
  }
  return id
}

export async function viewOf(x: Exchange, request: string) {
  const view = await findRequest(x.db.sql, request)
  if (view === null) throw new Error(`no request ${request}`)
  return view
}
