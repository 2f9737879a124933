import { renderAnswer } from '../src/render/answer.js'
import { parser } from '../src/render/leaves.js'

/**
 * What rendering costs: milliseconds (median of 7) for 120 KB of each kind, and how that compares with parsing the same
 * text once. Run with `npx tsx bench/render.ts`.
 */
const BYTES = 120 * 1024

const table = `| 项 | value | note |\n|---|---|---|\n${Array.from({ length: 12 }, (_, n) => `| 第 ${n} 行 | **${n}** | \`code\` and [link](https://example.test/${n}) |`).join('\n')}`
const kinds: Readonly<Record<string, string>> = {
  'mixed zh/en with tables and code': `## 状态 status\n\n这一段说明了情况，with **some** English in it. 接着说。\n\n- 第一项\n- second item\n\n${table}\n\n\`\`\`ts\nconst a = "1"\n\`\`\`\n\n`,
  'one line of CJK': '語',
  'one line of flags': '🇨🇳',
  'many links': '[l](https://example.test/a_b) ',
  'open brackets': '[',
  stars: '*a ',
  'mixed stars': '**a*b**',
  backticks: '`a``b',
  'nested quotes': '> > > a\n',
  'nested lists': `${Array.from({ length: 12 }, (_, n) => `${'  '.repeat(n)}- a`).join('\n')}\n`,
  'short paragraphs': 'text\n\n',
}

const parse = parser()

for (const [name, piece] of Object.entries(kinds)) {
  const markdown = piece.repeat(Math.ceil(BYTES / Buffer.byteLength(piece)))
  const rendering = median(() => renderAnswer({ markdown, language: 'en', reportName: 'report' }))
  const parsing = median(() => parse.parse(markdown, {}))
  const ratio = (rendering / parsing).toFixed(1)
  process.stdout.write(`${name.padEnd(34)} ${rendering.toFixed(0).padStart(6)} ms  ${ratio.padStart(6)} × parsing\n`)
}

function median(run: () => unknown): number {
  const times = Array.from({ length: 7 }, () => {
    const start = performance.now()
    run()
    return performance.now() - start
  }).sort((a, b) => a - b)
  return times[3] ?? 0
}
