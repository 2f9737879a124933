import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { degrade, renderAnswer } from '../../src/render/answer.js'
import { shown, view } from '../render/support.js'

const source = readFileSync(new URL('../cases/27-newlines-and-escapes-survive/input.md', import.meta.url), 'utf8')
const { parts } = renderAnswer(view(source))
const card = parts.map(shown).join('\n')

describe('case 27, newlines and escapes', () => {
  test('the payload has real line feeds where the source has them', () => {
    const lines = card
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
    expect(lines).toEqual([
      "First line — it's 'quoted'",
      '- 项目一',
      '- 项目二',
      'indented `\\n` literal stays',
      'A < B && C > D &amp; &lt;tag&gt; 100%\\_done \\*not bold\\*',
    ])
  })

  test('a backslash and an n are two characters only where they were typed', () => {
    expect(card.split('\\n').length - 1).toBe(1)
  })

  test('no entity is decoded or encoded again', () => {
    expect(card).toContain('&amp; &lt;tag&gt;')
    expect(card).not.toContain('&amp;amp;')
    expect(card).not.toContain('<tag>')
  })

  test('post and text say the same, with entities as typed', () => {
    for (const to of ['post', 'text'] as const) {
      const [part] = degrade(parts[0]!, to).map((each) => each.part)
      expect(part!.plain).toBe(parts[0]!.plain)
      expect(part!.plain).toContain('&amp; &lt;tag&gt; 100%_done *not bold*')
    }
  })

  test('a lone newline in a paragraph is a line break that no client swallows', () => {
    const { parts } = renderAnswer(view('**one**\ntwo\nthree'))
    expect(shown(parts[0]!)).toBe('**one**  \ntwo  \nthree')
  })
})
