import fc from 'fast-check'
import MarkdownIt from 'markdown-it'
import { describe, expect, test } from 'vitest'
import { degrade, renderAnswer } from '../../src/render/answer.js'
import { writeLeaves } from '../../src/render/blocks.js'
import { normalisePlain } from '../../src/render/defuse.js'
import type { Leaf } from '../../src/render/leaf.js'
import { leavesOf } from '../../src/render/leaves.js'
import { comparable } from '../../src/render/plain.js'
import { CARD_MAX_BYTES, TEXT_MAX_BYTES } from '../../src/render/wire.js'
import { corpusView, elementsOf, realRequestBytes } from './support.js'

/** Answers made of what models write, whole blocks and broken ones, in an order that nobody chose. */
const word = fc.constantFrom(
  'release',
  '发布。',
  '**bold**',
  '**注意：**',
  '`code`',
  '$x_1^2$',
  '$5',
  '\\(a_{1}\\)',
  'note[^1]',
  '[^2]',
  '[@W](mention:ou_wang)',
  '[@X](mention:ou_x)',
  '![t](throughput.png)',
  '![r](https://e.test/r.png)',
  '[l](https://e.test/p?a=1)',
  '[j](javascript:x)',
  '<at id=all>',
  '&amp;',
  ':OK:',
  '👨‍👩‍👧‍👦',
  'عربي',
  '\u202eabc',
  '\u0000',
  '\ud800',
  'a*b',
  '~5',
  '|',
  '\\',
  '"q"',
)
const line = fc.array(word, { minLength: 1, maxLength: 9 }).map((words) => words.join(' '))
const chart = JSON.stringify({ type: 'bar', title: 'T *x*', x: ['a', 'b'], series: [{ name: 's', values: [1, 2] }] })
const block = fc.oneof(
  { arbitrary: fc.array(line, { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n')), weight: 4 },
  line.map((text) => `## ${text}`),
  fc
    .array(line, { minLength: 1, maxLength: 5 })
    .map((items) => items.map((text, at) => `- [${at % 2 ? 'x' : ' '}] ${text}`).join('\n')),
  fc
    .array(line, { minLength: 1, maxLength: 5 })
    .map((items) => items.map((text, at) => `${'   '.repeat(at % 3)}${at + 1}. ${text}`).join('\n')),
  line.map((text) => `> ${text}\n> - ${text}`),
  line.map((text) => `1. ${text}\n\n   > ${text}\n\n   \`\`\`\n   ${text}\n   \`\`\``),
  line.map((text) => `| ${text.replaceAll('|', '')} | b |\n|---|:-:|\n| ${text.replaceAll('|', '')} | 2 |`),
  fc.tuple(line, fc.integer({ min: 1, max: 300 })).map(([text, times]) => `~~~ts\n${`${text}\n`.repeat(times)}~~~`),
  line.map((text) => `$$\n${text}\n$$`),
  line.map((text) => `[^1]: ${text}\n[^2]: ${text}`),
  fc.constantFrom(
    '---',
    '```',
    '**',
    '<div>',
    '$$',
    '\\[',
    '[^3]:',
    '- [ ]',
    '    indented',
    `\`\`\`chart\n${chart}\n\`\`\``,
  ),
)
const answer = fc.array(block, { minLength: 1, maxLength: 14 }).map((blocks) => {
  let count = 0
  return blocks.join('\n\n').replaceAll('release', () => `k${++count}k`)
})

const letters = (text: string): string => normalisePlain(text).replaceAll(' ', '')
const leafText = (leaves: readonly Leaf[]): string => letters(comparable(leaves))

const strict = new MarkdownIt('default', { html: false })

describe('any answer that a model could write', () => {
  test('its parts joined again are its text, in order, whatever the message type', () => {
    fc.assert(
      fc.property(answer, (markdown) => {
        const { parts, attachments } = renderAnswer(corpusView(markdown))
        expect(attachments).toEqual([])
        const numbered = parts.map((part, at) =>
          parts.length === 1 ? part.plain : part.plain.slice(`(${at + 1}/${parts.length})`.length),
        )
        for (const to of ['post', 'text'] as const) {
          const said = parts.flatMap((part) => degrade(part, to)).map((each) => each.part.plain)
          const drop = (text: string): string => letters(text).replaceAll('———', '')
          expect(drop(said.join(' '))).toBe(drop(parts.map((part) => part.plain).join(' ')))
        }
        // Words that were numbered in the source are there in the same order; only the head of a table comes twice.
        const seen = numbered.join(' ').match(/k\d+k/g) ?? []
        const wanted = markdown.match(/k\d+k/g) ?? []
        expect(markdown.includes('|---') ? [...new Set(seen)] : seen).toEqual(wanted)
      }),
      { numRuns: 60 },
    )
  })

  test('every form of every part is within its budget and harmless', () => {
    fc.assert(
      fc.property(answer, (markdown) => {
        for (const part of renderAnswer(corpusView(markdown)).parts) {
          const plainer = (['post', 'text'] as const).flatMap((to) => degrade(part, to).map((each) => each.part))
          for (const each of [part, ...plainer]) {
            expect(realRequestBytes(each)).toBeLessThanOrEqual(
              each.msgType === 'text' ? TEXT_MAX_BYTES : CARD_MAX_BYTES,
            )
            expect(each.content).not.toMatch(/<at id=all|<at user|\u202e|\\u0000|\\ud800/i)
            expect(() => JSON.parse(each.content) as unknown).not.toThrow()
          }
          const called = part.msgType === 'interactive' ? part.content.match(/<at id=[^>]*>/g) : null
          expect(new Set(called ?? [])).toEqual(new Set(called === null ? [] : ['<at id=ou_wang>']))
          for (const { content = '' } of part.msgType === 'interactive' ? elementsOf(part) : []) {
            for (const token of strict.parse(content, {}).flatMap((each) => each.children ?? [])) {
              expect(token.type).not.toBe('image')
              if (token.type === 'link_open') expect(String(token.attrGet('href'))).toMatch(/^https?:/)
            }
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  test('rendering twice gives the same, and what a part is made from is the part again', () => {
    fc.assert(
      fc.property(answer, (markdown) => {
        const first = renderAnswer(corpusView(markdown))
        expect(renderAnswer(corpusView(markdown))).toEqual(first)
        for (const part of first.parts) {
          const again = leavesOf(part.markdown)
          expect(leafText(again)).toBe(letters(part.plain))
          expect(leafText(leavesOf(writeLeaves(again, 'source')))).toBe(letters(part.plain))
        }
      }),
      { numRuns: 60 },
    )
  })

  test('what stands in a block of code comes back byte for byte, wherever it was cut', () => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 120 }), (lines, times) => {
        const code = Array.from({ length: times }, () => lines.join('\n'))
          .join('\n')
          .replaceAll('\u0000', '')
          .replaceAll('\ud800', '')
          .replaceAll('\u202e', '')
        const { parts } = renderAnswer(corpusView(`Log:\n\n~~~~\n${code}\n~~~~\n\nEnd.`))
        const joined = parts
          .flatMap((part) => leavesOf(part.markdown))
          .flatMap((leaf) => (leaf.kind === 'code' ? [leaf.text] : []))
          .join('')
        if (parts.length <= 8 && parts.every((part) => part.msgType === 'interactive')) expect(joined).toBe(code)
      }),
      { numRuns: 30 },
    )
  })
})
