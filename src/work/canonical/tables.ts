import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, jsonb, pgSchema, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import type { AgentEndpoint } from '../../collab/ports.js'
import type { WorkReceipt } from '../../collab/observation.js'

/** The work owner's own objects. Collab keeps references and receipts to them, never copies (RFC §5.12). */
export const work = pgSchema('work')

/** Milliseconds since the epoch, UTC, from the injected clock. */
const instant = (name: string) => bigint(name, { mode: 'number' })

/** `revision` counts stops and resumes, `vision_revision` counts replans: two counters, because they are two things. */
export const goals = work.table(
  'goals',
  {
    id: text().primaryKey(),
    title: text().notNull(),
    /** Who owns this goal's work state. One source for each goal, and none stands in for another. */
    source: text().notNull(),
    state: text().notNull(),
    revision: integer().notNull(),
    direction: text().notNull(),
    acceptance: text().notNull(),
    nonGoals: text('non_goals').notNull(),
    visionRevision: integer('vision_revision').notNull(),
    createdAt: instant('created_at').notNull(),
    changedAt: instant('changed_at').notNull(),
    /** The operation that made it; null for a goal that was brought in. */
    createdBy: text('created_by'),
  },
  (t) => [uniqueIndex('one_goal_per_creation').on(t.createdBy)],
)

/** `epoch` is the last one that a claim of this todo was given; it is never taken back. */
export const todos = work.table(
  'todos',
  {
    id: text().primaryKey(),
    goal: text()
      .notNull()
      .references(() => goals.id),
    title: text().notNull(),
    state: text().notNull(),
    revision: integer().notNull(),
    epoch: integer().notNull(),
    createdAt: instant('created_at').notNull(),
    changedAt: instant('changed_at').notNull(),
    changedBy: text('changed_by').notNull(),
  },
  (t) => [index('todos_of_goal').on(t.goal, t.createdAt, t.id)],
)

/** Every claim that ever was. Ended: released, finished, lapsed (its lease ran out and another claim began). */
export const claims = work.table(
  'claims',
  {
    todo: text()
      .notNull()
      .references(() => todos.id),
    epoch: integer().notNull(),
    agent: text().notNull(),
    claimedAt: instant('claimed_at').notNull(),
    until: instant('until').notNull(),
    endedAt: instant('ended_at'),
    ended: text(),
  },
  (t) => [
    primaryKey({ columns: [t.todo, t.epoch] }),
    uniqueIndex('one_live_claim_per_todo')
      .on(t.todo)
      .where(sql`${t.endedAt} is null`),
  ],
)

/** One row for each command that took effect: the same operation again is answered from here. */
export const operations = work.table(
  'operations',
  {
    goal: text()
      .notNull()
      .references(() => goals.id),
    operation: text().notNull(),
    digest: text().notNull(),
    receipt: jsonb().$type<WorkReceipt>().notNull(),
    at: instant('at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.goal, t.operation] })],
)

/** Who is registered where. An agent has one goal; `last_evidence_at` and `reachable` are null until somebody looked. */
export const agents = work.table(
  'agents',
  {
    agent: text().primaryKey(),
    goal: text()
      .notNull()
      .references(() => goals.id),
    role: text().notNull(),
    responsibility: text().notNull(),
    host: text().notNull(),
    endpoint: jsonb().$type<AgentEndpoint>().notNull(),
    abilities: text().array().notNull(),
    capacity: integer().notNull(),
    revision: integer().notNull(),
    registeredAt: instant('registered_at').notNull(),
    lastEvidenceAt: instant('last_evidence_at'),
    reachable: boolean(),
  },
  (t) => [index('agents_of_goal').on(t.goal)],
)
