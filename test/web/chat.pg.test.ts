import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seedIds } from '../../src/sandbox/seed.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { chromiumMissing, launch, listening } from './browser.js'
import { botOf, chatOf, localPlatform } from './chat-kit.js'
import { webUnderTest, type WebUnderTest } from './kit.js'

const skipped = chromiumMissing === null ? '' : ` (skipped: ${chromiumMissing})`
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

let fresh: FreshDb
let ui: WebUnderTest
let server: Awaited<ReturnType<typeof listening>>
const platform = localPlatform()
const bot = botOf(platform)

beforeAll(async () => {
  fresh = await freshDb()
  server = await listening((publicUrl) => {
    const chat = chatOf(platform)
    const directives = [{ syntax: '!reply <markdown>', en: 'answer with this', zh: '原样回复' }]
    ui = webUnderTest(fresh.db, { publicUrl, sandbox: { handle: platform.handle, chat, directives } })
    return ui.web
  })
})
afterAll(async () => {
  await server.close()
  await platform.close()
  await fresh.drop()
})

describe('the sandbox door', () => {
  const say = (headers: Record<string, string>, body: object) =>
    ui.post('/sandbox/say', { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })
  const words = { chatId: seedIds.dm, from: seedIds.alice, text: 'hi', mention: false }

  test('shows nothing without a session', async () => {
    expect((await ui.get('/sandbox')).headers.get('location')).toBe('/sign-in?next=%2Fsandbox')
    for (const path of [`/sandbox/chats/${seedIds.dm}`, '/sandbox/events', '/sandbox/files/x'])
      expect((await ui.get(path)).status).toBe(401)
    expect((await say({}, words)).status).toBe(401)
  })
  test('takes no words from another site’s page', async () => {
    const { cookie } = await ui.browser()
    expect((await say({ cookie }, words)).status).toBe(403)
  })
  test.each([
    ['an unknown room', { chatId: 'oc_nowhere' }],
    ['somebody who is not in it', { from: seedIds.bob }],
    ['a topic of another room', { threadOf: 'om_nothing' }],
    ['no words', { text: '' }],
  ])('refuses %s', async (_name, wrong) => {
    const { cookie, csrf } = await ui.browser()
    expect((await say({ cookie, 'x-csrf-token': csrf }, { ...words, ...wrong })).status).toBe(400)
  })
  test('arms a fault of the platform for the operator alone, and knows each by its name', async () => {
    const arm = (headers: Record<string, string>, what: string) =>
      ui.post('/sandbox/trouble', {
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ what }),
      })
    const { cookie, csrf } = await ui.browser()
    const headers = { cookie, 'x-csrf-token': csrf }
    expect((await arm({}, 'refused')).status).toBe(401)
    expect((await arm({ cookie }, 'refused')).status).toBe(403)
    expect((await arm(headers, 'earthquake')).status).toBe(400)
    for (const what of ['refused', 'line-cut', 'slow-down']) expect((await arm(headers, what)).status).toBe(200)
  })
  test('reaches the platform’s own surface without our session, and only in the sandbox', async () => {
    expect((await ui.get('/open-apis/bot/v3/info')).status).not.toBe(404)
    const real = webUnderTest(fresh.db)
    expect((await real.get('/open-apis/bot/v3/info')).status).toBe(404)
    expect((await real.get('/sandbox', { cookie: (await real.browser()).cookie })).status).toBe(404)
  })
})

