import { sql } from 'drizzle-orm'
import { bigint, index, integer, jsonb, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { collab, instant, writtenIn } from '../schema.js'

/** Insert before the runtime is called; ended once. */
export const turns = collab.table(
  'turns',
  {
    id: text().primaryKey(),
    lane: text().notNull(),
    request: text().notNull(),
    attempt: text().notNull(),
    revision: integer().notNull(),
    runtime: text().notNull(),
    hostTurn: text('host_turn'),
    holder: text().notNull(),
    fence: integer().notNull(),
    startedAt: instant('started_at').notNull(),
    /** When the runtime was first seen to write its answer. */
    firstAnswerAt: instant('first_answer_at'),
    endedAt: instant('ended_at'),
    ended: text(),
    because: text(),
    /** What the runtime said is in force, read back. */
    effective: jsonb(),
    /** Which of the lane's sessions it ran in: each conversation context has its own. */
    session: text(),
    /** Somebody asked this turn to end: the mark that did, and when. Its holder looks for it while it runs. */
    stoppedBy: text('stopped_by'),
    stopAskedAt: instant('stop_asked_at'),
  },
  (t) => [
    uniqueIndex('one_running_turn_per_session')
      .on(t.lane)
      .where(sql`${t.endedAt} is null`),
    index('turns_of_request').on(t.request),
    index('turns_of_session').on(t.session, t.startedAt),
    index('turns_stopped')
      .on(t.stoppedBy)
      .where(sql`${t.stoppedBy} is not null`),
  ],
)

/** The journalled inputs of a lane, in the order of their arrival. State: waiting, held, settled. */
export const turnInputs = collab.table(
  'turn_inputs',
  {
    request: text().primaryKey(),
    lane: text().notNull(),
    position: bigint({ mode: 'number' }).notNull(),
    state: text().notNull(),
    because: text(),
    settledAt: instant('settled_at'),
  },
  (t) => [
    index('inputs_waiting')
      .on(t.lane, t.position)
      .where(sql`${t.state} <> 'settled'`),
  ],
)

/**
 * What the runtime of a turn was seen to do, in its order: only the kind of it, never what it did. Insert only, removed
 * after some days.
 */
export const turnActivity = collab.table(
  'turn_activity',
  {
    turn: text().notNull(),
    ordinal: integer().notNull(),
    request: text().notNull(),
    activity: text().notNull(),
    at: instant('at').notNull(),
    writtenIn: writtenIn(),
  },
  (t) => [
    primaryKey({ columns: [t.turn, t.ordinal] }),
    index('activity_by_transaction').using('brin', t.writtenIn),
    index('activity_by_time').using('brin', t.at),
  ],
)
