import { z } from 'zod'

/** A person or bot named in a message, before we know which of them is this bot. */
export interface RawMention {
  /** The placeholder in the text, such as `@_user_1`. */
  readonly key: string
  readonly openId: string | null
  /** A bot is sometimes named by its app id. */
  readonly appId: string | null
  readonly name: string
  readonly isBot: boolean
}

/** One message as the provider tells it, the same from an event and from a read-back. */
export interface RawMessage {
  readonly messageId: string
  readonly chatId: string
  readonly chatType: 'p2p' | 'group'
  readonly threadId: string | null
  readonly rootId: string | null
  readonly parentId: string | null
  readonly createTimeMs: number
  /** Its sender has edited it since; only in a read-back. */
  readonly edited: boolean
  readonly messageType: string
  /** JSON text; empty when the message was withdrawn before it reached us. */
  readonly content: string
  readonly deleted: boolean
  readonly sender: {
    readonly openId: string
    readonly unionId: string | null
    readonly type: 'user' | 'bot'
    readonly tenantKey: string | null
  }
  readonly mentions: readonly RawMention[]
  /** The bundle that a forwarded message stands in; only in a read-back of a bundle. */
  readonly upperId: string | null
}

/** What was read, or the first field that was not as documented. */
export type Shaped<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly field: string }

/** Ids become parts of paths, keys and log lines; so do names of types. */
export const id = z.string().regex(/^(?!\.+$)[\w.:@=+~-]{1,200}$/)
export const typeName = z.string().regex(/^[\w.:-]{1,100}$/)
const optional = z.string().nullish()
const instant = z.union([z.string().regex(/^\d{1,15}$/), z.number().int().nonnegative().max(8e15)]).transform(Number)
/** Null when nobody can tell: such a message is as old as its arrival. */
const maybeInstant = instant.nullish().catch(null)
const ids = z.object({ open_id: optional, union_id: optional, app_id: optional })

const eventMention = z.object({
  key: z.string(),
  id: z.union([ids, z.string()]).nullish(),
  id_type: optional,
  mentioned_type: optional,
  name: optional,
})

/** Lark: im.message.receive_v1. */
const eventShape = z.object({
  sender: z.object({
    sender_id: ids.nullish(),
    sender_type: optional,
    tenant_key: optional,
  }),
  message: z.object({
    message_id: id,
    root_id: optional,
    parent_id: optional,
    thread_id: optional,
    create_time: maybeInstant,
    chat_id: id,
    chat_type: z.string(),
    message_type: typeName,
    content: optional,
    mentions: z.array(eventMention).max(1000).nullish(),
  }),
})

/** Lark: get-message and list, one item. */
const restShape = z.object({
  message_id: id,
  root_id: optional,
  parent_id: optional,
  thread_id: optional,
  upper_message_id: optional,
  msg_type: typeName,
  create_time: maybeInstant,
  updated: z.boolean().nullish(),
  deleted: z.boolean().nullish(),
  chat_id: optional,
  sender: z.object({ id: optional, id_type: optional, sender_type: optional, tenant_key: optional }).nullish(),
  body: z.object({ content: optional }).nullish(),
  mentions: z.array(eventMention).max(1000).nullish(),
})

/**
 * The `event` object of im.message.receive_v1.
 *
 * @param receivedAt stands for a missing or unreadable time of writing: such a message counts as fresh
 */
export function rawFromEvent(event: unknown, receivedAt: number): Shaped<RawMessage> {
  const parsed = eventShape.safeParse(event)
  if (!parsed.success) return { ok: false, field: fieldOf(parsed.error) }
  const { sender, message } = parsed.data
  const isPerson = isUser(sender.sender_type)
  const openId = text(sender.sender_id?.open_id) ?? text(sender.sender_id?.app_id)
  // The platform's own messages may come from nobody; a person without an id is a broken event.
  if (openId === null && isPerson && message.message_type !== 'system') {
    return { ok: false, field: 'sender.sender_id.open_id' }
  }
  return {
    ok: true,
    value: {
      messageId: message.message_id,
      chatId: message.chat_id,
      // Anything but p2p is a group: `topic_group` is seen in the wild (Lark: receive, chat_type).
      chatType: message.chat_type === 'p2p' ? 'p2p' : 'group',
      threadId: text(message.thread_id),
      rootId: text(message.root_id),
      parentId: text(message.parent_id),
      createTimeMs: message.create_time ?? receivedAt,
      edited: false,
      messageType: message.message_type,
      content: message.content ?? '',
      deleted: false,
      sender: {
        openId: openId ?? '',
        unionId: text(sender.sender_id?.union_id),
        type: isPerson ? 'user' : 'bot',
        tenantKey: text(sender.tenant_key),
      },
      mentions: (message.mentions ?? []).map(mention),
      upperId: null,
    },
  }
}

/**
 * One item of a read-back. It does not say whether the chat is private, so it counts as a group, the stricter of
 * the two; a caller that knows the conversation uses its own.
 */
export function rawFromRest(item: unknown): Shaped<RawMessage> {
  const parsed = restShape.safeParse(item)
  if (!parsed.success) return { ok: false, field: fieldOf(parsed.error) }
  const read = parsed.data
  return {
    ok: true,
    value: {
      messageId: read.message_id,
      chatId: read.chat_id ?? '',
      chatType: 'group',
      threadId: text(read.thread_id),
      rootId: text(read.root_id),
      parentId: text(read.parent_id),
      createTimeMs: read.create_time ?? 0,
      edited: read.updated === true,
      messageType: read.msg_type,
      content: read.body?.content ?? '',
      deleted: read.deleted === true,
      sender: {
        openId: read.sender?.id ?? '',
        unionId: null,
        type: isUser(read.sender?.sender_type) ? 'user' : 'bot',
        tenantKey: text(read.sender?.tenant_key),
      },
      mentions: (read.mentions ?? []).map(mention),
      upperId: text(read.upper_message_id),
    },
  }
}

/** An event holds an object of ids, a read-back holds one string and says which kind it is. */
function mention(raw: z.infer<typeof eventMention>): RawMention {
  const name = raw.name ?? ''
  if (typeof raw.id === 'string') {
    const isApp = raw.id_type === 'app_id' || raw.id.startsWith('cli_')
    return {
      key: raw.key,
      openId: isApp ? null : text(raw.id),
      appId: isApp ? raw.id : null,
      name,
      isBot: isApp || raw.mentioned_type === 'bot',
    }
  }
  return {
    key: raw.key,
    openId: text(raw.id?.open_id),
    appId: text(raw.id?.app_id),
    name,
    isBot: raw.mentioned_type === 'bot' || text(raw.id?.app_id) !== null,
  }
}

/** `bot`, `app`, `anonymous` and whatever comes later are not people. */
function isUser(senderType: string | null | undefined): boolean {
  return (text(senderType) ?? 'user') === 'user'
}

function text(value: string | null | undefined): string | null {
  return value === undefined || value === '' ? null : value
}

/** Where the first fault is, as a path of field names; never a value. */
export function fieldOf(error: z.ZodError): string {
  const path = error.issues[0]?.path ?? []
  return path.length === 0 ? 'body' : path.map(String).join('.')
}
