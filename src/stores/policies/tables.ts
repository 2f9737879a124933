import { sql } from 'drizzle-orm'
import { index, integer, jsonb, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/** What one bot allows in a chat, one row per revision; `*` holds for all chats. Insert only: the newest one stands. */
export const chatPolicies = collab.table(
  'chat_policies',
  {
    bot: text().notNull(),
    chatId: text('chat_id').notNull(),
    revision: integer().notNull(),
    /** What this chat sets for itself; the rest comes from `*`. */
    settings: jsonb().notNull(),
    /** An owner's open id, or the operator as the door knows them. */
    setBy: text('set_by').notNull(),
    /** Whose own messages the setting of the owner's work is about; null: every owner's, an operator set it. */
    ownerWorkBy: text('owner_work_by'),
    setAt: instant('set_at').notNull(),
    /** The identity of the command: the same one again changes nothing. */
    eventId: text('event_id').notNull(),
  },
  (t) => [primaryKey({ columns: [t.bot, t.chatId, t.revision] }), uniqueIndex('one_policy_per_command').on(t.eventId)],
)

/** People whom an owner admitted to a chat, or with `*` to all. Insert, ended once. */
export const chatMembers = collab.table(
  'chat_members',
  {
    id: text().primaryKey(),
    bot: text().notNull(),
    chatId: text('chat_id').notNull(),
    openId: text('open_id').notNull(),
    tenantKey: text('tenant_key'),
    unionId: text('union_id'),
    /** Turns that may be started; null: without a count. */
    starts: integer(),
    until: instant('until'),
    admittedBy: text('admitted_by').notNull(),
    admittedAt: instant('admitted_at').notNull(),
    endedAt: instant('ended_at'),
    endedBy: text('ended_by'),
  },
  (t) => [index('chat_members_by_person').on(t.bot, t.openId), index('chat_members_by_chat').on(t.bot, t.chatId)],
)

/** Turns that a counted membership started. Insert only: the same message counts once. */
export const memberStarts = collab.table(
  'member_starts',
  { membership: text().notNull(), ingress: text().notNull() },
  (t) => [primaryKey({ columns: [t.membership, t.ingress] })],
)

/** Questions to an owner whether somebody may start work. Insert, answered once. */
export const admissionAsks = collab.table(
  'admission_asks',
  {
    id: text().primaryKey(),
    bot: text().notNull(),
    chatId: text('chat_id').notNull(),
    openId: text('open_id').notNull(),
    tenantKey: text('tenant_key'),
    unionId: text('union_id'),
    /** The owner who was asked. */
    owner: text().notNull(),
    askedAt: instant('asked_at').notNull(),
    answer: text(),
    answeredBy: text('answered_by'),
    answeredAt: instant('answered_at'),
  },
  (t) => [
    index('admission_asks_by_person').on(t.bot, t.openId, t.askedAt),
    index('admission_asks_by_owner').on(t.bot, t.owner, t.askedAt),
    uniqueIndex('one_open_ask_per_person')
      .on(t.bot, t.openId)
      .where(sql`${t.answer} is null`),
  ],
)
