import { closeRenderWorker, renderAnswerOffThread } from '../src/render/worker.js'

/**
 * What a large answer costs where it is rendered in earnest, on the render thread: processor time of the process,
 * how much its memory grew at most, and what became of the answer. The thread is up before the first measurement.
 * Run with `npx tsx bench/render-large.ts [bytes …]`.
 */
const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [120 * 1024, 1_000_000]

const table = `| 项 | value | note |\n|---|---|---|\n${Array.from({ length: 12 }, (_, n) => `| 第 ${n} 行 | **${n}** | \`code\` and [link](https://example.test/${n}) |`).join('\n')}`
const kinds: Readonly<Record<string, readonly [head: string, piece: string]>> = {
  'mixed zh/en, tables, code': [
    '',
    `## 状态 status\n\n这一段说明了情况，with **some** English in it.\n\n- 第一项\n- second\n\n${table}\n\n\`\`\`ts\nconst a = "1"\n\`\`\`\n\n`,
  ],
  prose: ['', '一段普通的中文文字，and some English words. '.repeat(8) + '\n\n'],
  'one line': ['', '語'],
  'one table': ['| a | b |\n|---|---|\n', '| **1** | `x` |\n'],
  'one list': ['', '- item of a list\n'],
  stars: ['', '*a '],
  'open brackets': ['', '['],
  tildes: ['', '~~a'],
  'inner underscores': ['', '_a_b'],
}

process.stdout.write('| kind | bytes | processor | wall | memory | sent as |\n| --- | --- | --- | --- | --- | --- |\n')
await renderAnswerOffThread({ markdown: 'word '.repeat(2_000), language: 'en', reportName: 'report' })
for (const bytes of sizes) {
  for (const [name, [head, piece]] of Object.entries(kinds)) {
    const markdown = head + piece.repeat(Math.ceil((bytes - head.length) / Buffer.byteLength(piece)))
    const before = process.memoryUsage().rss
    let most = before
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5)
    const cpu = process.cpuUsage()
    const start = performance.now()
    const rendered = await renderAnswerOffThread({ markdown, language: 'en', reportName: 'report' })
    const wall = performance.now() - start
    const used = process.cpuUsage(cpu)
    clearInterval(watch)
    const sent =
      rendered.unread === true
        ? 'as written'
        : `${rendered.parts.length} message(s), ${rendered.attachments.length} file(s)`
    const cells = [
      name,
      Buffer.byteLength(markdown),
      `${((used.user + used.system) / 1_000).toFixed(0)} ms`,
      `${wall.toFixed(0)} ms`,
      `+${((most - before) / 1e6).toFixed(0)} MB`,
      sent,
    ]
    process.stdout.write(`| ${cells.join(' | ')} |\n`)
  }
}
await closeRenderWorker()
