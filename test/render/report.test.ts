import { describe, expect, test } from 'vitest'
import { renderAnswer } from '../../src/render/answer.js'
import { CARD_MAX_BYTES } from '../../src/render/wire.js'
import { shown, view } from './support.js'

const section = (n: number): string =>
  `## Part ${n} 第 ${n} 部分\n\n${'这一段说明了情况，with some English in it. '.repeat(40)}\n\n| 项 | value |\n|---|---|\n| a${n} | ${n} |\n\n\`\`\`ts\nconst n = ${n}\n\`\`\``
const sections = (count: number): string => Array.from({ length: count }, (_, n) => section(n)).join('\n\n')
const sources = '\n\nSources:\n\n[1]: https://example.test/first\n[2]: https://example.test/second'

describe('a long answer', () => {
  test('A9 120 KB with code, tables and CJK is delivered whole, in order, within every limit', () => {
    const markdown = sections(16) + `\n\n${'长文。'.repeat(9_500)}`
    expect(Buffer.byteLength(markdown)).toBeGreaterThan(119_000)
    const { parts, attachments } = renderAnswer(view(markdown))
    expect(attachments).toEqual([])
    expect(parts.length).toBeLessThanOrEqual(8)
    for (const part of parts) expect(part.bytes).toBeLessThanOrEqual(CARD_MAX_BYTES)
    const said = parts.map((part) => part.plain).join(' ')
    const order = Array.from({ length: 16 }, (_, n) => said.indexOf(`const n = ${n}`))
    expect(order.every((at) => at >= 0)).toBe(true)
    expect([...order].sort((a, b) => a - b)).toEqual(order)
    expect(said.split('长文。').length - 1).toBe(9_500)
  })

  test('A21 a short question gets a short answer: one text, no number, no file', () => {
    const { parts, attachments } = renderAnswer(view('Yes, it is deployed.'))
    expect(parts.map((part) => [part.msgType, shown(part)])).toEqual([['text', 'Yes, it is deployed.']])
    expect(attachments).toEqual([])
  })

  test('A21 a long report comes with its conclusion first and the full report with its sources attached', () => {
    const markdown = sections(120) + sources
    const answer = renderAnswer(
      view(markdown, { conclusion: '**Ship it.** All checks passed.', reportName: '季度报告' }),
    )
    expect(answer.parts.length).toBe(1)
    expect(answer.parts[0]!.plain).toBe(
      'Ship it. All checks passed. The full report is attached: 季度报告.md, 季度报告.html',
    )
    expect(answer.attachments.map((file) => file.fileName)).toEqual(['季度报告.md', '季度报告.html'])
    expect(answer.attachments[0]!.text).toBe(`**Ship it.** All checks passed.\n\n---\n\n${markdown}`)
    expect(answer.attachments[1]!.text).toContain('https://example.test/second')
  })

  test('A21 without a conclusion the first part is the beginning of the answer, and is called so', () => {
    const markdown = sections(120)
    const [part, ...rest] = renderAnswer(view(markdown, { language: 'zh', label: '无模型：' })).parts
    expect(rest).toEqual([])
    expect(part!.plain.startsWith('无模型： 以下是回答的开头，完整回答见附件：report.md、report.html')).toBe(true)
    expect(part!.plain).toContain('Part 0')
    expect(part!.plain).not.toContain('Part 119')
  })

  test('a conclusion of several cards still comes before the body', () => {
    const { parts } = renderAnswer(view(sections(20), { conclusion: 'The end first.' }))
    expect(parts.length).toBeGreaterThan(1)
    expect(parts[0]!.plain.startsWith(`(1/${parts.length}) The end first.`)).toBe(true)
  })

  test('a conclusion that the answer already begins with is not said twice', () => {
    const { parts } = renderAnswer(view('All good.\n\n- more', { conclusion: 'All good.' }))
    expect(parts[0]!.plain).toBe('All good. • more')
  })

  test.each(['en', 'zh'] as const)(
    'one link longer than a card: the sentence and the file are left (%s)',
    (language) => {
      const markdown = `[a](http://x.y/${'q'.repeat(40_000)})`
      for (const more of [{}, { conclusion: markdown }, { conclusion: `See ${markdown}`, label: 'no model:' }]) {
        const { parts, attachments } = renderAnswer(view(markdown, { language, ...more }))
        for (const part of parts) expect(part.bytes).toBeLessThanOrEqual(CARD_MAX_BYTES)
        expect(parts).toHaveLength(1)
        expect(parts[0]!.plain).toContain('report.md')
        expect(attachments[0]!.text).toContain(markdown)
      }
    },
  )

  test('a report of prose alone has no page', () => {
    const { attachments } = renderAnswer(view('text of a line\n\n'.repeat(30_000)))
    expect(attachments.map((file) => file.mediaType)).toEqual(['text/markdown'])
  })

  test('a file name keeps its letters and loses what a path could misread', () => {
    const { attachments } = renderAnswer(view(sections(120), { reportName: '../../季度/报告\u0000:v1' }))
    for (const { fileName } of attachments) {
      expect(fileName).toContain('季度')
      expect([...fileName].some((char) => '/\\:\u0000'.includes(char))).toBe(false)
      expect(fileName.startsWith('.')).toBe(false)
    }
  })
})

describe('a label', () => {
  test('begins a short answer', () => {
    expect(shown(renderAnswer(view('done', { label: 'no model:' })).parts[0]!)).toBe('no model: done')
  })

  test('begins the first of several parts and no other', () => {
    const { parts } = renderAnswer(view(sections(20), { label: 'no model:' }))
    expect(parts[0]!.plain.startsWith(`no model: (1/${parts.length})`)).toBe(true)
    for (const part of parts.slice(1)) expect(part.plain).not.toContain('no model:')
  })
})
