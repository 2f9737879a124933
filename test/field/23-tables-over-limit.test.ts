import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { degrade, renderAnswer } from '../../src/render/answer.js'
import { parser } from '../../src/render/leaves.js'
import { elementsOf, shown, view } from '../render/support.js'

const source = readFileSync(new URL('../cases/23-tables-over-limit/input.md', import.meta.url), 'utf8')
const { parts } = renderAnswer(view(source))
const tablesIn = (markdown: string): number =>
  parser()
    .parse(markdown, {})
    .filter((token) => token.type === 'table_open').length

describe('case 23, seven tables in one answer', () => {
  test('all seven reach the chat, in order, readable', () => {
    const said = parts.map((part) => part.plain).join(' ')
    const order = [1, 2, 3, 4, 5, 6, 7].map((n) => said.indexOf(`| a${n} | ${n} |`))
    expect(order.every((at) => at >= 0)).toBe(true)
    expect([...order].sort((a, b) => a - b)).toEqual(order)
  })

  test('no card carries more than three tables', () => {
    expect(parts.map((part) => tablesIn(shown(part)))).toEqual([3, 3, 1])
    for (const element of parts.flatMap(elementsOf)) expect(tablesIn(element.content ?? '')).toBeLessThanOrEqual(1)
  })

  test('a heading stays with its table', () => {
    expect(shown(parts[1]!).indexOf('Block 4')).toBeGreaterThan(0)
    expect(shown(parts[0]!)).not.toContain('Block 4')
  })

  test('the pipe inside a cell, the fenced sample and the inline pipes are left alone', () => {
    const all = parts.map(shown).join('\n')
    expect(all.split('| pipe | x \\| y |').length - 1).toBe(7)
    expect(all).toContain('```text\n| not | a table |\n|---|---|\n```')
    expect(all).toContain('`cat a | grep b` and `a || b`.')
  })

  test('a refused card becomes a post, then text, with the same tables readable', () => {
    for (const part of parts) {
      const post = degrade(part, 'post').map((each) => each.part)
      const text = degrade(part, 'text').map((each) => each.part)
      expect(post.map((each) => each.msgType)).toEqual(['post'])
      expect(text.map((each) => each.msgType)).toEqual(['text'])
      expect(post[0]!.plain).toBe(part.plain)
      expect(text[0]!.plain).toBe(part.plain)
      expect(JSON.parse(text[0]!.content).text).toContain('| pipe | x | y |')
    }
  })

  test('tables that would need a ninth card become code blocks instead', () => {
    const many = Array.from({ length: 40 }, (_, n) => `| k | v |\n|---|---|\n| row${n} | ${n} |`).join('\n\ntext\n\n')
    const answer = renderAnswer(view(many))
    expect(answer.attachments).toEqual([])
    expect(answer.parts.length).toBeLessThanOrEqual(8)
    for (const part of answer.parts) expect(tablesIn(shown(part))).toBeLessThanOrEqual(3)
    const said = answer.parts.map((part) => part.plain).join(' ')
    for (let n = 0; n < 40; n++) expect(said).toContain(`| row${n} | ${n} |`)
  })
})
