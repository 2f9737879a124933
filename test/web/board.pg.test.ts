import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/lib/log.js'
import { openQueues, type Queues } from '../../src/queue/queues.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { chromiumMissing, launch, listening } from './browser.js'
import { bearer, publicUrl, webUnderTest, type WebUnderTest } from './kit.js'

let fresh: FreshDb
let queues: Queues
let ui: WebUnderTest
beforeAll(async () => {
  fresh = await freshDb()
  queues = await openQueues({ backend: { kind: 'postgres', url: fresh.url }, logger: silentLogger })
  ui = webUnderTest(fresh.db, { boardAdapters: queues.adapters() })
  await queues.lookup.put([{ kind: 'deliver', subject: 'delivery-1', generation: 1 }])
})
afterAll(async () => {
  await queues.close()
  await fresh.drop()
})

const put = (path: string, headers: Record<string, string> = {}, method = 'PUT') =>
  ui.web.fetch(new Request(`${publicUrl}/queues${path}`, { method, headers }))
const ours = { ...bearer, 'sec-fetch-site': 'same-origin' }

describe('the queue board', () => {
  test('names no queue without a session', async () => {
    for (const path of ['/queues', '/queues/', '/queues/api/queues', '/queues/queue/delivery']) {
      const response = await ui.get(path)
      expect(response.status).toBe(401)
      expect(await response.text()).not.toMatch(/delivery|upkeep|bull/i)
    }
    expect((await put('/api/queues/delivery/x/retry')).status).toBe(401)
    const page = await ui.get('/queues', { accept: 'text/html,*/*' })
    expect(page.status).toBe(401)
    expect(await page.text()).toContain('name="next" value="/queues"')
  })

  test('shows the three queues to the operator, under a policy of its own', async () => {
    const page = await ui.get('/queues', bearer)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'")
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    const listed = (await (await ui.get('/queues/api/queues', bearer)).json()) as { queues: { name: string }[] }
    expect(listed.queues.map((queue) => queue.name).sort()).toEqual(['delivery', 'request', 'upkeep'])
  })

  test('job bodies carry ids only', async () => {
    const response = await ui.get('/queues/api/queues?activeQueue=delivery&status=latest&page=1&jobsPerPage=10', bearer)
    const { queues: all } = (await response.json()) as { queues: { name: string; jobs: { data: object }[] }[] }
    const jobs = all.find((queue) => queue.name === 'delivery')?.jobs ?? []
    expect(jobs.map((job) => job.data)).toEqual([expect.objectContaining({ id: 'delivery-1' })])
    for (const job of jobs) expect(Object.keys(job.data)).toEqual(['id'])
  })

  test.each([
    ['POST', '/api/queues/delivery/add'],
    ['PUT', '/api/queues/delivery/empty'],
    ['PUT', '/api/queues/delivery/obliterate'],
    ['PUT', '/api/queues/delivery/concurrency'],
    ['PUT', '/api/queues/delivery/rate-limit'],
    ['PUT', '/api/queues/delivery/clean/wait'],
    ['PUT', '/api/queues/delivery/clean/active'],
    ['PATCH', '/api/queues/delivery/job/update-data'],
    ['PATCH', '/api/queues/delivery/job/delay'],
    ['PATCH', '/api/queues/delivery/job-schedulers/x'],
    ['PUT', '/api/queues/delivery/job-schedulers/x/run'],
    ['DELETE', '/api/queues/delivery/job'],
    ['PUT', '/api/queues/delivery/%6fbliterate'],
    ['PUT', '/api/queues/delivery/obliterate/'],
    ['POST', '/api/queues/delivery/job/retry'],
  ])('refuses %s %s, and says so in the audit', async (method, path) => {
    const before = ui.audited.length
    expect((await put(path, ours, method)).status).toBe(403)
    expect(ui.audited.slice(before)).toMatchObject([{ who: 'admin-token', act: 'queue refused' }])
  })

  test.each([
    ['retry', '/api/queues/delivery/no-such-job/retry', 404],
    ['promote', '/api/queues/delivery/no-such-job/promote', 404],
    ['clean', '/api/queues/delivery/no-such-job/clean', 404],
    ['retry-all', '/api/queues/delivery/retry/failed', 200],
    ['clean-all', '/api/queues/delivery/clean/completed', 200],
    ['pause', '/api/queues/upkeep/pause', 200],
    ['resume', '/api/queues/upkeep/resume', 200],
  ])('%s reaches the board, with its audit line before it', async (act, path, status) => {
    const before = ui.audited.length
    expect((await put(path, ours)).status).toBe(status)
    expect(ui.audited.slice(before)).toMatchObject([{ who: 'admin-token', act: `queue ${act}` }])
  })

  test.each([
    ['GET', '/api/queues/request/%00', 404],
    ['GET', '/api/queues/%00', 404],
    ['GET', '/api/queues/request/%00/logs', 404],
    ['PUT', '/api/queues/request/%00/retry', 404],
    ['GET', '/api/queues?activeQueue=%00', 400],
    ['GET', '/api/queues?activeQueue=request&status=%00', 400],
  ])('an id that nothing can have: %s %s is %d', async (method, path, status) => {
    expect((await put(path, ours, method)).status).toBe(status)
  })

  test('shows nothing of what the database said', async () => {
    const adapters = queues.adapters()
    const broken = adapters.find((adapter) => adapter.getName() === 'request')
    if (broken === undefined) throw new Error('no queue of that name')
    broken.getJob = () => Promise.reject(new Error('relation "bullmq_jobs" does not exist'))
    const other = webUnderTest(fresh.db, { boardAdapters: adapters })
    const response = await other.get('/queues/api/queues/request/some-job', bearer)
    expect(response.status).toBe(500)
    expect(await response.text()).not.toMatch(/relation|bullmq_jobs/)
  })

  test('takes no act from another site’s page', async () => {
    const { cookie } = await ui.browser()
    const from = {
      cookie,
      origin: 'https://evil.example',
      'sec-fetch-site': 'cross-site',
      'content-type': 'text/plain',
    }
    expect((await put('/api/queues/delivery/retry/failed', from)).status).toBe(403)
    expect(
      (await put('/api/queues/delivery/retry/failed', { ...from, origin: publicUrl, 'sec-fetch-site': 'same-origin' }))
        .status,
    ).toBe(200)
  })

  test.skipIf(chromiumMissing !== null)('works in a browser, and asks nothing of any other host', async () => {
    const server = await listening(
      (url) => webUnderTest(fresh.db, { publicUrl: url, boardAdapters: queues.adapters() }).web,
    )
    const browser = await launch()
    try {
      const context = await browser.newContext({ extraHTTPHeaders: {} })
      const page = await context.newPage()
      const answered: string[] = []
      const complaints: string[] = []
      page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())))
      page.on('response', (response) => void answered.push(new URL(response.url()).host))
      await page.goto(`${server.url}/sign-in?code=${await ui.newCode()}&next=/queues`)
      await page.getByText('delivery', { exact: true }).first().waitFor()
      await page.goto(`${server.url}/queues/queue/delivery`)
      await page.getByText('delivery', { exact: true }).first().waitFor()
      expect(complaints).toEqual([])
      expect(new Set(answered)).toEqual(new Set([new URL(server.url).host]))
      if (process.env['SCREENSHOTS'] !== undefined)
        await page.screenshot({ path: `${process.env['SCREENSHOTS']}/queues.png` })
    } finally {
      await browser.close()
      await server.close()
    }
  })
})
