import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inReadingOrder, otherForms, type RefusedPart, type RowPlace } from '../../src/collab/decide/restate.js'

const card: RefusedPart = { msgType: 'interactive', isFile: false, detached: false }
const text: RefusedPart = { ...card, msgType: 'text' }
const file: RefusedPart = { msgType: 'file', isFile: true, detached: false }

describe('another form after an explicit refusal', () => {
  test.each<[string, RefusedPart, boolean, string, readonly string[]]>([
    ['a card refused for its content', card, true, 'bad-format', ['plainer']],
    ['a post refused for its content', { ...card, msgType: 'post' }, true, 'bad-format', ['plainer']],
    ['a text has nothing below it', text, true, 'bad-format', []],
    ['a size is cut first', card, true, 'too-long', ['smaller', 'plainer']],
    ['a file is not cut', file, true, 'too-long', ['plainer']],
    ['a reply whose target is gone', card, true, 'cannot-reply-here', ['new-message']],
    ['a new message is not made new again', { ...card, detached: true }, true, 'cannot-reply-here', []],
    ['what replied to nothing', card, false, 'cannot-reply-here', []],
    ['content that an audit refused', card, true, 'content-audit', []],
    ['a chat that is gone', card, true, 'target-gone', []],
    ['a missing permission', card, true, 'not-permitted', []],
    ['our own settings', card, true, 'configuration', []],
    ['an upload that was refused', file, true, 'upload-not-permitted', ['plainer']],
    ['no upload belongs to a card', card, true, 'upload-too-long', []],
  ])('%s', (_, part, repliesTo, because, forms) => {
    expect(otherForms(part, repliesTo, because)).toEqual(forms)
  })
})

test('rows that stand for others are read in the place of those, however often that happens', () => {
  const steps = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 3 })), { maxLength: 8 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), steps, (count, replacements) => {
      const rows: RowPlace[] = Array.from({ length: count }, (_, index) => ({ index, subIndex: 0, replaces: null }))
      // What a reader sees: each replacement takes the place of one row that still stands.
      let standing = [...rows]
      for (const [which, pieces] of replacements) {
        const refused = standing[which % standing.length]!
        const last = Math.max(...rows.filter((row) => row.index === refused.index).map((row) => row.subIndex))
        const made = Array.from({ length: pieces }, (_, n) => ({
          index: refused.index,
          subIndex: last + 1 + n,
          replaces: refused.subIndex,
        }))
        rows.push(...made)
        standing = standing.flatMap((row) => (row === refused ? made : [row]))
      }
      const replaced = new Set(rows.map((row) => `${row.index}.${row.replaces}`))
      const read = inReadingOrder([...rows].reverse())
      expect(read).toHaveLength(rows.length)
      expect(read.filter((row) => !replaced.has(`${row.index}.${row.subIndex}`))).toEqual(standing)
    }),
  )
})
