import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cutAtOrBefore } from '../../src/render/grapheme.js'
import { renderAnswer } from '../../src/render/answer.js'
import { shown, view } from './support.js'

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' })
const boundaries = (text: string): number[] => [...segmenter.segment(text)].map((segment) => segment.index)
const signs = fc.constantFrom('a', ' ', '語', '\n', '👨‍👩‍👧‍👦', '🇨🇳', '🇫🇷', 'e\u0301', '한', 'ก็', '👍🏽', 'é', '\r\n', '1️⃣')

describe('a cut never goes through a character', () => {
  test('anywhere in any text', () => {
    fc.assert(
      fc.property(fc.array(signs, { minLength: 1, maxLength: 60 }), fc.nat(200), (parts, limit) => {
        const text = parts.join('')
        const expected = limit >= text.length ? text.length : Math.max(...boundaries(text).filter((at) => at <= limit))
        expect(cutAtOrBefore(text, limit)).toBe(expected)
      }),
      { numRuns: 500 },
    )
  })

  test.each(['🇨🇳', '👨‍👩‍👧‍👦', 'e\u0301'])('a long line of %s is cut between two of them', (sign) => {
    const { parts } = renderAnswer(view(`\`\`\`\n${sign.repeat(4_000)}\n\`\`\``))
    expect(parts.length).toBeGreaterThan(0)
    for (const part of parts) {
      const line =
        shown(part)
          .split('\n')
          .find((each) => each.includes(sign)) ?? ''
      expect(line.replaceAll(sign, '')).toBe('')
    }
  })
})
