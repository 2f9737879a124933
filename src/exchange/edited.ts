import type { Notice } from '../collab/notice.js'
import type { ExchangeState } from '../collab/exchange-state.js'
import type { IncomingEvent, IncomingMessage } from '../collab/message.js'
import type { RequestId, Revision } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import { messageEvent, rewriteMessage } from '../stores/ingress/ingress.js'
import { requestOfOrigin } from '../stores/ledger/find.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import { goneFrom } from './admission-gone.js'
import type { Exchange } from './deps.js'
import { digestOfText, eventIdOf } from './ids.js'
import { placeOf } from './place.js'
import { latestOf, readSources } from './read-again.js'
import { reviseRequest } from './revise.js'
import { say } from './say.js'

type MessageEvent = Extract<IncomingEvent, { kind: 'message' }>

/** An edit was heard of: what the message says now is owed in the place of the old words, if no turn was shown those. */
export async function heedEdit(x: Exchange, event: Extract<IncomingEvent, { kind: 'edited' }>): Promise<string> {
  const id = await requestOfOrigin(x.db.sql, event.bot, 'lark', event.messageId)
  if (id === null) return 'noted'
  const state = await stateOfRequest(x.db.sql, id)
  if (state.turns.size > 0) return await heedLateEdit(x, state, event.messageId)
  await readSources(x, state)
  return 'noted'
}

interface Edited {
  readonly request: WorkRequest
  /** The revision that the new words would follow. */
  readonly head: Revision
  readonly before: MessageEvent
  readonly message: IncomingMessage
}

/**
 * A message was changed after a turn was shown its old words. While its request is open the new words are a correction
 * like any other: the next revision owes them. Once it is answered nothing runs by itself again, for a changed comma is
 * no order: the owner is asked. Who may is whoever may give work now; nobody else can change somebody's message.
 *
 * @source RFC §5.6 (a correction appends a linked revision), delivery In 6
 */
async function heedLateEdit(x: Exchange, state: ExchangeState, messageId: string): Promise<string> {
  const edited = await editOf(x, state, messageId)
  if (edited === null) return 'noted'
  if (state.closed === null) {
    if (await takeUp(x, edited)) {
      await tell(x, edited, { kind: 'edit-taken-up' })
      return 'request'
    }
    // Refused: it was cancelled, or answered just now.
    if ((await stateOfRequest(x.db.sql, state.id)).closed !== 'resolved') return 'noted'
  } else if (state.closed !== 'resolved') return 'noted'
  await tell(x, edited, { kind: 'edited-after-answer', requestId: state.id })
  return 'noted'
}

/** The owner wants the new words, as they stand now. */
export async function takeUpEdit(x: Exchange, id: RequestId): Promise<Notice> {
  const state = await stateOfRequest(x.db.sql, id)
  const edited = state.request === null ? null : await editOf(x, state, state.request.origin.messageId)
  // Taken up before, or changed back.
  if (edited === null) return { kind: 'edit-left' }
  return { kind: (await takeUp(x, edited)) ? 'edit-taken-up' : 'edit-left' }
}

/** What the message says now, when that is something else than what was taken up of it, and its author may give work. */
async function editOf(x: Exchange, { request, head }: ExchangeState, messageId: string): Promise<Edited | null> {
  const channel = request === null ? null : x.channelOf(request.origin.bot)
  if (request === null || channel === null || placeOf(request) === null) return null
  const before = await messageEvent(x.db.sql, request.origin.bot, messageId)
  if (before?.kind !== 'message' || before.message.expand !== null) return null
  const { sender } = before.message
  // A bot's words are not those of the owner in whose name they are worked on.
  if (request.authority.openId !== sender.openId || (await goneFrom(x, request)) !== null) return null
  const message = await latestOf(channel, before.message)
  if (message === null || squeezed(message.text) === squeezed(before.message.text)) return null
  return { request, head, before, message }
}

async function takeUp(x: Exchange, { request, head, before, message }: Edited): Promise<boolean> {
  const receipt = await reviseRequest(x, {
    requestId: request.id,
    kind: 'correction',
    text: message.text,
    onRevision: head,
    eventId: eventIdOf('edited', message.bot, message.messageId, digestOfText(message.text)),
    actor: { kind: 'person', bot: message.bot, openId: message.sender.openId },
  })
  if (receipt.outcome !== 'accepted' && receipt.outcome !== 'already-applied') return false
  // From now on these are its words: the same edit heard again is none.
  await rewriteMessage(x.db.sql, message.bot, { ...before, message })
  return true
}

/** Once for the same words. */
async function tell(x: Exchange, { request, message }: Edited, notice: Notice): Promise<void> {
  const place = placeOf(request)
  if (place === null) return
  await say(x, {
    causeKind: 'notice',
    causeId: `${notice.kind}-${message.messageId}-${digestOfText(message.text)}`,
    route: place,
    notice,
    language: (await conversationOf(x.db.sql, request.conversation))?.language ?? 'en',
    endsReceipt: null,
    request: request.id,
  })
}

/** Blanks and line ends are no words. */
function squeezed(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}
