import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configOf } from '../../src/app/config.js'
import { readEnv } from '../../src/app/env.js'
import { startGateway, type Gateway } from '../../src/app/gateway.js'
import { silentLogger } from '../../src/lib/log.js'
import { must } from '../../src/lib/assert.js'
import { openPlatform, until, type Platform } from '../kit/platform.js'
import { chromiumMissing, launch } from '../web/browser.js'

const skipped = chromiumMissing === null ? '' : ` (skipped: ${chromiumMissing})`

describe.skipIf(chromiumMissing !== null)(`the sandbox page of a whole gateway${skipped}`, () => {
  let p: Platform
  let gateway: Gateway
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    p = await openPlatform({ owners: false })
    // Without a real app the gateway brings its own platform and its page.
    const { LARK_APP_ID: _id, LARK_APP_SECRET: _secret, LARK_BASE_URL: _url, ...env } = p.env
    const config = configOf(readEnv(env), 'all')
    if (!config.ok) throw new Error(config.problems.join('\n'))
    const holder = { path: p.dataDir, installation: `test-${p.dataDir}`, release: () => {} }
    const outcome = await startGateway(config.config, readEnv(env), holder, silentLogger)
    if (!outcome.ok) throw new Error(outcome.problem)
    gateway = outcome.gateway
    await until(async () => (await fetch(`${gateway.url}/readyz`)).ok, 'readiness')
    browser = await launch()
    page = await (await browser.newContext({ locale: 'en' })).newPage()
    await page.goto(`${await gateway.signInUrl()}&next=%2Fsandbox`)
  })
  afterAll(async () => {
    await browser.close()
    await gateway.stop()
    await p.close()
  })
  const say = async (text: string) => {
    await page.fill('#text', text)
    await page.click('#say button.main')
  }
  const card = () => page.locator('.msg', { hasText: 'has ended without an answer' })

  test('a stop is a card with two buttons; a press lets go what was held, says so, and leaves nothing to press', async () => {
    await say('!delay 10m')
    await until(
      async () => (await p.db.sql`select 1 from collab.observations where kind = 'turn-presented'`).length === 1,
      'the turn',
    )
    await say('/stop')
    await card().getByRole('button', { name: 'Run all' }).waitFor()
    expect(await card().getByRole('button').allTextContents()).toEqual(expect.arrayContaining(['Run all', 'Skip']))
    await card().getByRole('button', { name: 'Skip' }).click()
    await expect.poll(() => page.locator('#toast').textContent()).toContain('1 message was let go.')
    await expect.poll(() => card().getByRole('button', { name: 'Run all' }).count()).toBe(0)
    expect(await card().textContent()).toContain('1 message was let go.')
    const [request] = await p.db.sql`select 1 from collab.observations where kind = 'request-rejected'`
    must(request, 'the end of the request')
  })

  test('what is to go wrong can be chosen: the platform refuses the words once, and the chat says what became of them', async () => {
    await page.click('[data-trouble=refused]')
    await expect.poll(() => page.locator('#toast').textContent()).toContain('The platform refuses the words')
    await say('!reply the first words')
    await page.getByText('content check refused an answer').waitFor()
    const link = page.locator('.msg .said a').last()
    expect(await link.getAttribute('href')).toMatch(/\/requests\/[\w-]+$/)
    await page.locator('.reaction[data-emoji=CrossMark]').waitFor()
    await say('!reply the second words')
    await page.locator('.msg.theirs', { hasText: 'the second words' }).waitFor()
    // The question is quoted above the notice; nothing says its answer.
    expect(await page.locator('.msg.theirs .said', { hasText: 'the first words' }).count()).toBe(0)
  })
})
