import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, until, type Platform } from '../kit/platform.js'
import { startProcess, type GatewayProcess } from '../kit/process.js'
import { redisMissing, startRedis, type TestRedis } from '../kit/redis.js'

describe.skipIf(redisMissing !== null)('case 42, a worker that is blocked past its lock', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lark-manager-second-'))
  let redis: TestRedis
  let p: Platform
  let a: GatewayProcess
  let b: GatewayProcess
  let said: string
  let byB: readonly { state: string; by: string }[]
  beforeAll(async () => {
    redis = await startRedis()
    // The case blocks for 90 s; a claim that lasts 2 s makes the same happen sooner.
    p = await openPlatform({ env: { HOLD_MS: '2000' }, redisUrl: redis.url })
    a = await startProcess(p)
    const { world, faults } = p.served.sandbox
    // The call of A takes effect a moment after A was stopped, so A does not hear that it did.
    faults.add({ api: 'message.reply', when: { nth: 1 }, do: { kind: 'latency', ms: 1_000 } })
    said = world.say({ chatId: p.ids.dm, from: p.ids.alice, text: '!reply once' }).id
    await until(async () => (await attempts()).length === 1, 'the call of A')
    a.pause()
    b = await startProcess({ env: { ...p.env, DATA_DIR: folder } }, true)
    await until(async () => (await parts()).every((part) => part.state === 'verified'), 'the end by B', 30_000)
    byB = await attempts()
    a.resume()
    // A has gone on when it serves again: the answer of its call waits in its socket and is read first.
    for (let n = 0; n < 3; n += 1) await until(async () => (await fetch(`${a.url}/healthz`)).ok, 'A to go on')
    await p.quiet()
  }, 90_000)
  afterAll(async () => {
    a.resume()
    await a.stop()
    await b.stop()
    await p.close()
    await redis.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const attempts = () => p.db.sql<{ state: string; by: string }[]>`
    select coalesce(outcome, 'open') as state, by from collab.send_attempts order by started_at`
  const parts = () => p.db.sql<{ state: string; messageId: string }[]>`
    select state, message_id as "messageId" from collab.delivery_parts`

  test('the chat gets the message once, and the part is the message that is there', async () => {
    const answers = p.answers(p.ids.dm)
    expect(answers.map((answer) => answer.parentId)).toEqual([said])
    expect(await parts()).toEqual([{ state: 'verified', messageId: answers[0]?.id }])
    expect(p.receipts(p.ids.dm, said)).toEqual([])
  })

  test('what A would write late is refused: the record is what B left', async () => {
    expect(new Set(byB.map((attempt) => attempt.by)).size).toBe(2)
    expect(await attempts()).toEqual(byB)
  })

  test('no job stands as failed, and A says nothing of a failed delivery', async () => {
    const { queues } = (await (
      await fetch(`${b.url}/queues/api/queues`, { headers: { authorization: `Bearer ${p.token}` } })
    ).json()) as { queues: { name: string; counts: Record<string, number> }[] }
    for (const queue of queues) expect(queue.counts['failed'] ?? 0, queue.name).toBe(0)
    expect(a.log()).not.toMatch(/failed for good|did not arrive whole|"msg":"a job failed"/u)
  })
})
