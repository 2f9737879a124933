import fc from 'fast-check'
import MarkdownIt from 'markdown-it'
import { describe, expect, test } from 'vitest'
import { degrade, renderAnswer, shrink, type RenderedPart } from '../../src/render/answer.js'
import { normalisePlain } from '../../src/render/defuse.js'
import type { Leaf } from '../../src/render/leaf.js'
import { leavesOf, parser } from '../../src/render/leaves.js'
import { introduced } from '../../src/render/part.js'
import { comparable } from '../../src/render/plain.js'
import { visible } from '../../src/render/runs.js'
import {
  CARD_MAX_BYTES,
  CARD_MAX_ELEMENTS,
  CARD_MAX_TABLES,
  TEXT_MAX_BYTES,
  requestBytes,
  wireBytes,
} from '../../src/render/wire.js'
import { elementsOf, realRequestBytes, shown, view } from './support.js'

const words = fc.constantFrom(
  'alpha',
  'beta',
  '你好',
  '世界，',
  'naïve',
  'x*y',
  'a_b_c',
  '1 < 2',
  '<at id=all>',
  '<b>',
  '&amp;',
  '\\*',
  '~5',
  '👨‍👩‍👧‍👦',
  '🇨🇳',
  'C:\\dir',
  '"q"',
  '|',
  '#no',
  '`c|d`',
  '**bold**',
  '**注意：**',
  '是**“引用”**文',
  '**`c`**',
  '*it*',
  '~~s~~',
  '[l](https://e.test/a_b)',
  '[f](file:///x)',
  '![i](https://e.test/i.png)',
  '!',
)
const line = fc
  .tuple(fc.array(words, { minLength: 1, maxLength: 12 }), fc.constantFrom(' ', ' ', ''))
  .map(([parts, between]) => parts.join(between))
const paragraph = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n'))
const heading = fc.tuple(fc.integer({ min: 1, max: 6 }), line).map(([level, text]) => `${'#'.repeat(level)} ${text}`)
const list = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 2 }), line), { minLength: 1, maxLength: 8 })
  .map((items) => items.map(([depth, text]) => `${'    '.repeat(depth)}- ${text}`).join('\n'))
const ordered = fc
  .array(line, { minLength: 1, maxLength: 12 })
  .map((items) => items.map((text, at) => `${at + 1}. ${text}`).join('\n'))
const code = fc
  .tuple(fc.constantFrom('', 'ts', 'python'), fc.array(line, { maxLength: 12 }), fc.integer({ min: 1, max: 60 }))
  .map(
    ([language, lines, times]) =>
      `\`\`\`\`${language}\n${Array.from({ length: times }, () => lines.join('\n')).join('\n')}\n\`\`\`\``,
  )
const cellText = fc.constantFrom('a', '值', '`x`', '**b**', 'long text 很长的文字', '<at id=all>', '')
const table = fc
  .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 30 }), fc.infiniteStream(cellText))
  .map(([columns, rows, cells]) => {
    const row = (): string => `| ${Array.from({ length: columns }, () => cells.next().value as string).join(' | ')} |`
    return [row(), `|${'---|'.repeat(columns)}`, ...Array.from({ length: rows }, row)].join('\n')
  })
const quote = paragraph.map((text) =>
  text
    .split('\n')
    .map((each) => `> ${each}`)
    .join('\n'),
)
const long = fc.tuple(words, fc.integer({ min: 500, max: 6_000 })).map(([word, times]) => word.repeat(times))
const block = fc.oneof(
  { arbitrary: paragraph, weight: 4 },
  heading,
  list,
  ordered,
  code,
  { arbitrary: table, weight: 2 },
  quote,
  fc.constant('---'),
  { arbitrary: long, weight: 1 },
)
const answer = fc.array(block, { minLength: 1, maxLength: 18 }).map((blocks) => blocks.join('\n\n'))

/** Every visible character, in order, without white space: what must survive any cutting. */
const letters = (text: string): string => normalisePlain(text).replaceAll(' ', '')
const withoutNumbers = (parts: readonly RenderedPart[]): string[] =>
  parts.map((part, at) => (parts.length === 1 ? part.plain : part.plain.slice(`(${at + 1}/${parts.length})`.length)))
const count = (markdown: string, type: string): number =>
  parser()
    .parse(markdown, {})
    .filter((token) => token.type === type).length

