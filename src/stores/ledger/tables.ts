import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { collab, instant, writtenIn } from '../schema.js'

/** One owner message, delegation or countercheck. Insert only. */
export const workRequests = collab.table(
  'work_requests',
  {
    id: text().primaryKey(),
    bot: text().notNull(),
    conversation: text().notNull(),
    parent: text(),
    originChannel: text('origin_channel').notNull(),
    originMessage: text('origin_message').notNull(),
    openedAt: instant('opened_at').notNull(),
  },
  (t) => [
    uniqueIndex('one_request_per_origin').on(t.bot, t.originChannel, t.originMessage),
    index('work_requests_newest').on(t.openedAt.desc(), t.id.desc()),
    index('work_requests_of_conversation').on(t.conversation, t.openedAt.desc()),
    index('work_requests_of_parent')
      .on(t.parent)
      .where(sql`${t.parent} is not null`),
  ],
)

/** The guard for races: locked first, compared, moved. Never read as state. */
export const requestHeads = collab.table('request_heads', {
  request: text()
    .primaryKey()
    .references(() => workRequests.id),
  revision: integer().notNull(),
  seq: integer().notNull(),
  nextWake: instant('next_wake'),
})

/** Insert only: a committed revision never changes. */
export const requestRevisions = collab.table(
  'request_revisions',
  {
    request: text()
      .notNull()
      .references(() => workRequests.id),
    revision: integer().notNull(),
    kind: text().notNull(),
    intent: text().notNull(),
    sender: jsonb().notNull(),
    target: text(),
    authorityRef: jsonb('authority_ref').notNull(),
    contextDigest: text('context_digest').notNull(),
    returnRef: jsonb('return_ref').notNull(),
    workRefs: jsonb('work_refs').notNull(),
    asks: jsonb().notNull(),
    supersedes: integer(),
    recordedAt: instant('recorded_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.request, t.revision] })],
)

/** Insert only. */
export const semanticContexts = collab.table(
  'semantic_contexts',
  {
    request: text()
      .notNull()
      .references(() => workRequests.id),
    revision: integer().notNull(),
    digest: text().notNull(),
    brief: jsonb().notNull(),
    sourceRefs: jsonb('source_refs').notNull(),
    workRevisionRefs: jsonb('work_revision_refs').notNull(),
    accessScope: text('access_scope').notNull(),
    omissions: jsonb().notNull(),
  },
  (t) => [primaryKey({ columns: [t.request, t.revision] })],
)

/** Human text; facts hold its digest. A body may be erased, leaving the mark. */
export const texts = collab.table(
  'texts',
  {
    digest: text().notNull(),
    accessScope: text('access_scope').notNull(),
    body: text(),
    erasedBy: text('erased_by'),
    erasedAt: instant('erased_at'),
  },
  (t) => [primaryKey({ columns: [t.digest, t.accessScope] })],
)

/** Insert, and one release of the fence. */
export const dispatchAttempts = collab.table(
  'dispatch_attempts',
  {
    id: text().primaryKey(),
    request: text()
      .notNull()
      .references(() => workRequests.id),
    revision: integer().notNull(),
    target: text().notNull(),
    intent: text().notNull(),
    effectful: boolean().notNull(),
    supersedes: text(),
    fenceReleasedAt: instant('fence_released_at'),
  },
  (t) => [
    uniqueIndex('one_effectful_attempt_per_request')
      .on(t.request)
      .where(sql`${t.effectful} and ${t.fenceReleasedAt} is null`),
    index('attempts_of_target').on(t.target, t.request),
    index('live_attempts_of_target')
      .on(t.target, t.request)
      .where(sql`${t.fenceReleasedAt} is null`),
  ],
)

/** Append only: a trigger refuses update and delete. */
export const observations = collab.table(
  'observations',
  {
    eventId: text('event_id').notNull(),
    ordinal: integer().notNull(),
    request: text()
      .notNull()
      .references(() => workRequests.id),
    seq: integer().notNull(),
    revision: integer().notNull(),
    attempt: text(),
    actor: jsonb().notNull(),
    kind: text().notNull(),
    v: integer().notNull(),
    payload: jsonb().notNull(),
    /** Of the whole command, without its receive time. */
    digest: text().notNull(),
    evidenceRefs: jsonb('evidence_refs').notNull(),
    resultRef: text('result_ref'),
    recordedAt: instant('recorded_at').notNull(),
    /** The transaction that wrote it: what a reader has not seen yet is found by it. Null: older than this column. */
    writtenIn: writtenIn(),
  },
  (t) => [
    primaryKey({ columns: [t.eventId, t.ordinal] }),
    /** What a standing permission allowed. */
    index('uses_of_grants')
      .on(sql`(${t.payload} ->> 'grant')`)
      .where(sql`${t.kind} = 'approval-settled'`),
    index('facts_by_transaction').using('brin', t.writtenIn),
    uniqueIndex('one_fact_per_seq').on(t.request, t.seq),
    /** Finds the parent of a child that was handed on and not opened yet. */
    index('child_openings')
      .on(sql`(${t.payload} ->> 'child')`)
      .where(sql`${t.kind} = 'child-opened'`),
  ],
)

/** Insert only; a fresh conclusion links the one that it replaces. */
export const results = collab.table(
  'results',
  {
    id: text().primaryKey(),
    request: text()
      .notNull()
      .references(() => workRequests.id),
    revision: integer().notNull(),
    attempt: text().notNull(),
    /** Null when an attached agent reported without a turn of ours. */
    turn: text(),
    kind: text().notNull(),
    textDigest: text('text_digest').notNull(),
    conclusionDigest: text('conclusion_digest'),
    accessScope: text('access_scope').notNull(),
    covers: jsonb().notNull(),
    remainder: jsonb().notNull(),
    artifacts: jsonb().notNull(),
    supersedes: text(),
    committedAt: instant('committed_at').notNull(),
  },
  (t) => [index('results_of_request').on(t.request)],
)

/** Insert only; what became of one is an observation. */
export const effectIntents = collab.table('effect_intents', {
  id: text().primaryKey(),
  request: text()
    .notNull()
    .references(() => workRequests.id),
  attempt: text().notNull(),
  kind: text().notNull(),
  target: text().notNull(),
  providerKey: text('provider_key').notNull(),
  declaredAt: instant('declared_at').notNull(),
})
