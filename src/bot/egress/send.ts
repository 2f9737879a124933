import type { PartToSend, PlannedPart, SendReply, UploadReply } from '../../collab/channel.js'
import { must } from '../../lib/assert.js'
import { Fields } from '../ingress/content/read.js'
import type { ApiAnswer, ApiName, LarkClient } from '../lark-api.js'
import { unread, unsent } from './classify.js'
import { formOf } from './form.js'
import { FILE_LIMIT, IMAGE_LIMIT } from './plan.js'

const MESSAGES = '/open-apis/im/v1/messages'

/** The group has no replies in threads: its messages stand in the main flow. */
const NO_THREAD_REPLIES = 230071

/**
 * One message, sent once. A route with a trigger message is answered by replying to it, in a topic with
 * `reply_in_thread`; a plain quote stays in the main flow. A thread id is never a receive id: in a topic whose trigger
 * cannot be replied to, the answer hangs on the topic's root, or on another message of the same topic.
 *
 * More than one call is made only after an explicit refusal of the one before, with the same uuid.
 */
export async function send(client: LarkClient, part: PartToSend): Promise<SendReply> {
  const { route, threadRoot = null } = part
  if (route.replyTo !== null) return await reply(client, part, route.replyTo)
  if (route.threadId === null) return await create(client, part)
  if (threadRoot !== null) {
    const onRoot = await reply(client, part, threadRoot)
    if (onRoot.reply !== 'refused' || onRoot.because !== 'cannot-reply-here') return onRoot
  }
  const anchor = await threadAnchor(client, route.threadId)
  return typeof anchor === 'string' ? await reply(client, part, anchor) : anchor
}

async function create(client: LarkClient, part: PartToSend): Promise<SendReply> {
  const answer = await client.call({
    api: 'message.create',
    method: 'POST',
    path: MESSAGES,
    query: { receive_id_type: 'chat_id' },
    body: { receive_id: part.route.chatId, ...bodyOf(part) },
  })
  return taken('message.create', answer)
}

async function reply(client: LarkClient, part: PartToSend, to: string): Promise<SendReply> {
  const call = (inThread: boolean) =>
    client.call({
      api: 'message.reply',
      method: 'POST',
      path: `${MESSAGES}/:message_id/reply`,
      params: { message_id: to },
      body: { ...bodyOf(part), reply_in_thread: inThread },
    })
  const inThread = part.route.threadId !== null
  const answer = await call(inThread)
  // A message that stands in a thread keeps its answers there without being asked.
  const open = inThread && answer.got === 'reply' && answer.code === NO_THREAD_REPLIES
  return taken('message.reply', open ? await call(false) : answer)
}

function bodyOf({ msgType, content, uuid }: PartToSend) {
  return { msg_type: msgType, content, ...(uuid === null ? {} : { uuid }) }
}

/** Accepted is code 0 together with a message id; one without the other says nothing certain. */
function taken(api: ApiName, answer: ApiAnswer): SendReply {
  if (answer.got === 'reply' && answer.code === 0) {
    const messageId = new Fields(answer.body).object('data').string('message_id')
    if (messageId !== '') return { reply: 'taken', messageId }
  }
  return unsent(api, answer)
}

/** The first message of a topic that still stands. Nothing was sent yet, so a failed look is a wait, not a doubt. */
async function threadAnchor(client: LarkClient, threadId: string): Promise<string | SendReply> {
  const answer = await client.call({
    api: 'message.list',
    method: 'GET',
    path: MESSAGES,
    query: { container_id_type: 'thread', container_id: threadId, page_size: '50', sort_type: 'ByCreateTimeAsc' },
  })
  const gone: SendReply = { reply: 'refused', because: 'target-gone', code: null, detail: 'no message of the topic' }
  if (answer.got !== 'reply' || answer.code !== 0) {
    const because = unread('message.list', answer)
    if (because === 'gone') return { ...gone, code: answer.code }
    if (because === 'not-permitted') {
      return { reply: 'refused', because: 'not-permitted', code: answer.code, detail: 'the topic cannot be read' }
    }
    return { reply: 'later', because: 'channel-down', retryAfterMs: 15_000, code: answer.code }
  }
  const items = new Fields(answer.body).object('data').list('items')
  const standing = items.map((item) => new Fields(item)).find((item) => !item.boolean('deleted'))
  return standing?.string('message_id') || gone
}

/** Lark: file/create. A kind with its own viewer; audio and video as plain files, since they are sent as such. */
const fileTypes: Readonly<Record<string, string>> = {
  pdf: 'pdf',
  doc: 'doc',
  docx: 'doc',
  xls: 'xls',
  xlsx: 'xls',
  ppt: 'ppt',
  pptx: 'ppt',
}

/**
 * The bytes of a file part, streamed from where they are kept. Repeating it is harmless: an upload alone is seen by
 * nobody. Bytes of ours that cannot be read are refused like bytes that Lark does not take: waiting mends neither.
 */
export async function upload(
  client: LarkClient,
  part: PlannedPart,
  bytes: AsyncIterable<Uint8Array>,
): Promise<UploadReply> {
  const { fileName, digest, size } = must(part.file, 'the file of a file part')
  const isImage = part.msgType === 'image'
  if (size > (isImage ? IMAGE_LIMIT : FILE_LIMIT)) return refused('too-long', 'larger than the platform takes')
  if (size === 0) return refused('bad-format', 'the file is empty')
  const extension = /\.([^.]+)$/.exec(fileName)?.[1]?.toLowerCase() ?? ''
  const fields: Readonly<Record<string, string>> = isImage
    ? { image_type: 'message' }
    : {
        file_type: Object.hasOwn(fileTypes, extension) ? must(fileTypes[extension], 'file type') : 'stream',
        file_name: fileName,
      }
  const source = counted(bytes, size)
  const answer = await client.call({
    api: isImage ? 'image.upload' : 'file.upload',
    method: 'POST',
    path: isImage ? '/open-apis/im/v1/images' : '/open-apis/im/v1/files',
    form: formOf(fields, { field: isImage ? 'image' : 'file', fileName, digest, size, bytes: source.bytes }),
  })
  if (answer.got === 'reply' && answer.code === 0) {
    const key = new Fields(answer.body).object('data').string(isImage ? 'image_key' : 'file_key')
    if (key !== '') return { upload: 'stored', key }
  }
  if (answer.got === 'nothing' && source.broken()) return refused('bad-format', 'the stored bytes cannot be read')
  return unsent(isImage ? 'image.upload' : 'file.upload', answer)
}

function refused(because: 'too-long' | 'bad-format', detail: string): UploadReply {
  return { reply: 'refused', because, code: null, detail }
}

/** The same bytes, with a note when they broke off or were not as many as was told. */
function counted(
  bytes: AsyncIterable<Uint8Array>,
  size: number,
): { readonly bytes: AsyncIterable<Uint8Array>; broken(): boolean } {
  let broken = false
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let left = size
    try {
      for await (const piece of bytes) {
        left -= piece.byteLength
        if (left < 0) break
        yield piece
      }
    } catch (error) {
      broken = true
      throw error
    }
    if (left === 0) return
    broken = true
    throw new Error('the stored bytes are not as many as was told')
  }
  return { bytes: { [Symbol.asyncIterator]: pieces }, broken: () => broken }
}
