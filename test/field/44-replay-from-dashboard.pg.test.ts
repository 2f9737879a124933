import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'
import { redisMissing, startRedis, type TestRedis } from '../kit/redis.js'

const backends = [
  ['Postgres', null],
  ['Redis', redisMissing],
] as const
const FAILED = 25
const DELIVERED = 12
const DOUBTFUL = 3

interface Job {
  readonly id: string
  readonly data: Record<string, unknown>
  readonly returnValue?: unknown
  readonly failedReason?: string
}

describe.each(backends)('case 44, acts on the dashboard, queue on %s', (backend, missing) => {
  let redis: TestRedis | null = null
  let g: TestGateway
  beforeAll(async () => {
    if (missing !== null) return
    redis = backend === 'Redis' ? await startRedis() : null
    g = await testGateway(redis === null ? {} : { redisUrl: redis.url })
  })
  afterAll(async () => {
    if (missing !== null) return
    await g.stop()
    await redis?.stop()
  })

  const say = (text: string) => g.served.sandbox.world.say({ chatId: g.ids.dm, from: g.ids.alice, text }).id
  const answersTo = (id: string) => g.answers(g.ids.dm).filter((answer) => answer.parentId === id)
  const act = (path: string, method = 'PUT') => g.api(`/queues/api/queues${path}`, { method })
  async function jobs(status: string): Promise<readonly Job[]> {
    const found: Job[] = []
    for (let page = 1; ; page += 1) {
      const query = `activeQueue=delivery&status=${status}&page=${page}&jobsPerPage=20`
      const { queues } = (await (await g.api(`/queues/api/queues?${query}`)).json()) as {
        queues: { name: string; jobs: Job[] }[]
      }
      const shown = must(
        queues.find((queue) => queue.name === 'delivery'),
        'the queue',
      ).jobs
      found.push(...shown)
      if (shown.length < 20) return found
    }
  }
  const deliveryOf = async (messageId: string): Promise<string> => {
    const [row] = await g.db.sql<{ id: string }[]>`
      select d.id from collab.deliveries d join collab.work_requests r on r.id = d.request
      where r.origin_message = ${messageId} and d.cause_kind = 'result'`
    return must(row, 'a delivery').id
  }
  const count = async (outcome: string) =>
    (await g.db.sql`select 1 from collab.deliveries where outcome = ${outcome} and cause_kind = 'result'`).length
  /** What was asked for, beside the words about what did not arrive. */
  const repliesTo = (id: string) => answersTo(id).filter((one) => /(MENDED|FAILED|DOUBT) \d+\./u.test(one.content))
  /** One after the other: what waits together would be answered together. */
  async function sayEach(count: number, word: string): Promise<string[]> {
    const ids: string[] = []
    for (let n = 1; n <= count; n += 1) {
      const id = say(`!reply ${word} ${n}.`)
      ids.push(id)
      await until(async () => {
        const rows = await g.db.sql`
          select 1 from collab.results r join collab.work_requests w on w.id = r.request where w.origin_message = ${id}`
        return rows.length > 0
      }, 'its result')
    }
    return ids
  }
  const jobNamed = (all: readonly Job[], delivery: string) => all.find((job) => job.id === `deliver-${delivery}-g1`)

  test.skipIf(missing !== null)('a completed job: no second message, and it says what was delivered', async () => {
    const id = say('!reply once')
    const answer = must((await until(() => answersTo(id)[0], 'the answer')) ?? undefined, 'the answer')
    await g.quiet()
    const delivery = await deliveryOf(id)
    expect((await act(`/delivery/deliver-${delivery}-g1/retry`)).status).toBeLessThan(300)
    const job = await until(async () => {
      const known = jobNamed(await jobs('completed'), delivery)
      return JSON.stringify(known?.returnValue ?? '').includes('already delivered') ? known : null
    }, 'the job to say so')
    expect(job.returnValue).toBe(`already delivered (verified: ${answer.id})`)
    await g.quiet()
    expect(answersTo(id)).toHaveLength(1)
  })

  test.skipIf(missing !== null)(
    'retry all: 25 are sent, 12 change nothing, 3 are reconciled first',
    async () => {
      const { faults, world } = g.served.sandbox
      // Not allowed to write here, until the faults are cleared. The doubtful ones arrive first and lose their answer;
      // the history cannot be read meanwhile, so nobody can tell.
      for (let n = 1; n <= DOUBTFUL; n += 1) {
        faults.add({
          api: 'message.reply',
          times: 1,
          when: { contains: `DOUBT ${n}.` },
          do: { kind: 'accept-then-reset' },
        })
      }
      faults.add({ api: 'message.reply', do: { kind: 'code', code: 230035 } })
      faults.add({ api: 'message.list', do: { kind: 'code', code: 230027 } })
      const mended = await sayEach(DELIVERED, 'MENDED')
      const failed = await sayEach(FAILED, 'FAILED')
      const doubtful = await sayEach(DOUBTFUL, 'DOUBT')
      await until(async () => (await count('failed')) === DELIVERED + FAILED, 'the refusals', 40_000)
      await until(async () => (await count('parked')) === DOUBTFUL, 'the doubts', 40_000)
      const arrived = world.messages(g.ids.dm).filter((message) => message.content.includes('DOUBT'))
      expect(arrived.filter((message) => message.sender === 'bot')).toHaveLength(DOUBTFUL)
      faults.clear()
      // Twelve were mended through the API meanwhile: their old jobs stay failed.
      for (const id of mended) {
        const path = `/api/v1/deliveries/${await deliveryOf(id)}/retry`
        const headers = { 'idempotency-key': `retry-${id}`, 'content-type': 'application/json' }
        expect((await g.api(path, { method: 'POST', headers, body: '{}' })).status).toBeLessThan(300)
      }
      await until(() => mended.every((id) => repliesTo(id).length === 1), 'the mended ones', 40_000)
      await until(async () => (await count('failed')) === FAILED, 'only the others failed')
      // Words to the owner about what did not arrive were refused here as well.
      const told = (await jobs('failed')).length - FAILED - DELIVERED - DOUBTFUL
      expect(told).toBeGreaterThanOrEqual(0)

      const response = await act('/delivery/retry/failed')
      expect(await response.json()).toMatchObject({ retried: FAILED + DELIVERED + DOUBTFUL + told })
      await until(async () => (await jobs('failed')).length === 0, 'no failed job')
      await until(() => failed.every((id) => repliesTo(id).length > 0), 'the failed ones', 40_000)
      // What was sent past us is looked for every half minute, until all of ours has settled.
      await g.quiet(100_000)
      for (const id of [...mended, ...failed, ...doubtful]) expect(repliesTo(id)).toHaveLength(1)
      const ended = await jobs('completed')
      for (const id of mended) {
        const job = jobNamed(ended, await deliveryOf(id))
        expect(job?.returnValue).toBe(`already delivered (verified: ${must(repliesTo(id)[0], 'the answer').id})`)
      }
      // What had arrived without an answer is the very message that counts now.
      for (const id of doubtful) {
        const parts = await g.db.sql<{ messageId: string; state: string }[]>`
        select message_id as "messageId", state from collab.delivery_parts where delivery = ${await deliveryOf(id)}`
        expect(parts).toEqual([{ messageId: repliesTo(id)[0]?.id, state: 'verified' }])
      }
      expect(await count('verified')).toBe(1 + FAILED + DELIVERED + DOUBTFUL)
    },
    240_000,
  )

  test.skipIf(missing !== null)(
    'edited data are refused at the board, written down, and would be ignored',
    async () => {
      const id = say('!reply where it was asked')
      await until(() => answersTo(id)[0], 'the answer')
      await g.quiet()
      const delivery = await deliveryOf(id)
      const job = `deliver-${delivery}-g1`
      const edit = await g.api(`/queues/api/queues/delivery/${job}/update-data`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jobData: { id: delivery, chatId: g.ids.group } }),
      })
      expect(edit.status).toBe(403)
      const audit = await g.db.sql<{ act: string; subject: string }[]>`
      select act, subject from collab.audit_lines where act = 'queue refused'`
      expect(audit).toEqual([{ act: 'queue refused', subject: `delivery/${job}/update-data` }])
      const answers = g.answers(g.ids.dm).length
      expect((await act(`/delivery/${job}/retry`)).status).toBeLessThan(300)
      await g.quiet()
      expect(g.answers(g.ids.dm)).toHaveLength(answers)
      expect(g.answers(g.ids.group)).toHaveLength(0)
      const lines = await g.db.sql`
      select 1 from collab.audit_lines where act = 'queue retry' and subject = ${`delivery/${job}/retry`}`
      expect(lines).toHaveLength(1)
    },
  )

  test.skipIf(missing !== null)('job data hold ids only: no text, no target, no secret', async () => {
    for (const job of await jobs('completed')) {
      expect(Object.keys(job.data)).toEqual(['id'])
      expect(JSON.stringify(job)).not.toMatch(/MENDED|FAILED \d|DOUBT|oc_|sandbox-secret|test-admin-token/u)
    }
  })

  test.skipIf(missing !== null)('without a session: 401, and no queue is named', async () => {
    for (const path of ['/queues', '/queues/api/queues', '/queues/queue/delivery']) {
      const response = await fetch(`${g.gateway.url}${path}`)
      expect(response.status).toBe(401)
      expect(await response.text()).not.toMatch(/delivery|upkeep|bull/iu)
    }
  })

  test.skipIf(missing !== null)("a write from another site's page is refused, with the operator's cookie", async () => {
    const signIn = await fetch(await g.gateway.signInUrl(), { redirect: 'manual' })
    const cookie = must(signIn.headers.get('set-cookie')?.split(';')[0], 'a cookie')
    const from = (headers: Record<string, string>) =>
      fetch(`${g.gateway.url}/queues/api/queues/delivery/retry/completed`, {
        method: 'PUT',
        headers: { cookie, 'content-type': 'text/plain', ...headers },
      })
    const foreign = await from({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })
    expect(foreign.status).toBe(403)
    const api = await fetch(`${g.gateway.url}/api/v1/deliveries/x/retry`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json', 'idempotency-key': 'x' },
      body: '{}',
    })
    expect(api.status).toBe(403)
    const read = await fetch(`${g.gateway.url}/queues/api/queues`, { headers: { cookie } })
    expect(read.status).toBe(200)
  })
})
