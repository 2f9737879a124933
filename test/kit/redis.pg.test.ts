import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redisMissing, startRedis, type TestRedis } from './redis.js'

describe.skipIf(redisMissing !== null)('the Redis of the tests', () => {
  let redis: TestRedis

  beforeAll(async () => {
    redis = await startRedis()
  })

  afterAll(() => redis.stop())

  const ask = async <T>(work: (client: Redis) => Promise<T>): Promise<T> => {
    const client = new Redis(redis.url, { retryStrategy: () => null, maxRetriesPerRequest: 0 })
    client.on('error', () => {})
    try {
      return await work(client)
    } finally {
      client.disconnect()
    }
  }

  test('keeps keys until it is wiped', async () => {
    await ask((client) => client.set('a', '1'))
    expect(await ask((client) => client.get('a'))).toBe('1')
    await redis.wipe()
    expect(await ask((client) => client.get('a'))).toBeNull()
  })

  test('is gone when killed and comes back empty on the same port', async () => {
    await ask((client) => client.set('a', '1'))
    await redis.kill()
    await expect(ask((client) => client.ping())).rejects.toThrow()
    await redis.start()
    expect(await ask((client) => client.dbsize())).toBe(0)
  })
})