describe('any answer', () => {
  test('each part is within its budget, measured on a real request', () => {
    fc.assert(
      fc.property(answer, (markdown) => {
        for (const part of renderAnswer(view(markdown)).parts) {
          expect(part.bytes).toBe(requestBytes(part.content))
          expect(realRequestBytes(part)).toBeLessThanOrEqual(part.bytes)
          expect(part.bytes).toBeLessThanOrEqual(part.msgType === 'text' ? TEXT_MAX_BYTES : CARD_MAX_BYTES)
          if (part.msgType !== 'interactive') continue
          expect(elementsOf(part).length).toBeLessThanOrEqual(CARD_MAX_ELEMENTS)
          expect(count(shown(part), 'table_open')).toBeLessThanOrEqual(CARD_MAX_TABLES)
        }
      }),
      { numRuns: 30 },
    )
  })

  test('what it says is said completely and in order, apart from repeated table heads and list marks', () => {
    fc.assert(
      fc.property(answer, (markdown) => {
        const { parts, attachments } = renderAnswer(view(markdown))
        if (attachments.length > 0) return
        const said = letters(withoutNumbers(parts).join(' '))
        if (count(markdown, 'table_open') === 0) expect(said).toBe(letters(comparable(leavesOf(markdown))))
        // A repeated head can only add: what the answer says is still there, in order.
        else expect(isSubsequence(letters(comparable(leavesOf(markdown))), said)).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  test('what the card shows reads back as what was said, fences balanced', () => {
    fc.assert(
      fc.property(answer, (markdown) => {
        for (const part of renderAnswer(view(markdown)).parts) {
          if (part.msgType !== 'interactive') continue
          const seen = elementsOf(part)
            .map((element) => (element.tag === 'hr' ? '---' : (element.content ?? '')))
            .join('\n\n')
          expect(letters(strictText(seen))).toBe(letters(wordsOf(part.markdown)))
          expect(count(part.markdown, 'fence')).toBe(count(seen, 'fence'))
        }
      }),
      { numRuns: 30 },
    )
  })

  test('a part can be rendered again as post and as text and says the same', () => {
    fc.assert(
      fc.property(answer, (markdown) => {
        for (const part of renderAnswer(view(markdown)).parts) {
          for (const to of ['post', 'text'] as const) {
            const plainer = degrade(part, to).map((each) => each.part)
            for (const each of plainer) expect(letters(saidBy(each))).toBe(letters(each.plain))
            for (const each of plainer)
              expect(each.bytes).toBeLessThanOrEqual(to === 'text' ? TEXT_MAX_BYTES : CARD_MAX_BYTES)
            const drop = (text: string): string => letters(text).replaceAll('———', '')
            expect(drop(plainer.map((each) => each.plain).join(' '))).toBe(drop(part.plain))
          }
        }
      }),
      { numRuns: 40 },
    )
  })

  test('a part can be cut smaller, and the pieces say the same in the same order', () => {
    fc.assert(
      fc.property(answer, (markdown) => {
        for (const part of renderAnswer(view(markdown)).parts) {
          for (const form of formsOf(part)) {
            const pieces = shrink(form, form).map((each) => each.part)
            for (const piece of pieces) {
              expect(piece.msgType).toBe(form.msgType)
              expect(piece.bytes).toBe(requestBytes(piece.content))
              expect(piece.bytes).toBeLessThan(form.bytes)
            }
            if (pieces.length === 0) continue
            const drop = (text: string): string => letters(text).replaceAll('———', '')
            const said = drop(pieces.map((each) => each.plain).join(' '))
            // A table or a quote that goes on repeats its head or its mark.
            expect(isSubsequence(drop(form.plain), said)).toBe(true)
            if (!form.plain.includes('>') && count(form.markdown, 'table_open') === 0)
              expect(said).toBe(drop(form.plain))
          }
        }
      }),
      { numRuns: 12 },
    )
  })

  test('a part that is refused for its size again and again is cut to nothing that is no message', () => {
    fc.assert(
      fc.property(answer, (markdown) => {
        let pieces: readonly RenderedPart[] = renderAnswer(view(markdown)).parts.slice(0, 1)
        for (let rounds = 0; pieces.length > 0; rounds++) {
          expect(rounds).toBeLessThan(12)
          pieces = shrink(pieces[0]!, pieces[0]!).map((each) => each.part)
        }
      }),
      { numRuns: 10 },
    )
  })

  test('words of ours before a part leave it as it is and are within the budget', () => {
    fc.assert(
      fc.property(answer, fc.string({ maxLength: 200 }), (markdown, words) => {
        for (const part of renderAnswer(view(markdown)).parts) {
          for (const form of formsOf(part)) {
            const made = introduced(form, words)
            if (made === null) {
              expect(form.bytes + wireBytes(words) * 2).toBeGreaterThan(CARD_MAX_BYTES - 600)
              continue
            }
            expect(made.bytes).toBe(requestBytes(made.content))
            expect(made.bytes).toBeLessThanOrEqual(form.msgType === 'text' ? TEXT_MAX_BYTES : CARD_MAX_BYTES)
            expect(letters(made.plain ?? '')).toBe(letters(words) + letters(form.plain))
            expect(made.content.includes('<at ')).toBe(false)
          }
        }
      }),
      { numRuns: 40 },
    )
  })

  test('our own words, whatever is in them, are said word for word in every form', () => {
    fc.assert(
      fc.property(fc.oneof(answer, fc.string({ maxLength: 300 })), (text) => {
        for (const to of ['post', 'text'] as const) {
          const said = degrade({ text }, to)
          for (const { part } of said) expect(letters(saidBy(part))).toBe(letters(part.plain))
          expect(letters(said.map((each) => each.part.plain).join(' '))).toBe(letters(text))
          for (const each of said) {
            const pieces = shrink(each.part, each.source)
            if (pieces.length > 0)
              expect(letters(pieces.map((one) => one.part.plain).join(' '))).toBe(letters(each.part.plain))
          }
        }
      }),
      { numRuns: 40 },
    )
  })

  test('the same view gives the same bytes', () => {
    fc.assert(
      fc.property(answer, (markdown) => {
        expect(renderAnswer(view(markdown))).toEqual(renderAnswer(view(markdown)))
      }),
      { numRuns: 20 },
    )
  })

  test('no mention is left that the platform would act on', () => {
    fc.assert(
      fc.property(answer, (markdown) => {
        for (const part of renderAnswer(view(markdown)).parts) {
          for (const each of formsOf(part)) expect(each.content.includes('<at ')).toBe(false)
        }
      }),
      { numRuns: 40 },
    )
  })
})

test('wireBytes is what a string really adds to a request', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      expect(wireBytes(text)).toBe(requestBytes(JSON.stringify({ text })) - requestBytes(JSON.stringify({ text: '' })))
    }),
  )
})

const formsOf = (part: RenderedPart): readonly RenderedPart[] => [
  part,
  ...(['post', 'text'] as const).flatMap((to) => degrade(part, to).map((each) => each.part)),
]

/** The text of a post or a text message, as the platform gives it back. */
function saidBy(part: RenderedPart): string {
  if (part.msgType === 'text') return (JSON.parse(part.content) as { text: string }).text
  const { zh_cn } = JSON.parse(part.content) as { zh_cn: { content: { text?: string }[][] } }
  return zh_cn.content.flatMap((line) => [...line.map((each) => each.text ?? ''), ' ']).join('')
}

const strict = new MarkdownIt('default', { html: false })

/** What a client shows that reads CommonMark by the letter. */
function strictText(markdown: string): string {
  return strict
    .parse(markdown, {})
    .flatMap((token) => [token, ...(token.children ?? [])])
    .map((token) => (token.type === 'inline' ? '' : token.content))
    .join(' ')
}

/** The words of an answer without any marks of lists and tables. */
function wordsOf(markdown: string): string {
  const runsIn = (leaf: Leaf): string => {
    if (leaf.kind === 'text') return visible(leaf.runs)
    if (leaf.kind === 'code') return leaf.text
    return leaf.kind === 'table' ? [leaf.header, ...leaf.rows].flat().map(visible).join(' ') : ''
  }
  return leavesOf(markdown).map(runsIn).join(' ')
}

function isSubsequence(needle: string, text: string): boolean {
  let at = 0
  for (let from = 0; from < text.length && at < needle.length; from++) if (text.charAt(from) === needle.charAt(at)) at++
  return at === needle.length
}
