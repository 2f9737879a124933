import { digestOfContext, type SemanticContext } from '../collab/context.js'
import { decideEdit } from '../collab/decide/edit.js'
import type { Channel } from '../collab/channel.js'
import type { ExchangeState } from '../collab/exchange-state.js'
import type { IncomingEvent, IncomingMessage } from '../collab/message.js'
import type { Instant, Revision } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { SECOND } from '../lib/time.js'
import { messageEvent, rewriteMessage } from '../stores/ingress/ingress.js'
import { factsOf } from '../stores/ledger/read.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { askIdOf, digestOfText, eventIdOf } from './ids.js'
import { scopeOf } from './open.js'
import { placeOf } from './place.js'
import { askDigestsOf } from './relate.js'

/** Nobody edits a message in less: what a turn takes up at once is not read again. */
const SOON_MS = SECOND

type MessageEvent = Extract<IncomingEvent, { kind: 'message' }>

/**
 * Before its first turn: reads the messages of a request that waited back, so that the turn is shown their latest words.
 * Not every platform tells of an edit; a read-back always does (Lark: get-message, `updated`). What cannot be read stays
 * as it came.
 *
 * @returns whether the request was changed
 * @source delivery In 6
 */
export async function readAgain(x: Exchange, state: ExchangeState): Promise<boolean> {
  const { request } = state
  if (request === null || x.clock.now() - request.openedAt < SOON_MS) return false
  return await readSources(x, state)
}

/** The same at any time: what a turn was shown is left as it is. */
export async function readSources(x: Exchange, state: ExchangeState): Promise<boolean> {
  const { request } = state
  if (request === null || placeOf(request) === null || state.closed !== null || state.turns.size > 0) return false
  const channel = x.channelOf(request.origin.bot)
  if (channel === null) return false
  for (const messageId of state.sources) {
    const event = await messageEvent(x.db.sql, request.origin.bot, messageId)
    if (event?.kind !== 'message' || event.message.expand !== null) continue
    const latest = await latestOf(channel, event.message)
    // One at a time: each is a revision of its own, and the caller looks again.
    if (latest !== null && (await takeUp(x, state, request, { ...event, message: latest }, event))) return true
  }
  return false
}

/** What the message says now; null when it says the same, cannot be read, or holds nothing any more. */
export async function latestOf(channel: Channel, message: IncomingMessage): Promise<IncomingMessage | null> {
  const read = await channel.fetchMessage(message.messageId)
  if (!read.fetched || read.value.edited !== true) return null
  const { text, mentions, attachments, unknown } = read.value
  if (text.trim() === '' && attachments.length === 0) return null
  const sameFiles = attachments.map((one) => one.key).join() === message.attachments.map((one) => one.key).join()
  if (text === message.text && sameFiles) return null
  return { ...message, text, mentions, attachments, unknown, edited: true }
}

async function takeUp(
  x: Exchange,
  state: ExchangeState,
  request: WorkRequest,
  now: MessageEvent,
  before: MessageEvent,
): Promise<boolean> {
  const { bot, messageId, sender } = now.message
  const digest = digestOfText(now.message.text)
  const facts = await factsOf(x.db.sql, state.id)
  const old = digestOfText(before.message.text)
  const asks = [...askDigestsOf(facts)].filter(([id]) => state.asks.get(id)?.is === 'owed')
  const replaces = asks.find(([, textDigest]) => textDigest === old)?.[0]
  const last = facts.findLast((fact) => fact.kind === 'request-opened' || fact.kind === 'request-revised')
  if (old === digest || replaces === undefined || last === undefined) {
    // The words are owed already: only the stored content lags behind.
    if (asks.some(([, textDigest]) => textDigest === digest)) await rewriteMessage(x.db.sql, bot, now)
    return false
  }
  const revision = (state.head + 1) as Revision
  const by = { id: askIdOf(request.id, revision, 1), textDigest: digest }
  const context: SemanticContext = {
    ...last.context,
    revision,
    brief: { ...last.context.brief, corrections: [...last.context.brief.corrections, digest] },
  }
  const actor = { kind: 'person', bot, openId: sender.openId } as const
  const receipt = await decideAndCommit(
    x,
    {
      kind: 'edit-request',
      eventId: eventIdOf('edited', bot, messageId, digest),
      requestId: request.id,
      at: x.clock.now() as Instant,
      actor,
      onRevision: state.head,
      request: {
        ...request,
        revision,
        kind: 'correction',
        sender: actor,
        contextDigest: digestOfContext(context),
        asks: [by],
        supersedes: state.head,
      },
      context,
      replaces,
      by,
    } as const,
    decideEdit,
    () => ({ texts: [{ digest, accessScope: scopeOf(request.conversation), body: now.message.text }] }),
  )
  if (receipt.outcome === 'rejected') return false
  await rewriteMessage(x.db.sql, bot, now)
  return receipt.outcome === 'accepted'
}
