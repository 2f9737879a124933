import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { renderAnswer } from '../../src/render/answer.js'
import { parser } from '../../src/render/leaves.js'
import { CARD_MAX_BYTES } from '../../src/render/wire.js'
import { realRequestBytes, shown, view } from '../render/support.js'

type Piece = string | { readonly repeat: string; readonly times: number | 'LIMIT-7' }
const input = JSON.parse(
  readFileSync(new URL('../cases/24-cjk-over-30kb-in-fence/input.json', import.meta.url), 'utf8'),
) as { build: Piece[]; also: Piece[][] }

const build = (pieces: readonly Piece[]): string =>
  pieces
    .map((piece) =>
      typeof piece === 'string'
        ? piece
        : piece.repeat.repeat(piece.times === 'LIMIT-7' ? CARD_MAX_BYTES - 7 : piece.times),
    )
    .join('')

/** The code blocks of a part and the fences they stand in. */
const fencesOf = (markdown: string): { language: string; code: string }[] =>
  parser()
    .parse(markdown, {})
    .filter((token) => token.type === 'fence')
    .map((token) => ({ language: token.info, code: token.content.slice(0, -1) }))

describe.each([
  ['12 000 CJK characters in one line', build(input.build), 'text'],
  ['a block just over the limit', build(input.also[0]!), ''],
])('case 24, %s', (_, source, language) => {
  const { parts, attachments } = renderAnswer(view(source))

  test('every request is within the limit, counted in bytes', () => {
    expect(parts.length).toBeGreaterThan(1)
    for (const part of parts) {
      expect(realRequestBytes(part)).toBeLessThanOrEqual(part.bytes)
      expect(part.bytes).toBeLessThanOrEqual(CARD_MAX_BYTES)
    }
    expect(attachments).toEqual([])
  })

  test('each part opens and closes its own fence with the same language', () => {
    for (const part of parts) {
      const fences = fencesOf(shown(part))
      expect(fences.length).toBe(1)
      expect(fences[0]!.language).toBe(language)
    }
  })

  test('the pieces joined are the source, byte for byte', () => {
    const joined = parts.flatMap((part) => fencesOf(shown(part)).map((fence) => fence.code)).join('')
    const original = fencesOf(source)[0]!.code
    expect(joined.length).toBe(original.length)
    expect(joined === original).toBe(true)
  })

  test('parts are numbered', () => {
    parts.forEach((part, at) => expect(shown(part).startsWith(`(${at + 1}/${parts.length})`)).toBe(true))
  })
})
