import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/**
 * One per cause and route. `source` says what to render: the digest of a text, a notice, files.
 * `planned_at` is set with the part rows, `settled_at` and `outcome` when nothing more will be tried by itself.
 */
export const deliveries = collab.table(
  'deliveries',
  {
    id: text().primaryKey(),
    causeKind: text('cause_kind').notNull(),
    causeId: text('cause_id').notNull(),
    routeKey: text('route_key').notNull(),
    route: jsonb().notNull(),
    bot: text().notNull(),
    request: text(),
    /** Place among the answers of its request, from 1; null for what is no answer. */
    ordinal: integer(),
    source: jsonb().notNull(),
    createdAt: instant('created_at').notNull(),
    plannedAt: instant('planned_at'),
    settledAt: instant('settled_at'),
    outcome: text(),
  },
  (t) => [
    uniqueIndex('one_delivery_per_cause_and_route').on(t.causeKind, t.causeId, t.routeKey),
    index('deliveries_of_request').on(t.request),
    index('deliveries_newest').on(t.createdAt.desc(), t.id.desc()),
    index('deliveries_stopped')
      .on(t.createdAt.desc(), t.id.desc())
      .where(sql`${t.outcome} in ('failed', 'parked')`),
    // Notices that ask for a choice, with the kinds as the reader in `stores/choices` names them.
    index('deliveries_asking')
      .on(t.bot, t.createdAt.desc())
      .where(
        sql`${t.source} #>> '{notice,kind}' in ('late-held', 'backlog-held', 'stopped', 'nothing-running', 'fresh-context', 'result-withheld')`,
      ),
    index('deliveries_open')
      .on(t.createdAt)
      .where(sql`${t.settledAt} is null`),
  ],
)

/**
 * One message to be sent; planned once. `(index, sub_index)` is the place in the delivery: a smaller or plainer row
 * that replaces a refused one stands at the same index with the next sub_index.
 */
export const deliveryParts = collab.table(
  'delivery_parts',
  {
    delivery: text()
      .notNull()
      .references(() => deliveries.id),
    index: integer().notNull(),
    subIndex: integer('sub_index').notNull(),
    /** digest(delivery, index, msg_type, content): never the target or the text alone. */
    key: text().notNull(),
    msgType: text('msg_type').notNull(),
    content: text().notNull(),
    bytes: integer().notNull(),
    plain: text(),
    file: jsonb(),
    renderer: text().notNull(),
    /** What it is written from, for a plainer form or smaller pieces; null: there are none. */
    source: jsonb(),
    /** The sub_index of the refused row that it stands for, in the same place; null for a row of the plan. */
    replaces: integer(),
    /** Sent as a new message, because what it answers cannot be replied to. */
    detached: boolean().notNull().default(false),
    /** planned, sending, accepted, verified, ambiguous, parked, failed, superseded. */
    state: text().notNull(),
    because: text(),
    uploadKey: text('upload_key'),
    messageId: text('message_id'),
    attempts: integer().notNull().default(0),
    /** Looks at the chat that failed, since the last one that said something. */
    failedLooks: integer('failed_looks').notNull().default(0),
    /** The provider's uuid is used for 50 minutes from here, then never again. */
    firstCallAt: instant('first_call_at'),
    notBefore: instant('not_before'),
    settledAt: instant('settled_at'),
  },
  (t) => [primaryKey({ columns: [t.delivery, t.index, t.subIndex] }), index('parts_by_message').on(t.messageId)],
)

/** Insert before the call, ended once after it. `ended_at` null after a crash means: unknown. */
export const sendAttempts = collab.table(
  'send_attempts',
  {
    id: text().primaryKey(),
    delivery: text()
      .notNull()
      .references(() => deliveries.id),
    index: integer().notNull(),
    subIndex: integer('sub_index').notNull(),
    startedAt: instant('started_at').notNull(),
    endedAt: instant('ended_at'),
    outcome: text(),
    code: integer(),
    detail: text(),
    by: text().notNull(),
  },
  (t) => [index('attempts_of_part').on(t.delivery, t.index, t.subIndex)],
)

/**
 * Reactions of ours. `prepared` is written before the call; a row without an outcome is looked up by the sweep.
 * States: prepared, placed, refused, skipped, removing, removed, kept, cleanup-failed.
 */
export const reactions = collab.table(
  'reactions',
  {
    id: text().primaryKey(),
    bot: text().notNull(),
    messageId: text('message_id').notNull(),
    chatId: text('chat_id').notNull(),
    /** received, done or failed. */
    purpose: text().notNull(),
    emoji: text().notNull(),
    state: text().notNull(),
    because: text(),
    reactionId: text('reaction_id'),
    attempts: integer().notNull().default(0),
    preparedAt: instant('prepared_at').notNull(),
    placedAt: instant('placed_at'),
    settledAt: instant('settled_at'),
    nextTryAt: instant('next_try_at'),
  },
  (t) => [
    uniqueIndex('one_reaction_per_purpose').on(t.bot, t.messageId, t.purpose),
    index('reactions_open')
      .on(t.preparedAt)
      .where(sql`${t.state} in ('prepared', 'placed', 'removing')`),
  ],
)
