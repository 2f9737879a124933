import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { textOf, until, testGateway, type TestGateway } from '../kit/gateway.js'
import { redisMissing, startRedis, type TestRedis } from '../kit/redis.js'
import { recordingAgent } from '../kit/recording.js'

const backends = [
  ['Postgres', null],
  ['Redis', redisMissing],
] as const

/** The recording agent behind a small program that can be taken away. */
function agentIn(folder: string) {
  const program = join(folder, 'agent')
  const give = (): void => {
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${recordingAgent}" "${folder}"\n`)
    chmodSync(program, 0o755)
  }
  give()
  return {
    env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: `"${program}"` },
    breakIt: () => writeFileSync(join(folder, 'broken'), ''),
    mendIt: () => rmSync(join(folder, 'broken'), { force: true }),
    take: () => rmSync(program),
    give,
  }
}

describe.each(backends)('a turn that fails, queue on %s', (backend, missing) => {
  const folder = mkdtempSync(join(tmpdir(), 'lark-manager-moody-'))
  const agent = agentIn(folder)
  let redis: TestRedis | null = null
  let g: TestGateway
  beforeAll(async () => {
    if (missing !== null) return
    redis = backend === 'Redis' ? await startRedis() : null
    g = await testGateway({
      env: agent.env,
      ...(redis === null ? {} : { redisUrl: redis.url }),
    })
  })
  afterAll(async () => {
    if (missing !== null) return
    await g.stop()
    await redis?.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const live = test.skipIf(missing !== null)

  const say = (text: string, chatId: string = g.ids.dm) =>
    g.served.sandbox.world.say({ chatId, from: g.ids.alice, text, mentionBot: chatId !== g.ids.dm }).id
  const answersTo = (id: string, chatId: string = g.ids.dm) => g.answers(chatId).filter((one) => one.parentId === id)
  const act = (path: string) => g.api(`/queues/api/queues${path}`, { method: 'PUT' })
  const failedJobs = async (): Promise<readonly { id: string; failedReason: string }[]> => {
    const response = await g.api('/queues/api/queues?activeQueue=request&status=failed&page=1&jobsPerPage=20')
    const { queues } = (await response.json()) as {
      queues: { name: string; jobs: { id: string; failedReason: string }[] }[]
    }
    return queues.find((queue) => queue.name === 'request')?.jobs ?? []
  }
  const requests = async (state: string): Promise<readonly object[]> =>
    ((await (await g.api(`/api/v1/requests?state=${state}`)).json()) as { items: object[] }).items
  const turnsOf = async (id: string) =>
    (
      await g.db.sql`
        select 1 from collab.turns t join collab.work_requests r on r.id = t.request where r.origin_message = ${id}`
    ).length

  let failed: string
  live('two tries, then one notice, and the receipt becomes a mark of failure', async () => {
    agent.breakIt()
    failed = say('please look')
    const notice = await until(() => answersTo(failed)[0], 'the notice')
    expect(textOf(notice)).toContain('The agent ended before it answered.')
    await until(() => g.receipts(g.ids.dm, failed).join() === 'CrossMark', 'the mark')
    expect(await turnsOf(failed)).toBe(2)
    expect(answersTo(failed)).toHaveLength(1)
  })

  live('the job is visible as failed with its reason, and so is the request', async () => {
    const jobs = await until(async () => {
      const all = await failedJobs()
      return all.length > 0 && all
    }, 'the failed job')
    expect(jobs.map((job) => job.failedReason)).toEqual(['exited'])
    expect(await requests('failed')).toHaveLength(1)
  })

  live('a later message is answered; the failed one is not touched by it', async () => {
    agent.mendIt()
    const next = say('still here?')
    await until(() => answersTo(next)[0], 'the answer')
    await until(() => g.receipts(g.ids.dm, next).length === 0, 'the end of its receipt')
    expect(await turnsOf(failed)).toBe(2)
    expect(answersTo(failed)).toHaveLength(1)
  })

  live('a replay from the board runs it again although the lane has gone on, and answers', async () => {
    const [job] = await failedJobs()
    expect((await act(`/request/${must(job, 'the job').id}/retry`)).status).toBeLessThan(300)
    const answer = await until(() => answersTo(failed)[1], 'the answer')
    expect(textOf(answer)).toContain('was read.')
    await g.quiet()
    expect(await turnsOf(failed)).toBe(3)
    expect(await failedJobs()).toEqual([])
    expect(await requests('failed')).toEqual([])
    expect(await requests('open')).toEqual([])
  })

  // It waits for the look that comes every 15 s; the queue has no part in it.
  if (backend === 'Redis') return
  live(
    'a runtime that is not there: a notice within five seconds, the message kept, and it starts by itself',
    async () => {
      agent.take()
      const from = performance.now()
      const kept = say('when you can')
      const notice = await until(() => answersTo(kept)[0], 'the notice')
      expect(performance.now() - from).toBeLessThan(5_000)
      expect(textOf(notice)).toContain('Your message is kept and starts by itself')
      expect(textOf(notice)).not.toContain(folder)
      expect(g.receipts(g.ids.dm, kept)).toEqual(['Get'])
      expect(await turnsOf(kept)).toBe(0)
      agent.give()
      await until(() => answersTo(kept).length === 2, 'the answer', 30_000)
      await g.quiet()
      expect(answersTo(kept).map((one) => textOf(one).includes('was read.'))).toEqual([false, true])
      expect(g.receipts(g.ids.dm, kept)).toEqual([])
    },
  )
})
