import type { Answer } from '../answer.js'
import { parseObject } from '../card-check.js'
import { no, ok, type Call, type Handler, type Platform } from '../platform.js'
import { isTooWide, sniffImage } from '../sniff.js'
import type { Message, Upload } from '../state.js'

const MB = 1024 * 1024
/** Source: image/create, file/create, get-message-resource. */
export const fileLimits = { image: 10 * MB, file: 30 * MB, download: 100 * MB } as const
const fileTypes = ['opus', 'mp4', 'pdf', 'doc', 'xls', 'ppt', 'stream']

/** POST images. Refusals: 234001 parameter, 234010 empty, 234006 too big, 234011 not an image we know,
 * 234039 a side too long. */
export const uploadImage: Handler = (platform, call) => {
  const part = call.form?.files['image']
  const type = call.form?.fields['image_type']
  if (part === undefined || (type !== 'message' && type !== 'avatar')) return no(platform, 234001)
  if (part.bytes.length === 0) return no(platform, 234010)
  if (part.bytes.length > fileLimits.image) return no(platform, 234006)
  if (sniffImage(part.bytes) === null) return no(platform, 234011)
  if (isTooWide(part.bytes)) return no(platform, 234039)
  return ok(platform, { image_key: keep(platform, part.bytes, 'image', 'image', part.fileName) })
}

/** POST files. Refusals: 234001 parameter, 234010 empty, 234006 too big. */
export const uploadFile: Handler = (platform, call) => {
  const part = call.form?.files['file']
  const { file_type: type = '', file_name: name = '' } = call.form?.fields ?? {}
  if (part === undefined || !fileTypes.includes(type) || name === '') return no(platform, 234001)
  if (part.bytes.length === 0) return no(platform, 234010)
  if (part.bytes.length > fileLimits.file) return no(platform, 234006)
  return ok(platform, { file_key: keep(platform, part.bytes, 'file', type, name) })
}

function keep(platform: Platform, bytes: Uint8Array, kind: Upload['kind'], fileType: string, fileName: string): string {
  const key = kind === 'image' ? platform.ids.imageKey() : platform.ids.fileKey()
  platform.state.uploads.set(key, { key, kind, fileType, fileName, bytes, by: 'bot', at: platform.clock.now() })
  return key
}

/** GET images/:key and files/:key give only what this app uploaded. */
export const getOwnUpload: Handler = (platform, call) => {
  const upload = platform.state.uploads.get(call.params['key'] ?? '')
  if (upload === undefined) return no(platform, 234001)
  return upload.by === 'bot' ? give(call, upload) : no(platform, 234008)
}

/** GET messages/:id/resources/:key?type=image|file: only a key that stands in that very message. */
export const getResource: Handler = (platform, call) => {
  const { messageId = '', key = '' } = call.params
  const type = call.url.searchParams.get('type')
  if (type !== 'image' && type !== 'file') return no(platform, 234001)
  const message = platform.state.messages.get(messageId)
  if (message === undefined) return no(platform, 234001)
  if (platform.state.chats.get(message.chatId)?.botInChat !== true) return no(platform, 234004)
  if (message.deleted || message.erased) return no(platform, 230110)
  if (['sticker', 'interactive', 'merge_forward', 'folder'].includes(message.msgType)) return no(platform, 234043)
  const upload = platform.state.uploads.get(key)
  if (upload === undefined || !keysOf(message).has(key)) return no(platform, 234003)
  if (type !== upload.kind) return no(platform, 234001)
  return upload.bytes.length > fileLimits.download ? no(platform, 234037) : give(call, upload)
}

/** Every image or file key in the content, wherever it stands. */
function keysOf(message: Message): Set<string> {
  const keys = new Set<string>()
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(walk)
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value))
        if ((name === 'image_key' || name === 'file_key') && typeof member === 'string') keys.add(member)
        else walk(member)
  }
  walk(parseObject(message.shown))
  return keys
}

/** The bytes, or the part a Range header asks for. */
function give(call: Call, upload: Upload): Answer {
  const { bytes } = upload
  const type = upload.kind === 'image' ? `image/${sniffImage(bytes) ?? 'png'}` : 'application/octet-stream'
  const headers: Record<string, string> = {
    'content-type': type,
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(upload.fileName)}`,
    'accept-ranges': 'bytes',
  }
  const range = /^bytes=(\d+)-(\d*)$/.exec(call.request.headers.get('range') ?? '')
  if (range === null) return { code: 0, response: new Response(Uint8Array.from(bytes), { headers }) }
  const from = Number(range[1])
  const to = range[2] === '' ? bytes.length - 1 : Math.min(Number(range[2]), bytes.length - 1)
  headers['content-range'] = `bytes ${from}-${to}/${bytes.length}`
  return { code: 0, response: new Response(Uint8Array.from(bytes.subarray(from, to + 1)), { status: 206, headers }) }
}
