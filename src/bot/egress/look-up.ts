import type { LookUp, PartToSend, ReadBack } from '../../collab/channel.js'
import type { BotId, Instant } from '../../collab/refs.js'
import { MINUTE, SECOND } from '../../lib/time.js'
import { Fields } from '../ingress/content/read.js'
import type { LarkClient } from '../lark-api.js'
import { unread } from './classify.js'
import { comparable, comparableOf } from './comparable.js'

/** A message may become visible so long after the call that sent it. */
const SETTLE_MS = MINUTE
/** How far the platform's clock may stand from ours. */
const SKEW_MS = 2 * SECOND
const MOST_PAGES = 40

/** Is the message that we were told of the one we sent, where we sent it? (Lark: get-message) */
export async function readBack(
  client: LarkClient,
  bot: BotId,
  messageId: string,
  sent: PartToSend,
  plain: string | null,
): Promise<ReadBack> {
  const answer = await client.call({
    api: 'message.get',
    method: 'GET',
    path: '/open-apis/im/v1/messages/:message_id',
    params: { message_id: messageId },
  })
  if (answer.got !== 'reply' || answer.code !== 0) {
    const because = unread('message.get', answer)
    if (because === 'gone') return { found: 'different', because: 'deleted' }
    return { found: 'unknown', because: because === 'not-permitted' ? 'not-permitted' : 'unavailable' }
  }
  const item = new Fields(new Fields(answer.body).object('data').list('items')[0])
  if (item.string('message_id') !== messageId) return { found: 'unknown', because: 'unavailable' }
  if (item.boolean('deleted')) return { found: 'different', because: 'deleted' }
  if (item.object('sender').string('id') !== bot) return { found: 'different', because: 'other-sender' }
  const { chatId, threadId } = sent.route
  // In a topic group an answer outside a known topic still gets a thread of its own.
  if (item.string('chat_id') !== chatId || (threadId !== null && item.string('thread_id') !== threadId)) {
    return { found: 'different', because: 'other-place' }
  }
  if (item.string('msg_type') !== sent.msgType) return { found: 'different', because: 'other-type' }
  if (plain === null) return { found: 'as-sent' }
  const read = comparableOf(sent.msgType, item.object('body').string('content'))
  return read === comparable(plain) ? { found: 'as-sent' } : { found: 'different', because: 'other-content' }
}

/**
 * What became of a send whose answer was lost. The platform does not give the uuid back, so the message is matched by
 * sender, type, time and text, and a reply by what it replies to.
 *
 * @param window start and end of the attempt, by our clock
 */
export async function lookUp(
  client: LarkClient,
  bot: BotId,
  now: number,
  sent: PartToSend,
  plain: string | null,
  window: { readonly from: Instant; readonly to: Instant },
): Promise<LookUp> {
  const listed = await listWindow(client, sent, window.from - SKEW_MS, window.to + SETTLE_MS)
  if (!Array.isArray(listed)) return listed
  const ours = listed.filter(
    (item) => item.object('sender').string('id') === bot && item.string('msg_type') === sent.msgType,
  )
  // A message of ours that was recalled meanwhile has lost its text: it may have been this one.
  const blank = ours.some((item) => item.boolean('deleted'))
  const standing = ours.filter((item) => !item.boolean('deleted'))
  const text = plain === null ? null : comparable(plain)
  const matching =
    text === null
      ? standing
      : standing.filter((item) => comparableOf(sent.msgType, item.object('body').string('content')) === text)
  const { replyTo, threadId } = sent.route
  const onTarget = matching.filter((item) => replyTo !== null && item.string('parent_id') === replyTo)
  // A reply outside a topic always names its parent, so one without it is another message.
  const candidates = onTarget.length > 0 ? onTarget : replyTo !== null && threadId === null ? [] : matching
  const [only] = candidates
  // Equal texts to the same target are one and the same answer to a reader; files are told apart by nothing.
  if (only !== undefined && (candidates.length === 1 || (text !== null && onTarget.length > 0))) {
    return { looked: 'found', messageId: only.string('message_id') }
  }
  if (candidates.length > 1 || blank) return { looked: 'incomplete', because: 'no-content-to-match' }
  if (now < window.to + SETTLE_MS) return { looked: 'incomplete', because: 'too-early' }
  return { looked: 'absent' }
}

/**
 * Every message of the right container in that time. In ordinary groups the chat container holds no thread replies; a
 * thread container takes no times, so it is read from its newest message back. (Lark: message/list)
 */
async function listWindow(
  client: LarkClient,
  sent: PartToSend,
  fromMs: number,
  toMs: number,
): Promise<Fields[] | Extract<LookUp, { looked: 'incomplete' }>> {
  const { chatId, threadId } = sent.route
  const query =
    threadId === null
      ? {
          container_id_type: 'chat',
          container_id: chatId,
          // Whole seconds, both ends included.
          start_time: String(Math.floor(fromMs / 1000)),
          end_time: String(Math.ceil(toMs / 1000)),
          sort_type: 'ByCreateTimeAsc',
        }
      : { container_id_type: 'thread', container_id: threadId, sort_type: 'ByCreateTimeDesc' }
  const found: Fields[] = []
  let pageToken: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await client.call({
      api: 'message.list',
      method: 'GET',
      path: '/open-apis/im/v1/messages',
      query: { ...query, page_size: '50', page_token: pageToken },
    })
    if (answer.got !== 'reply' || answer.code !== 0) {
      const because = unread('message.list', answer)
      return { looked: 'incomplete', because: because === 'unavailable' ? 'unavailable' : 'not-permitted' }
    }
    const data = new Fields(answer.body).object('data')
    const items = data.list('items').map((item) => new Fields(item))
    const times = items.map((item) => item.number('create_time') ?? Number.NaN)
    found.push(...items.filter((_, at) => inside(times[at] ?? Number.NaN, fromMs, toMs)))
    const pastStart = threadId !== null && times.some((time) => time < fromMs)
    if (!data.boolean('has_more') || pastStart) return found
    pageToken = data.string('page_token')
    if (pageToken === '') return { looked: 'incomplete', because: 'unavailable' }
  }
  return { looked: 'incomplete', because: 'unavailable' }
}

function inside(time: number, fromMs: number, toMs: number): boolean {
  return time >= fromMs && time <= toMs
}
