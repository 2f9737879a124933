import type { IncomingMessage } from '../../collab/message.js'
import type { BotIdentity } from '../../collab/channel.js'
import type { BotId, Instant } from '../../collab/refs.js'
import * as media from './content/media.js'
import * as others from './content/others.js'
import { card, post } from './content/post.js'
import { Fields, type Content, type Converter } from './content/read.js'
import { redPacket, text } from './content/text.js'
import { mentionsOf, replaceTokens, type Mentions } from './mentions.js'
import type { RawMessage } from './raw.js'

export interface MessageContext {
  readonly bot: BotId
  /** Null until the platform has said who we are: then nothing counts as our own mention but the app id. */
  readonly self: BotIdentity | null
}

/** Lark: message_content. */
const converters: ReadonlyMap<string, Converter> = new Map([
  ['text', text],
  ['post', post],
  ['image', media.image],
  ['file', media.file],
  ['folder', media.folder],
  ['audio', media.audio],
  ['media', media.media],
  ['sticker', media.sticker],
  ['interactive', card],
  ['merge_forward', others.mergeForward],
  ['nonsupport', others.nonsupport],
  ['share_chat', others.shareChat],
  ['share_user', others.shareUser],
  ['location', others.location],
  ['system', others.system],
  ['todo', others.todo],
  ['vote', others.vote],
  ['hongbao', redPacket],
  ['video_chat', others.meeting],
  ['share_calendar_event', others.calendar],
  ['calendar', others.calendar],
  ['general_calendar', others.calendar],
])

/** One message in our own words. Pure; never throws. */
export function toIncomingMessage(raw: RawMessage, context: MessageContext): IncomingMessage {
  const mentions = mentionsOf(raw.mentions, context)
  const recalled = raw.deleted || raw.content === ''
  // `nonsupport` may come without content and is still to be read back, not withdrawn.
  const read = raw.content === '' && raw.messageType === 'nonsupport' && !raw.deleted
  const content = recalled && !read ? { text: '' } : convert(raw, mentions)
  return {
    bot: context.bot,
    messageId: raw.messageId,
    chatId: raw.chatId,
    chatType: raw.chatType,
    threadId: raw.threadId,
    rootId: raw.rootId,
    parentId: raw.parentId,
    sender: ownSender(raw, context),
    createTime: raw.createTimeMs as Instant,
    messageType: raw.messageType,
    text: content.text,
    mentions: mentions.list,
    mentionsSelf: mentions.mentionsSelf(),
    mentionsAll: mentions.mentionsAll(),
    attachments: content.attachments ?? [],
    expand: content.expand ?? null,
    ...(raw.edited ? { edited: true } : {}),
    recalled: recalled && !read,
    unknown: content.unknown ?? [],
  }
}

/**
 * The same message once we know who we are: a group message that came before that is judged as if it had just come.
 * Placeholders are names by then, so our own is taken out by its name.
 */
export function withIdentity(message: IncomingMessage, self: BotIdentity): IncomingMessage {
  const ours = message.mentions.filter((one) => one.openId === self.openId)
  if (ours.length === 0) return message
  const names = ours.map((one) => `@${one.name}`).filter((name) => name !== '@')
  return {
    ...message,
    text: replaceTokens(message.text, names, () => ''),
    mentions: message.mentions.map((one) => (ours.includes(one) ? { ...one, isBot: true, isSelf: true } : one)),
    mentionsSelf: true,
  }
}

function convert(raw: RawMessage, mentions: Mentions): Content {
  const converter = converters.get(raw.messageType) ?? others.unknownType(raw.messageType.slice(0, 60))
  const parsed = parse(raw.content)
  // A bundle's own content is one plain sentence in a read-back; its converter does not read it.
  if (parsed === null && raw.messageType !== 'merge_forward' && raw.messageType !== 'nonsupport') {
    return { text: mentions.inText(raw.content), unknown: [`content of ${raw.messageType.slice(0, 60)}`] }
  }
  return converter(parsed ?? new Fields(null), mentions)
}

function parse(content: string): Fields | null {
  try {
    const value: unknown = JSON.parse(content)
    return value !== null && typeof value === 'object' ? new Fields(value) : null
  } catch {
    return null
  }
}

/** A read-back names a bot by its app id; ours becomes the open id that events use. */
function ownSender(raw: RawMessage, context: MessageContext): IncomingMessage['sender'] {
  if (raw.sender.openId !== context.bot || context.self === null) return raw.sender
  return { ...raw.sender, openId: context.self.openId }
}
