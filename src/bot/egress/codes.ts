import type { SendRefusal } from '../../collab/channel.js'
import type { ApiName } from '../lark-api.js'

/**
 * What a code of the platform means for us, before it is told in the words of one port.
 * `unknown-outcome`: it may have taken effect. `busy`: the same request is still being worked on.
 */
export type CodeClass =
  | SendRefusal
  | 'rate-limit'
  | 'unknown-outcome'
  | 'busy'
  | 'token'
  | 'quota'
  | 'paused'
  | 'message-gone'
  | 'unknown-emoji'
  | 'reaction-gone'
  | 'too-large'
  | 'unsupported'

/** One number of one or several calls: what the platform says by it, where that is written, what it means here. */
export interface CodeRow {
  readonly code: number
  readonly says: string
  readonly apis: readonly ApiName[]
  readonly meaning: CodeClass
  readonly source: string
}

const names: Readonly<Record<ApiName, true>> = {
  token: true,
  'bot.info': true,
  'message.create': true,
  'message.reply': true,
  'message.patch': true,
  'message.get': true,
  'message.list': true,
  'reaction.create': true,
  'reaction.delete': true,
  'reaction.list': true,
  'image.upload': true,
  'file.upload': true,
  'resource.get': true,
}
const everywhere = Object.keys(names) as readonly ApiName[]
const sending = ['message.create', 'message.reply'] as const
const saying = [...sending, 'message.patch'] as const
const reading = ['message.get', 'message.list'] as const
const reacting = ['reaction.create', 'reaction.delete', 'reaction.list'] as const
const uploading = ['image.upload', 'file.upload'] as const
const files = [...uploading, 'resource.get'] as const

function rows(
  source: string,
  apis: readonly ApiName[],
  meaning: CodeClass,
  codes: Readonly<Record<number, string>>,
): readonly CodeRow[] {
  return Object.entries(codes).map(([code, says]) => ({ code: Number(code), says, apis, meaning, source }))
}

const generic = 'api-call-guide, generic error codes'
const limits = 'api-call-guide, rate limits'
const message = 'im-v1/message/create and reply, error table'
const reply = 'im-v1/message/reply, error table'
const patch = 'im-v1/message-card/patch, error table'
const read = 'im-v1/message/get-message and list, error tables'
const reaction = 'im-v1/message-reaction, error tables'
const file = 'im-v1/image, file and get-message-resource, error tables'

/**
 * Every code that a call of ours can get, once for each call. The same number means different things for different
 * calls (230001, 230002, 230011, 230071 to 230075), so it stands with the calls that it is meant for. Codes of calls
 * that we do not make (forward, recall, urgent, CardKit) are not here.
 */