describe.skipIf(chromiumMissing !== null)(`the chat in a real browser${skipped}`, () => {
  let browser: Browser
  beforeAll(async () => void (browser = await launch()))
  afterAll(() => browser?.close())

  async function open(chatId: string): Promise<Page> {
    const page = await (await browser.newContext({ locale: 'en' })).newPage()
    await page.goto(
      `${server.url}/sign-in?code=${await ui.newCode()}&next=${encodeURIComponent(`/sandbox?chat=${chatId}`)}`,
    )
    return page
  }
  const last = (chatId: string) => platform.world.messages(chatId).at(-1)

  test('a newcomer writes; reaction, several parts, a picture and a file arrive without a reload', async () => {
    const page = await open(seedIds.dm)
    await page.fill('#text', 'What is the plan?')
    await page.keyboard.press('Enter')
    await page.locator('.msg.mine', { hasText: 'What is the plan?' }).waitFor()
    const asked = last(seedIds.dm)
    expect(asked).toMatchObject({ sender: seedIds.alice, msgType: 'text' })
    const { reaction_id: reaction } = await bot.react(asked?.id ?? '', 'Get')
    await page.locator('.mine .reaction', { hasText: 'Get' }).waitFor()
    for (const n of [1, 2, 3]) {
      const elements = [{ tag: 'markdown', content: `**Part ${n}** of 3` }]
      await bot.reply(asked?.id ?? '', 'interactive', { schema: '2.0', body: { elements } })
    }
    await page.locator('.theirs strong', { hasText: 'Part 3' }).waitFor()
    expect(await page.locator('.theirs .prose strong').allTextContents()).toEqual(['Part 1', 'Part 2', 'Part 3'])
    await bot.upload('image', 'chart.png', png).then((key) => bot.send(seedIds.dm, 'image', { image_key: key }))
    await bot
      .upload('file', 'report.md', Buffer.from('# all of it'))
      .then((key) => bot.send(seedIds.dm, 'file', { file_key: key }))
    await page.locator('.theirs .file a', { hasText: 'report.md' }).waitFor()
    await expect.poll(() => page.evaluate<number>(`document.querySelector('.theirs img')?.naturalWidth`)).toBe(1)
    const download = page.waitForEvent('download')
    await page.locator('.theirs .file a').click()
    expect((await download).suggestedFilename()).toBe('report.md')
    await bot.unreact(asked?.id ?? '', String(reaction))
    await expect.poll(() => page.locator('.mine .reaction').count()).toBe(0)
    await page.context().close()
  })

  test('in a group the bot is mentioned unless the box is empty, and Bob can speak', async () => {
    const page = await open(seedIds.group)
    await page.selectOption('select[name=from]', { label: 'Bob' })
    await page.fill('#text', 'status?')
    await page.click('button.main')
    await page.locator('.msg', { hasText: 'status?' }).waitFor()
    expect(last(seedIds.group)).toMatchObject({
      sender: seedIds.bob,
      content: expect.stringContaining('@_user_1') as string,
    })
    await page.uncheck('input[name=mention]')
    await page.fill('#text', 'just talking')
    await page.click('button.main')
    await page.locator('.msg', { hasText: 'just talking' }).waitFor()
    expect(last(seedIds.group)?.content).not.toContain('@_user_1')
    await page.context().close()
  })

  test('a reply stays in its topic, a file goes with it, and a message can be recalled', async () => {
    const page = await open(seedIds.topicGroup)
    await page.fill('#text', 'Topic one')
    await page.click('button.main')
    const root = page.locator('.talk > .msg', { hasText: 'Topic one' })
    await root.getByRole('button', { name: 'Reply' }).click()
    await page.fill('#text', 'and the details')
    await page.setInputFiles('#file', { name: '说明.txt', mimeType: 'text/plain', buffer: Buffer.from('abc') })
    await page.locator('#attached', { hasText: '说明.txt' }).waitFor()
    await page.click('button.main')
    await root.locator('.thread .msg', { hasText: 'and the details' }).waitFor()
    await root.locator('.thread .file', { hasText: '说明.txt' }).waitFor()
    const threads = new Set(platform.world.messages(seedIds.topicGroup).map((message) => message.threadId))
    expect(threads.size).toBe(1)
    await root.locator('.thread .msg', { hasText: 'and the details' }).getByRole('button', { name: 'Recall' }).click()
    await root.locator('.thread', { hasText: 'This message was recalled' }).waitFor()
    await page.context().close()
  })

  test('a hint goes into the message; a draft and the reading place survive what arrives', async () => {
    const page = await open(seedIds.dm)
    await page.fill('#text', 'my draft')
    await page.getByRole('button', { name: '!reply <markdown>' }).click()
    await bot.send(seedIds.dm, 'text', { text: 'something arrives' })
    await page.locator('.msg', { hasText: 'something arrives' }).waitFor()
    expect(await page.inputValue('#text')).toBe('my draft\n!reply <markdown>')
    await bot.send(seedIds.group, 'text', { text: 'elsewhere' })
    await page.locator('.rooms a.unread', { hasText: 'Gateway test group' }).waitFor()
    await page.context().close()
  })

  test('who reads the newest stays there; who reads further up is left there', async () => {
    const page = await open(seedIds.group)
    const place = () =>
      page.evaluate<number>(
        `(() => { const t = document.getElementById('talk'); return t.scrollHeight - t.scrollTop - t.clientHeight })()`,
      )
    for (let n = 0; n < 12; n++) await bot.send(seedIds.group, 'text', { text: `filler ${n}\n\n\n` })
    const key = await bot.upload('image', 'chart.png', png)
    await bot.send(seedIds.group, 'image', { image_key: key })
    await page.locator('.theirs img').waitFor({ state: 'attached' })
    await expect.poll(place).toBeLessThan(2)
    await page.evaluate(`document.getElementById('talk').scrollTop = 0`)
    await expect.poll(place).toBeGreaterThan(200)
    await bot.send(seedIds.group, 'text', { text: 'one more' })
    await page.locator('.msg', { hasText: 'one more' }).waitFor()
    expect(await page.evaluate<number>(`document.getElementById('talk').scrollTop`)).toBe(0)
    await page.context().close()
  })

  test('a button of a card tells the bot who pressed what', async () => {
    const page = await open(seedIds.group)
    const button = {
      tag: 'button',
      text: { tag: 'plain_text', content: 'Run it' },
      behaviors: [{ type: 'callback', value: { run: 1 } }],
    }
    await bot.send(seedIds.group, 'interactive', { schema: '2.0', body: { elements: [button] } })
    const before = platform.pushes().length
    await page.getByRole('button', { name: 'Run it' }).click()
    await expect.poll(() => page.getByRole('button', { name: 'Run it' }).isEnabled()).toBe(true)
    expect(platform.pushes().length).toBeGreaterThanOrEqual(before)
    await page.context().close()
  })

  test('A21 hostile HTML in text, cards, posts and file names is inert', async () => {
    const page = await open(seedIds.dm)
    let dialogs = 0
    page.on('dialog', (dialog) => void (dialogs++, dialog.dismiss()))
    const evil =
      '<img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>[x](javascript:alert(4))![p](https://evil.example/p.png)'
    platform.world.say({ chatId: seedIds.dm, from: seedIds.alice, text: evil })
    await bot.send(seedIds.dm, 'interactive', {
      schema: '2.0',
      header: { title: { tag: 'plain_text', content: evil } },
      body: { elements: [{ tag: 'markdown', content: evil.replace('![p]', '[p]') }] },
    })
    await bot.send(seedIds.dm, 'post', {
      en_us: {
        title: evil,
        content: [[{ tag: 'text', text: evil }]],
      },
    })
    await bot
      .upload('file', '"><img src=x onerror=alert(6)>.html', Buffer.from('<script>alert(7)</script>'))
      .then((key) => bot.send(seedIds.dm, 'file', { file_key: key }))
    await page.locator('.file', { hasText: 'onerror=alert(6)' }).waitFor()
    const inside = await page.evaluate<string[]>(
      `[...document.querySelectorAll('#talk script, #talk svg:not(.icon), #talk [onerror], #talk [onload], #talk a[href^="javascript" i], #talk img[src^="http" i]')].map((e) => e.outerHTML)`,
    )
    expect([inside, dialogs]).toEqual([[], 0])
    const key = platform.world.uploads().find((upload) => upload.fileName.endsWith('.html'))?.key
    const response = await page.request.get(`${server.url}/sandbox/files/${key}`)
    expect(response.headers()).toMatchObject({
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
    })
    expect(response.headers()['content-disposition']).toMatch(/^attachment/)
    await page.context().close()
  })
})
