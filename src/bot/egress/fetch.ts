import type { Fetched } from '../../collab/channel.js'
import type { IncomingMessage } from '../../collab/message.js'
import { Fields, timeText } from '../ingress/content/read.js'
import { toIncomingMessage, type MessageContext } from '../ingress/message.js'
import { rawFromRest, type RawMessage } from '../ingress/raw.js'
import type { LarkClient } from '../lark-api.js'
import { unread } from './classify.js'

/** Lark: get-message-resource. */
const DOWNLOAD_LIMIT = 100 * 1024 * 1024

/** Lark: get-message. The chat type is not told: a caller that knows the conversation uses its own. */
export async function fetchMessage(
  client: LarkClient,
  messageId: string,
  context: MessageContext,
): Promise<Fetched<IncomingMessage>> {
  const read = await fetchItems(client, messageId)
  if (!read.fetched) return read
  const [raw] = read.value
  if (raw === undefined || raw.messageId !== messageId) return { fetched: false, because: 'mismatch' }
  if (raw.deleted) return { fetched: false, because: 'gone' }
  return { fetched: true, value: toIncomingMessage(raw, context) }
}

/**
 * The messages inside a forwarded bundle, one after the other, a bundle inside it indented. One call gives them all;
 * asking for an inner bundle is refused, since we are outside its chat. Their files cannot be fetched.
 */
export async function fetchBundle(
  client: LarkClient,
  messageId: string,
  context: MessageContext,
): Promise<Fetched<string>> {
  const read = await fetchItems(client, messageId)
  if (!read.fetched) return read
  const [bundle, ...inside] = read.value
  if (bundle === undefined || bundle.messageId !== messageId) return { fetched: false, because: 'mismatch' }
  if (bundle.deleted) return { fetched: false, because: 'gone' }
  const depthOf = new Map([[bundle.messageId, -1]])
  const blocks = inside.map((raw) => {
    const depth = (depthOf.get(raw.upperId ?? bundle.messageId) ?? -1) + 1
    depthOf.set(raw.messageId, depth)
    const inner = toIncomingMessage(raw, context)
    // Their keys belong to a chat that we are not in: a reader is told, so that nobody waits for them.
    const unfetched = inner.attachments.length === 0 ? '' : '\n(files of forwarded messages cannot be fetched)'
    const text = (inner.text || '[no text]') + unfetched
    const head = [raw.sender.openId, timeText(raw.createTimeMs)].filter((part) => part !== '').join(', ')
    const indent = '  '.repeat(depth)
    return [`${head}:`, ...text.split('\n')].map((line) => indent + line).join('\n')
  })
  return { fetched: true, value: blocks.join('\n\n') }
}

async function fetchItems(client: LarkClient, messageId: string): Promise<Fetched<readonly RawMessage[]>> {
  const answer = await client.call({
    api: 'message.get',
    method: 'GET',
    path: '/open-apis/im/v1/messages/:message_id',
    params: { message_id: messageId },
  })
  if (answer.got !== 'reply' || answer.code !== 0) return { fetched: false, because: unread('message.get', answer) }
  const items = new Fields(answer.body).object('data').list('items').map(rawFromRest)
  return { fetched: true, value: items.flatMap((item) => (item.ok ? [item.value] : [])) }
}

/** The bytes of a file in a message, streamed. */
export async function download(
  client: LarkClient,
  messageId: string,
  key: string,
  kind: 'image' | 'file',
): Promise<Fetched<{ readonly bytes: AsyncIterable<Uint8Array>; readonly fileName: string | null }>> {
  const answer = await client.stream({
    api: 'resource.get',
    method: 'GET',
    path: '/open-apis/im/v1/messages/:message_id/resources/:file_key',
    params: { message_id: messageId, file_key: key },
    query: { type: kind },
  })
  if (answer.got !== 'stream') return { fetched: false, because: unread('resource.get', answer) }
  if (answer.size !== null && answer.size > DOWNLOAD_LIMIT) {
    answer.cancel()
    return { fetched: false, because: 'too-large' }
  }
  return { fetched: true, value: { bytes: answer.bytes, fileName: answer.fileName } }
}