export const codeTable: readonly CodeRow[] = [
  ...rows(limits, everywhere, 'rate-limit', {
    99991400: 'gateway limit, with the header that names the wait',
    230020: 'limit of one chat, shared by its bots',
    11232: 'system limit of the older calls',
    11233: 'chat limit of the older calls',
  }),
  ...rows(limits, everywhere, 'quota', { 99991403: 'monthly quota used up' }),
  ...rows(generic, everywhere, 'paused', { 232096: 'writes are paused' }),
  ...rows(generic, everywhere, 'unknown-outcome', { 2200: 'internal error or timeout on their side' }),
  ...rows(generic, everywhere, 'token', {
    99991661: 'token missing',
    99991663: 'tenant token invalid',
    99991664: 'app token invalid',
    99991665: 'token invalid',
    99991671: 'token of a bad format',
  }),
  ...rows(generic, everywhere, 'not-permitted', { 99991672: 'scope of the app missing' }),
  ...rows(generic, everywhere, 'configuration', {
    99991668: 'user token invalid',
    99991677: 'user token expired',
    99991679: 'scope of the user missing',
    99991662: 'app not in use in this tenant',
    99991673: 'app not available in this tenant',
    99991401: 'address of the caller not allowed',
    99991543: 'app id or secret wrong',
    10003: 'bad parameter',
    10014: 'app disabled',
    230006: 'bot ability off',
    234007: 'bot ability off',
  }),
  ...rows(generic, everywhere, 'target-gone', {
    99992351: 'open_id unknown',
    99992361: 'open_id of another app',
    234004: 'bot not in the chat',
  }),
  ...rows(generic, everywhere, 'bad-format', { 99992402: 'field validation' }),

  ...rows(message, saying, 'bad-format', {
    230001: 'bad parameter or content',
    230017: 'not the owner of the key',
    230054: 'message type unsupported',
    230055: 'upload does not fit the message type',
    230099: 'card refused; the cause is an ErrCode in the sentence',
  }),
  ...rows(message, sending, 'bad-format', { 230012: 'not the sender of the key' }),
  ...rows(message, saying, 'too-long', { 230025: 'content too long' }),
  ...rows(message, saying, 'content-audit', {
    230022: 'sensitive words',
    230028: 'refused by the audit of the tenant (DLP)',
  }),
  ...rows(message, saying, 'busy', { 230049: 'being sent' }),
  ...rows(message, saying, 'target-gone', {
    230002: 'bot not in the group',
    230013: 'person outside the range of the app, or resigned',
    230029: 'person has resigned',
    230034: 'receive_id wrong',
    230036: 'tenant deleted',
    230053: 'person stopped the bot',
    232009: 'chat dissolved',
  }),
  ...rows(message, saying, 'not-permitted', {
    230015: 'nothing of another group in a direct chat',
    230018: 'rules of the group',
    230027: 'no permission, or an external chat',
    230035: 'muted or blocked',
    230038: 'direct chat of another tenant',
    230050: 'invisible to the app',
    230075: 'encrypted chat',
  }),
  // Explicit words that this place cannot be replied to; nothing else may lead to a new message there.
  ...rows(reply, ['message.reply'], 'cannot-reply-here', {
    230011: 'message withdrawn',
    230019: 'thread gone',
    230071: 'no replies in threads in this group',
    230072: 'aggregated message',
    230110: 'message deleted',
    230111: 'message destroyed itself',
    231003: 'message missing or withdrawn',
    99992354: 'message id unknown',
  }),
  ...rows(patch, ['message.patch'], 'target-gone', {
    230011: 'message withdrawn',
    230110: 'message deleted',
    230111: 'message destroyed itself',
    99992354: 'message id unknown',
  }),
  ...rows(patch, ['message.patch'], 'not-permitted', {
    230012: 'not the sender',
    230031: 'card older than 14 days',
    300302: 'card not shared by all readers',
  }),

  ...rows(read, reading, 'message-gone', {
    230011: 'message withdrawn',
    230019: 'thread gone',
    230110: 'message deleted',
    230111: 'message destroyed itself',
    99992354: 'message id unknown',
  }),
  ...rows(read, reading, 'not-permitted', {
    230001: 'container not readable',
    230002: 'bot not in the group',
    230027: 'no permission, or an external chat',
    230050: 'invisible to the app',
    230073: 'thread invisible',
    232009: 'chat dissolved',
  }),
  ...rows(read, reading, 'unsupported', {
    231203: 'type of the chat unsupported',
    231204: 'type of the app unsupported',
  }),

  ...rows(reaction, reacting, 'unknown-emoji', { 231001: 'emoji unknown' }),
  ...rows(reaction, reacting, 'message-gone', {
    231003: 'message missing or withdrawn',
    231004: 'chat gone',
    231005: 'thread removed',
    232009: 'chat dissolved',
    230002: 'bot not in the group',
    230011: 'message withdrawn',
    230110: 'message deleted',
    99992354: 'message id unknown',
  }),
  ...rows(reaction, reacting, 'not-permitted', {
    231002: 'may not react, not in the chat',
    231007: 'reaction of somebody else',
    231008: 'no access to the message',
    231017: 'type of the message unsupported',
    231018: 'message invisible',
    231019: 'limit of the person',
    231020: 'limit of the tenant',
    231021: 'external chat',
    231022: 'outside the range of the app',
    230027: 'no permission, or an external chat',
    230050: 'invisible to the app',
  }),
  ...rows(reaction, reacting, 'reaction-gone', {
    231010: 'reaction of another message',
    231011: 'reaction id unknown',
  }),
  ...rows(reaction, reacting, 'busy', { 231015: 'the same request is being worked on' }),

  ...rows(file, files, 'bad-format', {
    234001: 'bad parameter',
    234010: 'file empty',
    234011: 'format of the picture unsupported',
    234039: 'resolution of the picture too high',
  }),
  ...rows(file, files, 'too-large', { 234006: 'file too large', 234037: 'larger than 100 MB' }),
  ...rows(file, files, 'not-permitted', {
    234002: 'not authorised',
    234009: 'external chat',
    234019: 'tenant check',
    234038: 'restricted mode',
    234040: 'message invisible',
    230027: 'no permission, or an external chat',
    230050: 'invisible to the app',
  }),
  ...rows(file, files, 'message-gone', {
    234003: 'file not in that message',
    234041: 'key deleted',
    230011: 'message withdrawn',
    230110: 'message deleted',
    99992354: 'message id unknown',
  }),
  ...rows(file, files, 'unsupported', { 234043: 'type of the message unsupported (sticker, card, bundle)' }),
  ...rows(file, files, 'unknown-outcome', { 234042: 'storage' }),
]

const index: ReadonlyMap<string, CodeClass> = new Map(
  codeTable.flatMap((row) => row.apis.map((api) => [`${api} ${row.code}`, row.meaning] as const)),
)

/** Null for a number that no row has for this call. */
export function classOf(api: ApiName, code: number): CodeClass | null {
  return index.get(`${api} ${code}`) ?? null
}

/** The sentence of an answer without a number: a withdrawn target is known by its words alone. */
export function classOfWords(api: ApiName, words: string): CodeClass | null {
  return /\bmessage (?:was|has been) (?:withdrawn|recalled|deleted)\b|消息已(?:被)?(?:撤回|删除)/iu.test(words)
    ? classOf(api, 230011)
    : null
}
