import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { inject } from 'vitest'
import { silentLogger } from '../../src/lib/log.js'
import { openDb, type Db } from '../../src/stores/db.js'

export interface FreshDb {
  readonly db: Db
  /** For a second client, such as BullMQ's. */
  readonly url: string
  /** Closes `db` and removes the database, also when other clients still hold it. */
  drop(): Promise<void>
}

/** Major version of the server of this run. */
export const pgMajor = (): number => inject('pgMajor')

/**
 * A database of one's own, cloned from the migrated template (about 50 ms): one per test file, in `beforeAll`.
 *
 * @param options `empty: true` gives one without any table
 */
export async function freshDb(options: { empty?: boolean; max?: number } = {}): Promise<FreshDb> {
  const name = `t_${randomBytes(8).toString('hex')}`
  const template = options.empty === true ? 'template0' : 'template_migrated strategy file_copy'
  await asAdmin(`create database ${name} template ${template}`)
  const url = new URL(inject('pgUrl'))
  url.pathname = `/${name}`
  const db = openDb({ url: url.toString(), max: options.max, logger: silentLogger })
  return {
    db,
    url: url.toString(),
    drop: async () => {
      await db.close()
      await asAdmin(`drop database ${name} with (force)`)
    },
  }
}

async function asAdmin(statement: string): Promise<void> {
  const admin = postgres(inject('pgUrl'), { max: 1, fetch_types: false, onnotice: () => {} })
  try {
    await admin.unsafe(statement)
  } finally {
    await admin.end()
  }
}
