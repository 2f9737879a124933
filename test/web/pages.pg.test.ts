import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seedIds } from '../../src/sandbox/seed.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { faintScript, sizeScript, type PageSize } from './page-checks.js'
import { chromiumMissing, launch, listening } from './browser.js'
import { botOf, chatOf, localPlatform } from './chat-kit.js'
import { webUnderTest, type WebUnderTest } from './kit.js'
import { answer, ask, deliver, fail, present } from './seed.js'

const skipped = chromiumMissing === null ? '' : ` (skipped: ${chromiumMissing})`
const shots = process.env['SCREENSHOTS'] ?? mkdtempSync(join(tmpdir(), 'lark-manager-pages-'))

const markdown = `Conclusion first: **two of three** services moved, [the list](https://example.com/list) has the rest.

| service | version | state |
| --- | --- | --- |
| gateway | 2.4.1 | moved |
| ledger | 1.9.0 | moved |
| report-generator-with-a-long-name | 0.3.0 | waits for the database |

\`\`\`sh
git log --oneline -3 --decorate --some-quite-long-option=which-does-not-fit-a-phone-screen
\`\`\`

- 第一项：已完成
- 第二项：等待中`

describe.skipIf(chromiumMissing !== null)(`pages in a real browser${skipped}`, () => {
  let fresh: FreshDb
  let ui: WebUnderTest
  let browser: Browser
  let server: Awaited<ReturnType<typeof listening>>
  let paths: Record<string, string>
  const complaints: string[] = []
  const platform = localPlatform()
  const bot = botOf(platform)

  beforeAll(async () => {
    fresh = await freshDb()
    server = await listening((publicUrl) => {
      ui = webUnderTest(fresh.db, {
        publicUrl,
        sandbox: { handle: platform.handle, chat: chatOf(platform), directives },
      })
      return ui.web
    })
    paths = await fill(ui)
    browser = await launch()
    await talk()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
    await platform.close()
    await fresh?.drop()
  })

  const directives = [
    { syntax: '!reply <markdown>', en: 'answer with this text as it stands', zh: '原样回复这段文字' },
    { syntax: '!parts 3', en: 'an answer that needs about this many messages', zh: '大约需要这么多条消息的回答' },
    { syntax: '!attach chart.png', en: 'give a file with the answer', zh: '随回答附上一个文件' },
  ]

  async function talk(): Promise<void> {
    const { world } = platform
    const first = world.say({ chatId: seedIds.dm, from: seedIds.alice, text: 'What moved today? <b>bold?</b>' })
    await bot.react(first.id, 'Get')
    const card = { schema: '2.0', body: { elements: [{ tag: 'markdown', content: markdown }] } }
    await bot.reply(first.id, 'interactive', card)
    world.say({ chatId: seedIds.dm, from: seedIds.alice, text: '谢谢！那第三个呢？' })
    const topic = world.say({
      chatId: seedIds.topicGroup,
      from: seedIds.bob,
      text: 'Plan for Friday?',
      mentionBot: true,
    })
    await bot.reply(topic.id, 'text', { text: 'Nothing is planned yet.' }, true)
    world.say({ chatId: seedIds.topicGroup, from: seedIds.alice, text: 'Add the review.', threadOf: topic.id })
    const group = world.say({ chatId: seedIds.group, from: seedIds.bob, text: 'status please', mentionBot: true })
    await bot.react(group.id, 'CrossMark')
  }

  async function open(options: { width: number; height: number; dark: boolean; language: string }): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width: options.width, height: options.height },
      colorScheme: options.dark ? 'dark' : 'light',
      locale: options.language,
      isMobile: options.width < 500,
      hasTouch: options.width < 500,
    })
    const page = await context.newPage()
    page.on('pageerror', (error) => void complaints.push(error.message))
    page.on('console', (message) => {
      // The browser reports what our policy blocks as an error; nothing of ours may be blocked.
      if (message.type() === 'error' && !message.text().includes('404')) complaints.push(message.text())
    })
    const response = await page.goto(`${server.url}/sign-in?code=${await ui.newCode()}`)
    expect(response?.status()).toBe(200)
    return page
  }

  const views = [
    { name: 'phone-light', width: 360, height: 780, dark: false, language: 'en' },
    { name: 'phone-dark', width: 360, height: 780, dark: true, language: 'zh-CN' },
    { name: 'desktop-light', width: 1280, height: 860, dark: false, language: 'zh-CN' },
    { name: 'desktop-dark', width: 1280, height: 860, dark: true, language: 'en' },
  ]
  test.each(views)('A10 every page fits and is readable: $name', async (view) => {
    const page = await open(view)
    for (const [name, path] of Object.entries(paths)) {
      await page.goto(server.url + path)
      await page.waitForLoadState('load')
      const size = await page.evaluate<PageSize>(sizeScript)
      expect(size.wide, `${name} is wider than the screen`).toBeLessThanOrEqual(size.seen)
      expect(size.font).toBeGreaterThanOrEqual(16)
      expect(await page.evaluate<string[]>(faintScript), `${name} has faint text`).toEqual([])
      await page.screenshot({ path: join(shots, `${name}-${view.name}.png`), fullPage: !path.startsWith('/sandbox') })
    }
    expect(complaints).toEqual([])
    await page.context().close()
  })

  test('A21 hostile HTML in a request, its answer and its files is inert in the page', async () => {
    const page = await open({ width: 900, height: 700, dark: false, language: 'en' })
    let dialogs = 0
    page.on('dialog', (dialog) => {
      dialogs++
      void dialog.dismiss()
    })
    const x = ui.deps.exchange
    const evil =
      '</title></style></textarea><script>alert(1)</script><img src=x onerror=alert(2)><a href="javascript:alert(3)">a</a> [b](javascript:alert(4)) ![c](https://evil.example/c.png) <svg onload=alert(5)>'
    const id = await ask(x, { text: evil, at: ui.now })
    const files = [
      { digest: 'b'.repeat(64), fileName: '"><script>alert(6)</script>.md', mediaType: 'text/html', size: 3 },
    ]
    await answer(x, id, await present(x, id, ui.now), { text: evil, conclusion: evil, at: ui.now, files })
    for (const path of ['/', `/requests/${id}`, `/requests/${id}?said=<script>alert(7)</script>`]) {
      await page.goto(server.url + path)
      await page.getByText('alert(1)').first().waitFor()
      const inside = await page.evaluate<string[]>(
        `[...document.querySelectorAll('main script, main style, main svg, main img, [onerror], [onload], a[href^="javascript" i], form[action^="http" i]')].map((e) => e.outerHTML)`,
      )
      expect(inside).toEqual([])
    }
    expect(dialogs).toBe(0)
    complaints.length = 0
    await page.context().close()
  })

  test('the page of a request follows what happens, and acts work without a reload of one’s own', async () => {
    const page = await open({ width: 900, height: 700, dark: false, language: 'en' })
    const x = ui.deps.exchange
    const id = await ask(x, { text: 'Tell me when it is done', at: ui.now })
    await page.goto(`${server.url}/requests/${id}`)
    await page.getByText('It waits for its turn.').waitFor()
    const turn = await present(x, id, ui.now)
    await page.getByText('The agent is working on it.').waitFor()
    const cause = await answer(x, id, turn, { text: 'It is done now.', at: ui.now })
    await deliver(x, { request: id, cause, at: ui.now, outcome: 'parked', parts: ['parked'] })
    await page.getByText('It is done now.').waitFor()
    for (const choice of ['It arrived', 'It is not there, send it', 'Let it be']) {
      expect(await page.getByRole('button', { name: choice, exact: true }).count()).toBe(1)
    }
    await page.getByLabel('id of the message, if known').fill('om_seen')
    await page.getByRole('button', { name: 'It arrived' }).click()
    await page.getByText('Done. What follows appears here.').waitFor()
    expect(await page.getByText('Accepted', { exact: true }).count()).toBe(1)
    expect(await page.getByText('delivery present part 0 as om_seen').count()).toBe(1)
    await page.getByText('Correct it').click()
    await page.fill('textarea', 'Also in French')
    await page.getByRole('button', { name: 'Send correction' }).click()
    await page.locator('.card .said', { hasText: 'Also in French' }).waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
  })

  test('somebody else’s form is refused', async () => {
    const { cookie } = await ui.browser()
    const id = await ask(ui.deps.exchange, { text: 'mine', at: ui.now })
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' }
    const body = 'kind=cancellation&key=k&revision=1&csrf=guess'
    expect((await ui.post(`/requests/${id}/revisions`, { headers, body })).status).toBe(403)
    expect((await ui.post('/deliveries/x/retry', { headers, body: `${body}&request=${id}` })).status).toBe(403)
  })
})

