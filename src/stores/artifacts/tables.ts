import { bigint, index, jsonb, text } from 'drizzle-orm/pg-core'
import { collab, instant } from '../schema.js'

/** What a stored file is and who may read it; the bytes are in `artifacts`. Insert only. */
export const artifacts = collab.table(
  'artifacts',
  {
    id: text().primaryKey(),
    digest: text().notNull(),
    size: bigint({ mode: 'number' }).notNull(),
    mediaType: text('media_type').notNull(),
    fileName: text('file_name').notNull(),
    accessScope: text('access_scope').notNull(),
    /** Where it came from: a message and its key, or a turn. */
    source: jsonb().notNull(),
    storedAt: instant('stored_at').notNull(),
  },
  (t) => [index('artifacts_by_digest').on(t.digest)],
)
