import type { HistoryAsk, HistoryRead } from '../../collab/channel.js'
import type { IncomingMessage, TurnAuthority } from '../../collab/message.js'
import type { BotIdentity } from '../../collab/channel.js'
import type { BotId } from '../../collab/refs.js'
import { storable } from '../../lib/storable.js'
import { SECOND } from '../../lib/time.js'
import { unread } from '../egress/classify.js'
import type { ApiAnswer, LarkClient } from '../lark-api.js'
import { Fields } from './content/read.js'
import { toIncomingMessage } from './message.js'
import { rawFromRest } from './raw.js'

/** Lark: message/list, `page_size`. */
const PAGE = 50
/** A platform that names no wait, and one that gives no answer. */
const RATE_WAIT_MS = 2 * SECOND
const DOWN_WAIT_MS = 15 * SECOND

export interface HistoryParts {
  readonly bot: BotId
  readonly client: LarkClient
  readonly identity: () => BotIdentity | null
  readonly judge: (message: IncomingMessage) => TurnAuthority
}

/**
 * One page of what stands in a chat or a topic, converted and judged as if its event had just come.
 *
 * A chat takes times (whole seconds, both ends included) and is read from its oldest message on; a topic takes none, and
 * is read from its newest back. The chat container of an ordinary group holds no replies inside topics.
 *
 * @source Lark: message/list
 */
export async function readHistory(parts: HistoryParts, ask: HistoryAsk): Promise<HistoryRead> {
  const { chatId, threadId, chatType } = ask.place
  const container =
    threadId === null
      ? {
          container_id_type: 'chat',
          container_id: chatId,
          start_time: String(Math.floor(ask.from / SECOND)),
          end_time: String(Math.ceil(ask.until / SECOND)),
          sort_type: 'ByCreateTimeAsc',
        }
      : { container_id_type: 'thread', container_id: threadId, sort_type: 'ByCreateTimeDesc' }
  const answer = await parts.client.call({
    api: 'message.list',
    method: 'GET',
    path: '/open-apis/im/v1/messages',
    query: { ...container, page_size: String(PAGE), page_token: ask.page ?? undefined },
  })
  if (answer.got !== 'reply' || answer.code !== 0) return refusedBy(answer)
  const data = new Fields(answer.body).object('data')
  const items = data.list('items')
  const messages = items.flatMap((item) => {
    const raw = rawFromRest(item)
    if (!raw.ok || (raw.value.chatId !== '' && raw.value.chatId !== chatId)) return []
    const message = storable(
      toIncomingMessage({ ...raw.value, chatId, chatType }, { bot: parts.bot, self: parts.identity() }),
    )
    return message === undefined ? [] : [{ message, turnAuthority: parts.judge(message) }]
  })
  const times = items.flatMap((item) => new Fields(item).number('create_time') ?? [])
  const wholeWindow = threadId !== null && times.some((time) => time < ask.from)
  const token = data.string('page_token')
  const more = data.boolean('has_more') && !wholeWindow && token !== ''
  return { read: 'page', messages, next: more ? token : null }
}

function refusedBy(answer: ApiAnswer): HistoryRead {
  const because = unread('message.list', answer)
  if (because !== 'unavailable') return { read: 'refused', because: because === 'gone' ? 'gone' : 'not-permitted' }
  const wait = answer.got === 'reply' ? (answer.resetMs ?? RATE_WAIT_MS) : DOWN_WAIT_MS
  return { read: 'later', retryAfterMs: wait }
}