/** Requests in every state; the addresses of the pages to be looked at. */
async function fill(ui: WebUnderTest): Promise<Record<string, string>> {
  const x = ui.deps.exchange
  ui.now = Date.now()
  const at = (minutesAgo: number) => ui.now - minutesAgo * 60_000
  await ask(x, {
    text: '上周的报告里，哪些数字需要更正？\n请附上来源。',
    at: at(60 * 30),
    chat: 'oc_group',
    thread: 'omt_1',
  })
  const failed = await ask(x, { text: 'Summarise the incident of last night', at: at(300), chat: 'oc_group' })
  await fail(x, failed, await present(x, failed, at(299)), at(290))
  await ask(x, { text: 'An old message that waited while we were down', at: at(200), late: true })
  const done = await ask(x, { text: 'Which services moved today, and which of them still wait?', at: at(90) })
  const turn = await present(x, done, at(89))
  const files = [{ digest: 'a'.repeat(64), fileName: 'report 报告.md', mediaType: 'text/markdown', size: 48_213 }]
  const conclusion = 'Two of three services moved.'
  const cause = await answer(x, done, turn, { text: markdown, conclusion, at: at(85), files })
  await deliver(x, { request: done, cause, at: at(85), outcome: 'verified', parts: ['verified', 'verified'] })
  const parked = await ask(x, { text: 'Compare the two drafts and say which one to send', at: at(20) })
  const second = await answer(x, parked, await present(x, parked, at(19)), { text: 'Send the second one.', at: at(15) })
  await deliver(x, {
    request: parked,
    cause: second,
    at: at(15),
    outcome: 'parked',
    parts: ['verified', 'parked', 'planned'],
  })
  await present(x, await ask(x, { text: 'Read the whole repository and list what nobody owns', at: at(2) }), at(1))
  return {
    list: '/',
    'list-empty': '/?state=open&conversation=none',
    closed: `/requests/${done}`,
    parked: `/requests/${parked}`,
    failed: `/requests/${failed}`,
    'not-found': '/requests/nothing',
    'chat-dm': `/sandbox?chat=${seedIds.dm}`,
    'chat-topics': `/sandbox?chat=${seedIds.topicGroup}`,
    'chat-group': `/sandbox?chat=${seedIds.group}`,
  }
}
