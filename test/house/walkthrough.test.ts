import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exportsOf, namedSources } from './exports.js'
import { root } from './source.js'

const text = readFileSync(join(root, 'docs', 'walkthrough.md'), 'utf8')
const named = namedSources(text)

/** Names of a document that are not in the tree. */
function missingIn(markdown: string): readonly string[] {
  return namedSources(markdown).flatMap(({ file, name }) => {
    if (!existsSync(join(root, file))) return [file]
    if (name === null || exportsOf(file, readFileSync(join(root, file), 'utf8')).has(name)) return []
    return [`${file}#${name}`]
  })
}

/** The way of a message. Each is named, and for the first time in this order. */
const way = [
  'src/bot/ingress/receive.ts#createReceive',
  'src/exchange/take.ts#take',
  'src/exchange/accept.ts#accept',
  'src/collab/decide/accept.ts#decideAccept',
  'src/exchange/exchange.ts#decideAndCommit',
  'src/stores/ledger/commit.ts#append',
  'src/exchange/turn.ts#turn',
  'src/exchange/run-turn.ts#runTurn',
  'src/exchange/end-turn.ts#conclude',
  'src/exchange/deliver.ts#deliver',
  'src/exchange/send.ts#takeStep',
  'src/bot/egress/lark-channel.ts#createLarkChannel',
  'src/exchange/receipts.ts#askReceiptEnd',
]

describe('docs/walkthrough.md', () => {
  test('every file and export that it names exists', () => {
    expect(named.length).toBeGreaterThan(40)
    expect(missingIn(text)).toEqual([])
  })

  test('nothing in src is named in another form, which would not be checked', () => {
    const mentioned = [...text.matchAll(/src\/[\w./-]+\w/g)].length
    expect(named.length).toBe(mentioned)
  })

  test('the way of the message is complete and in order', () => {
    const order = named.map(({ file, name }) => (name === null ? file : `${file}#${name}`))
    const places = way.map((step) => order.indexOf(step))
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  })

  test('every test that it says to run is there', () => {
    const filters = [...text.matchAll(/--project (?:pure|pg) (test\/[\w./-]+)/g)].map(([, filter]) => filter ?? '')
    expect(filters.length).toBeGreaterThan(2)
    const found = filters.filter((filter) =>
      ['', '.test.ts', '.pg.test.ts'].some((ending) => existsSync(join(root, filter + ending))),
    )
    expect(found).toEqual(filters)
  })
})

describe('the check can fail', () => {
  test.each([
    ['`src/exchange/take.ts#take`', []],
    ['`src/exchange/take.ts#takes`', ['src/exchange/take.ts#takes']],
    ['`src/exchange/took.ts#take`', ['src/exchange/took.ts']],
    ['`src/exchange/took.ts`', ['src/exchange/took.ts']],
    // Only used there, exported elsewhere.
    ['`src/exchange/take.ts#remember`', ['src/exchange/take.ts#remember']],
  ])('%s', (markdown, expected) => {
    expect(missingIn(markdown)).toEqual(expected)
  })

  test('it knows every form of an export', () => {
    const names = exportsOf(
      'probe.ts',
      `export const a = 1, b = 2
       export function c() {}
       export class D {}
       export interface E {}
       export type F = string
       const g = 1; export { g, g as h }
       export { i } from './x.js'
       const hidden = 1`,
    )
    expect([...names].toSorted()).toEqual(['D', 'E', 'F', 'a', 'b', 'c', 'g', 'h', 'i'])
  })
})
