import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { renderAnswer } from '../../src/render/answer.js'
import { closeRenderWorker, renderAnswerOffThread } from '../../src/render/worker.js'
import { attachedWhole } from '../../src/render/whole.js'
import { view } from './support.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const large = view(`# 报告\n\n${'一段中文 and English text.\n\n| k | v |\n|---|---|\n| a | 1 |\n\n'.repeat(400)}`)

afterEach(closeRenderWorker)

describe('rendering away from the thread that takes events', () => {
  test('a large answer comes back the same as rendered here', async () => {
    expect(await renderAnswerOffThread(large)).toEqual(renderAnswer(large))
  })

  test('this thread stays free while a large answer is rendered', async () => {
    let turns = 0
    let done = false
    const rendering = renderAnswerOffThread(large).finally(() => (done = true))
    while (!done) {
      await new Promise((resolve) => setImmediate(resolve))
      turns++
    }
    await rendering
    expect(turns).toBeGreaterThan(10)
  })

  test('several at once each get their own', async () => {
    const views = [1, 2, 3].map((n) => view(`${large.markdown}\n\nnumber ${n}`))
    const rendered = await Promise.all(views.map((each) => renderAnswerOffThread(each)))
    expect(rendered).toEqual(views.map(renderAnswer))
  })

  test('closing while one runs still answers it, and the next starts a new worker', async () => {
    const running = renderAnswerOffThread(large)
    await closeRenderWorker()
    expect((await running).parts.length).toBeGreaterThan(1)
    expect((await renderAnswerOffThread(large)).parts.length).toBeGreaterThan(1)
  })

  test('a small answer is rendered at once', async () => {
    expect(await renderAnswerOffThread(view('hello'))).toEqual(renderAnswer(view('hello')))
  })

  test('it works compiled, without a loader, and does not keep the process alive', () => {
    const dir = mkdtempSync(join(tmpdir(), 'render-'))
    try {
      const options =
        '--outDir dist --rootDir . --noEmit false --skipLibCheck --target ES2023 --module NodeNext --moduleResolution NodeNext --types node'
      const built = spawnSync(
        process.execPath,
        [
          join(root, 'node_modules/typescript/bin/tsc'),
          '--ignoreConfig',
          ...options.split(' '),
          '--outDir',
          join(dir, 'dist'),
          '--rootDir',
          root,
          join(root, 'src/render/worker.ts'),
        ],
        { cwd: root, encoding: 'utf8' },
      )
      expect(built.stdout + built.stderr).toBe('')
      symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
      writeFileSync(join(dir, 'package.json'), '{"type":"module"}')
      writeFileSync(
        join(dir, 'run.js'),
        `import { renderAnswerOffThread } from './dist/src/render/worker.js'
const markdown = 'text\\n\\n'.repeat(5000)
const rendered = await renderAnswerOffThread({ markdown, language: 'en', reportName: 'r' })
console.log(rendered.parts.length)`,
      )
      const ran = spawnSync(process.execPath, ['run.js'], { cwd: dir, encoding: 'utf8', timeout: 15_000 })
      expect(ran.stderr).toBe('')
      expect(ran.status).toBe(0)
      expect(Number(ran.stdout)).toBeGreaterThan(1)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
})

/** More marks in one paragraph than the memory of the render thread holds, in a size that is taken apart whole. */
const tooHeavy = view(`# Heavy\n\n${'_a_b'.repeat(362_000)}`)

describe('an answer that cannot be rendered is sent as it was written', () => {
  test('when it takes more memory than there is, and the next one is rendered as always', async () => {
    const [heavy, next] = await Promise.all([renderAnswerOffThread(tooHeavy), renderAnswerOffThread(large)])
    expect(heavy.unread).toBe(true)
    expect(heavy.attachments.map((file) => file.text === tooHeavy.markdown)).toEqual([true])
    expect(heavy.parts.map((part) => part.msgType)).toEqual(['text'])
    expect(heavy.parts[0]!.plain).toContain('# Heavy _a_b')
    expect(heavy.parts[0]!.plain).toContain('This is the beginning of the answer')
    expect(next).toEqual(renderAnswer(large))
  }, 120_000)

  test('when its caller waits no longer, whether it is being rendered or still waits', async () => {
    const patience = new AbortController()
    const others = [renderAnswerOffThread(large, patience.signal), renderAnswerOffThread(large, patience.signal)]
    const patient = renderAnswerOffThread(large)
    patience.abort()
    for (const given of await Promise.all(others)) {
      expect(given.unread).toBe(true)
      expect(given.attachments[0]!.text).toBe(large.markdown)
    }
    expect(await patient).toEqual(renderAnswer(large))
  }, 60_000)

  test('when nobody waited from the start', async () => {
    expect((await renderAnswerOffThread(large, AbortSignal.abort())).unread).toBe(true)
  })

  test('and a conclusion comes first there, too', () => {
    const { parts, attachments } = attachedWhole(
      view('body\n'.repeat(9), { conclusion: 'The end.', label: 'no model:' }),
    )
    expect(parts.map((part) => part.plain)).toEqual([
      'no model: This is the beginning of the conclusion. It is attached in full, with the report: report.md The end.',
    ])
    expect(attachments[0]!.text).toContain('The end.\n\n---\n\nbody')
  })

  test('its words are only words', () => {
    const { parts } = attachedWhole(view('<at id=all>\u0000 \ud800 **x** [l](javascript:x)'))
    expect(parts[0]!.content).not.toMatch(/<at |\\u0000|\\ud800/)
    expect(parts[0]!.plain).toContain('**x** [l](javascript:x)')
  })
})

test('a chart is painted on the thread, however short its answer', async () => {
  const data = JSON.stringify({ type: 'line', title: '1', x: ['1', '2'], series: [{ name: '', values: [1, 2] }] })
  const { parts } = await renderAnswerOffThread(view(`\`\`\`chart\n${data}\n\`\`\``))
  const [picture] = parts[0]!.pictures ?? []
  expect(picture?.kind).toBe('chart')
  // Null where the machine has no fonts at all.
  expect(picture?.kind === 'chart' && picture.png !== undefined).toBe(true)
}, 60_000)
