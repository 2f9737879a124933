/**
 * `npm run gallery`: starts a gateway with its sandbox in a folder that is thrown away, says what `scenes.ts` says,
 * waits for what follows and takes the pictures of docs/gallery.md. `npm run gallery -- tables code` takes those alone.
 *
 * Needs chromium and fonts for every script: apt-get install --no-install-recommends chromium fonts-noto-cjk
 * fonts-noto-color-emoji fonts-dejavu-core
 */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { start } from '../../bench/process.js'
import { gallery } from './page.js'
import { scenes, type Scene } from './scenes.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const folder = join(root, 'docs', 'gallery')
const script = (name: string): string => join(root, 'scripts', 'gallery', name)

const sizes = {
  desktop: { viewport: { width: 1280, height: 760 }, deviceScaleFactor: 1 },
  phone: { viewport: { width: 390, height: 800 }, deviceScaleFactor: 1.25, isMobile: true, hasTouch: true },
} as const
type Size = keyof typeof sizes

type Session = Awaited<ReturnType<BrowserContext['storageState']>>

async function main(): Promise<void> {
  const wanted = process.argv.slice(2)
  const dataDir = mkdtempSync(join(tmpdir(), 'lark-manager-gallery-'))
  const tsx = join(root, 'node_modules', 'tsx', 'dist', 'cli.mjs')
  const gateway = await start(
    {
      program: process.execPath,
      args: [tsx, join(root, 'src', 'main.ts'), 'start'],
      cwd: root,
      env: {
        DATA_DIR: dataDir,
        HOST: '127.0.0.1',
        PORT: '0',
        MANAGER_ENDPOINT: 'acp',
        // In a group it runs confined, and sees of its installation what is named here.
        MANAGER_COMMAND: [process.execPath, tsx, ...['agent.ts', 'answers.ts', 'long.ts'].map(script)].join(' '),
        PROGRESS_AFTER_MS: '8000',
        FOLLOW_UPS_WAITING: '2',
        LOG_LEVEL: 'error',
      },
      limitMs: 120_000,
    },
    (line) => /^sign in: (\S+)$/u.exec(line)?.[1] ?? null,
  )
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  try {
    await takeAll(browser, gateway.ready, wanted)
  } finally {
    await browser.close()
    await gateway.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  writeFileSync(join(root, 'docs', 'gallery.md'), gallery(scenes))
  const bytes = readdirSync(folder).map((name) => statSync(join(folder, name)).size)
  process.stdout.write(`${bytes.length} pictures, ${Math.round(bytes.reduce((sum, one) => sum + one, 0) / 1000)} KB\n`)
}

async function takeAll(browser: Browser, signIn: string, wanted: readonly string[]): Promise<void> {
  const first = await browser.newContext({ locale: 'en' })
  const page = await first.newPage()
  await page.goto(signIn)
  const session = await first.storageState()
  const origin = new URL(signIn).origin
  // The agent's first start takes seconds, and is in no picture.
  await play(page, origin, { ...warmUp, room: 'Direct message' })
  for (const scene of scenes) {
    // What is not wanted is still said: a choice follows the work that it stops.
    const question = await play(page, origin, scene).catch(async (error: unknown) => {
      await page.screenshot({ path: join(tmpdir(), 'gallery-failed.png') })
      throw error
    })
    if (wanted.length > 0 && !wanted.includes(scene.name)) continue
    for (const size of ['desktop', 'phone'] as const) await take(browser, session, page.url(), scene, size, question)
    process.stdout.write(`${scene.name}\n`)
  }
}

const warmUp = { say: 'Are you there?', until: 'I know only' } as const

/** Says what the scene says and waits until it is complete. Gives the id of the question in the page. */
async function play(
  page: Page,
  origin: string,
  scene: Pick<Scene, 'say' | 'until' | 'room' | 'trouble' | 'waits' | 'by' | 'times' | 'look'>,
): Promise<string> {
  await enter(page, origin, scene.room)
  if (scene.trouble !== undefined) {
    await page.click(`[data-trouble=${scene.trouble}]`)
    await page.locator('#toast:not([hidden])').waitFor()
  }
  const before = await page.evaluate<string>(`document.querySelector('#talk > .msg:last-child')?.id ?? ''`)
  if (scene.by !== undefined) await page.selectOption('select[name=from]', { label: scene.by })
  for (let n = 1; n <= (scene.times ?? 1); n += 1) {
    const words = scene.times === undefined ? scene.say : `${scene.say} ${n}`
    await page.fill('#text', words)
    await page.click('#say button.main')
    await page.locator('#talk', { hasText: words }).waitFor()
  }
  if (scene.look !== undefined) {
    await enter(page, origin, scene.look)
    const card = page.locator('#talk > .msg', { hasText: scene.until }).last()
    await card.waitFor({ timeout: 60_000 })
    return (await card.getAttribute('id')) ?? ''
  }
  const after = before === '' ? '#talk > .msg' : `#talk > [id="${before}"] ~ .msg`
  const question = page.locator(after, { hasText: scene.say }).first()
  await question.waitFor()
  const id = (await question.getAttribute('id')) ?? ''
  const here = page.locator(`#talk > [id="${id}"], #talk > [id="${id}"] ~ .msg`)
  await here.filter({ hasText: scene.until }).last().waitFor({ timeout: 60_000 })
  // The receipt goes when the answer is proved to be there; work that goes on keeps it.
  if (scene.waits !== true) await page.locator(`[id="${id}"] .reaction[data-emoji=Get]`).waitFor({ state: 'detached' })
  return id
}

async function enter(page: Page, origin: string, name: Scene['room']): Promise<void> {
  await page.goto(`${origin}/sandbox`)
  const room = page.locator('.rooms a', { hasText: name })
  await page.goto(`${origin}${(await room.getAttribute('href')) ?? '/sandbox'}`)
}

async function take(
  browser: Browser,
  session: Session,
  url: string,
  scene: Scene,
  size: Size,
  question: string,
): Promise<void> {
  const dark = scene.dark === (size === 'desktop')
  const context = await browser.newContext({
    ...sizes[size],
    storageState: session,
    locale: scene.language,
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    // The page allows no style of others; the pictures need one.
    bypassCSP: true,
  })
  const page = await context.newPage()
  // The page asks for the room once more when its stream opens: after that it stands still.
  const settled = page.waitForResponse((response) => response.url().includes('/sandbox/chats/'))
  await page.goto(url)
  await (await settled).finished()
  // One question to a picture: what was said before it is left out.
  const earlier = `#talk > .msg:not([id="${question}"], [id="${question}"] ~ .msg)`
  await page.addStyleTag({ content: `${earlier} { display: none } #talk > :first-child { margin-top: 0 }` })
  await page.evaluate(`(() => {
    document.activeElement?.blur?.()
    const talk = document.getElementById('talk')
    talk.scrollTop = ${scene.from?.[size] === undefined ? '0' : '1e9'}
    if (${scene.from?.[size] === 'last'}) talk.scrollTop = talk.lastElementChild.offsetTop - talk.offsetTop - 14
  })()`)
  await page.evaluate(`Promise.all([...document.images].map((image) => image.decode().catch(() => {})))`)
  await page.screenshot({ path: join(folder, `${scene.name}-${size}.png`) })
  await context.close()
}

await main()
