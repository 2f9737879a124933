import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Token } from 'markdown-it'
import { degrade, renderAnswer } from '../../src/render/answer.js'
import { parser } from '../../src/render/leaves.js'
import { shown, view } from '../render/support.js'

const source = readFileSync(new URL('../cases/26-bad-links-and-images-in-markdown/input.md', import.meta.url), 'utf8')
const { parts } = renderAnswer(view(source))
const card = parts.map(shown).join('\n')
const inline = (markdown: string): Token[] =>
  parser()
    .parse(markdown, {})
    .flatMap((token) => token.children ?? [])

describe('case 26, links and images the platform would refuse', () => {
  test('no image and no link of another scheme is left for the platform to refuse', () => {
    const tokens = inline(card)
    expect(tokens.filter((token) => token.type === 'image')).toEqual([])
    const targets = tokens.filter((token) => token.type === 'link_open').map((token) => String(token.attrs?.[0]?.[1]))
    expect(targets).toEqual([
      'https://example.test/a?b=1&c=2',
      'https://example.test/cover.webp',
      'http://169.254.169.254/latest/meta-data',
    ])
  })

  test.each([
    'local file (file:///home/user/a.go:12)',
    'rel (./src/x.ts)',
    'mail (mailto:x@example.test)',
    'js (javascript:alert(1))',
    'key (/api/attachments/1/download)',
  ])('%s is text with its path', (text) => expect(card).toContain(text))

  test('an https link stays clickable and its address can be read', () => {
    expect(card).toContain('[ok](https://example.test/a?b=1&c=2) (https://example.test/a?b=1&c=2)')
  })

  test('nothing inside code is rewritten', () => {
    expect(card).toContain('Inline `![code](https://example.test/not-an-image.png)` stays code.')
  })

  test('the post of the same part has legal links only', () => {
    const [post] = degrade(parts[0]!, 'post').map((each) => each.part)
    const nodes = (
      JSON.parse(post!.content) as { zh_cn: { content: { tag: string; href?: string }[][] } }
    ).zh_cn.content.flat()
    expect(nodes.filter((node) => node.tag === 'a').every((node) => /^https?:\/\//.test(node.href ?? ''))).toBe(true)
    expect(nodes.some((node) => node.tag === 'img')).toBe(false)
  })
})
