import { Redis } from 'ioredis'
import pg from 'pg'
import { describe } from 'vitest'
import { queueContract } from '../contracts/queue.js'
import { freshDb } from '../kit/pg.js'
import { redisMissing, startRedis } from '../kit/redis.js'

queueContract('Postgres', async () => {
  const database = await freshDb({ empty: true })
  const pool = new pg.Pool({ connectionString: database.url, max: 1 })
  pool.on('error', () => {})
  const tables = async (): Promise<string[]> => {
    const found = await pool.query<{ name: string }>(
      `select format('bullmq.%I', tablename) as name from pg_tables where schemaname = 'bullmq' and tablename <> 'migration'`,
    )
    return found.rows.map((row) => row.name)
  }
  return {
    backend: { kind: 'postgres', url: database.url },
    wipe: async () => void (await pool.query(`truncate ${(await tables()).join(', ')} cascade`)),
    dump: async () => {
      const rows = await Promise.all((await tables()).map((table) => pool.query(`select * from ${table}`)))
      return JSON.stringify(rows.map((found) => found.rows))
    },
    end: async () => {
      await pool.end()
      await database.drop()
    },
  }
})

describe.skipIf(redisMissing !== null)('with a Redis server', () => {
  queueContract('Redis', async () => {
    const redis = await startRedis()
    return {
      backend: { kind: 'redis', url: redis.url },
      wipe: () => redis.wipe(),
      dump: () => dumpOf(redis.url),
      end: () => redis.stop(),
    }
  })
})

async function dumpOf(url: string): Promise<string> {
  const client = new Redis(url)
  try {
    const parts: unknown[] = []
    for (const key of await client.keys('*')) {
      const type = await client.type(key)
      if (type === 'hash') parts.push(key, await client.hgetall(key))
      else if (type === 'list') parts.push(key, await client.lrange(key, 0, -1))
      else if (type === 'zset') parts.push(key, await client.zrange(key, '0', '-1'))
      else if (type === 'set') parts.push(key, await client.smembers(key))
      else if (type === 'stream') parts.push(key, await client.xrange(key, '-', '+'))
      else parts.push(key, await client.get(key))
    }
    return JSON.stringify(parts)
  } finally {
    client.disconnect()
  }
}
