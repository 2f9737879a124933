import { describe, expect, test } from 'vitest'
import { degrade, renderAnswer, type RenderedPart } from '../../src/render/answer.js'
import { reportPage } from '../../src/render/report-page.js'
import { CARD_MAX_BYTES, CARD_MAX_TABLES, TEXT_MAX_BYTES } from '../../src/render/wire.js'
import { elementsOf, realRequestBytes, view } from './support.js'

const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n')

/** Every message of an answer in every type, each checked to be one that the platform takes. */
function everyForm(markdown: string): { parts: readonly RenderedPart[]; said: string; files: readonly string[] } {
  const { parts, attachments } = renderAnswer(view(markdown))
  for (const part of parts) {
    const plainer = (['post', 'text'] as const).flatMap((to) => degrade(part, to).map((each) => each.part))
    for (const each of [part, ...plainer]) {
      expect(realRequestBytes(each)).toBeLessThanOrEqual(each.msgType === 'text' ? TEXT_MAX_BYTES : CARD_MAX_BYTES)
      expect(each.content).not.toMatch(/<at[ >]|\\u0000|\\ud[89a-f]/i)
    }
  }
  return { parts, said: parts.map((part) => part.plain).join(' '), files: attachments.map((file) => file.text) }
}

/** An answer is not lost: what it says is in the messages, or whole in a file whose beginning is in them. */
function arrives(markdown: string, ...pieces: readonly string[]): void {
  const { parts, said, files } = everyForm(markdown)
  expect(parts.length).toBeGreaterThan(0)
  if (files.length > 0) expect(files[0]).toContain(markdown)
  else for (const piece of pieces) expect(said).toContain(piece)
}

describe('input that no one means well with', () => {
  test('a fence that is never closed is code to the end', () => {
    arrives('Start\n\n```js\nlet a = 1\n**not bold**\n', 'Start', 'let a = 1 **not bold**')
    const { parts } = everyForm('```\n'.repeat(3))
    for (const part of parts) expect((elementsOf(part)[0]?.content?.match(/^```/gm) ?? []).length % 2).toBe(0)
  })

  test('300 nested lists, 300 nested quotes, 300 brackets', () => {
    arrives(
      lines(300, (n) => `${'  '.repeat(n)}- item${n}`),
      'item0',
      'item299',
    )
    arrives(`${'>'.repeat(300)} deep`, 'deep')
    arrives(`${'['.repeat(300)}x${']'.repeat(300)}`, 'x')
    arrives(`${'*'.repeat(300)}x${'*'.repeat(300)}`, 'x')
    arrives(`${'- '.repeat(300)}x`, 'x')
  })

  test('one line of 100 000 characters, in one word, in words, in one alphabet or another', () => {
    for (const line of [
      'x'.repeat(100_000),
      'word '.repeat(20_000),
      '語'.repeat(100_000),
      '👨‍👩‍👧‍👦'.repeat(9_000),
      '`'.repeat(100_000),
    ]) {
      arrives(`Before.\n\n${line}\n\nAfter.`, 'Before.', 'After.')
    }
  })

  test('a cell, a heading, an item and a quote of 100 000 characters', () => {
    const long = '很长 '.repeat(33_000)
    arrives(`| a | b |\n|---|---|\n| ${long} | end |`, 'end')
    arrives(`# ${long}`)
    arrives(`- ${long}`)
    arrives(`> ${long}`)
    arrives(`**${long}**`)
  })

  test('500 tables: a few as tables, all of them readable', () => {
    const { parts, said } = everyForm(lines(500, (n) => `| a | b |\n|---|---|\n| cell${n} | x |\n`))
    for (const part of parts) {
      const tables = elementsOf(part).filter((element) => element.content?.startsWith('|'))
      expect(tables.length).toBeLessThanOrEqual(CARD_MAX_TABLES)
    }
    for (const n of [0, 250, 499]) expect(said).toContain(`cell${n} |`)
  })

  test('6 000 short blocks of code: all of them, every fence closed', () => {
    const { parts, said } = everyForm(lines(6_000, (n) => `\`\`\`\nc${n}\n\`\`\`\n`))
    expect(parts.length).toBeLessThanOrEqual(8)
    for (const part of parts) {
      const fences = elementsOf(part).flatMap((element) => element.content?.match(/^```/gm) ?? [])
      expect(fences.length % 2).toBe(0)
    }
    expect(said.match(/c\d+/g)).toEqual(Array.from({ length: 6_000 }, (_, n) => `c${n}`))
  })

  test('halves of surrogate pairs and NUL become signs that can be sent and stored', () => {
    const { said } = everyForm('a\ud800b \udc00c \ud83d\n\nnul\0 esc\u001b[1m del\u007f c1\u0085 **\ud800**')
    expect(said).toBe('a\ufffdb \ufffdc \ufffd nul\u2400 esc\u241b[1m del\u2421 c1\ufffd \ufffd')
    expect(Buffer.from(said, 'utf8').toString('utf8')).toBe(said)
  })

  test('an override of the reading direction is seen by its name and turns nothing', () => {
    const { said, parts } = everyForm('invoice_\u202efdp.exe and `a\u2066b`')
    expect(said).toBe('invoice_[U+202E]fdp.exe and a[U+2066]b')
    expect(parts[0]!.content).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
  })

  test('somebody else’s <at> calls nobody, in prose, code, tables, links and titles', () => {
    const tag = '<at id=all></at>'
    everyForm(
      `${tag} **${tag}** \`${tag}\` [${tag}](https://e.test/${tag}) ![${tag}](x)\n\n# ${tag}\n\n| ${tag} |\n|---|\n| ${tag} |\n\n\`\`\`\n${tag}\n\`\`\`\n\n&lt;at id=all&gt; \\<at id=all> <at\u0020id=all> <AT ID=all>`,
    )
  })

  test('a link that runs something is words, in a message and on the page', () => {
    const targets = [
      'javascript:alert(1)',
      'JAVASCRIPT:x',
      '\u0001javascript:x',
      'vbscript:x',
      'data:text/html,x',
      'file:///etc/passwd',
      '//e.test',
    ]
    const markdown = targets.map((target) => `[l](<${target}>) ![i](<${target}>)`).join('\n\n')
    for (const part of everyForm(markdown).parts) {
      for (const element of elementsOf(part)) expect(element.content ?? '').not.toContain('](')
    }
    const { html } = reportPage({ title: 't', markdown, language: 'en' })
    expect(html).not.toMatch(/href=|<img/)
  })

  test('references to nowhere, notes that refer to each other, formulas that do not end', () => {
    arrives('[^a]: see[^b]\n\n[^b]: see[^a]\n\n[^a]: twice', '² see¹', '¹ see²')
    arrives('[^]: x [^ ]: y [^\u0000]: z', 'x', 'y', 'z')
    arrives(`$$\n${'a_1\n'.repeat(5_000)}`, 'a_1')
    arrives(`${'$a_1 '.repeat(20_000)}`, 'a_1')
    arrives(`\\[\n${'x\n'.repeat(5_000)}`, 'x')
  })

  test('labels, names and titles from outside are only words', () => {
    const view_ = view('short', { label: '<at id=all> **x**', reportName: '../<script>\u0000' })
    for (const part of renderAnswer(view_).parts) expect(part.content).not.toMatch(/<at[ >]/)
    const long = renderAnswer(view('word '.repeat(60_000), { reportName: '../../<script>\u0000' }))
    for (const file of long.attachments) expect(file.fileName).not.toMatch(/[/\\<>]|\p{Cc}/u)
  })
})
