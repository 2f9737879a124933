import { describe, expect, test } from 'vitest'
import { proseHtml } from '../../src/render/html/markdown.js'
import { styleSheet } from '../../src/render/html/style.js'

describe('a table on a page', () => {
  const html = proseHtml('| a | b | c | d |\n|:--|:-:|--:|---|\n| 1 | 2 | 3 | 4 |') ?? ''

  test('carries no style of its own, which the policy of the pages would block', () => {
    expect(html).toContain('<table>')
    expect(html).not.toContain('style=')
  })

  test('keeps the alignment of each column as a class that the style sheet knows', () => {
    const cells = [...html.matchAll(/<t([hd])(?: class="(\w+)")?>/g)].map(([, kind, side]) => `${kind} ${side ?? ''}`)
    const sides = ['left', 'center', 'right', '']
    expect(cells).toEqual([...sides.map((side) => `h ${side}`), ...sides.map((side) => `d ${side}`)])
    for (const side of ['center', 'right']) expect(styleSheet).toContain(`.prose .${side} { text-align: ${side}; }`)
  })
})
