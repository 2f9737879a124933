import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { namedIn, rowsOf, tablePath, withFiles } from './acceptance-table.js'
import { root } from './source.js'
import { allTitles, filesOf, rows, titlesOf, type Title } from './titles.js'

const text = readFileSync(tablePath, 'utf8')
const table = rowsOf(text)
const titles = allTitles()
const refresh = 'run: npx tsx test/house/acceptance-table.ts, then say in docs/acceptance.md what it proves'

const claimsWithoutTitle = (claimed: readonly { readonly id: string; readonly file: string }[]): readonly string[] =>
  claimed
    .filter(({ id, file }) => !titles.some((title) => title.id === id && title.file === file))
    .map(({ id, file }) => `${id} ${file}`)

describe('docs/acceptance.md', () => {
  test('has every row once, in order', () => {
    expect(table.map((row) => row.id)).toEqual(rows)
  })

  test('names the file of every title that carries an id', () => {
    const missing = titles.filter(
      (title) => !table.some((row) => row.id === title.id && namedIn(row.cells[0] ?? '').includes(title.file)),
    )
    expect(missing, refresh).toEqual([])
  })

  test('names no file without such a title', () => {
    const claims = table.flatMap((row) => namedIn(row.cells[0] ?? '').map((file) => ({ id: row.id, file })))
    expect(claimsWithoutTitle(claims), refresh).toEqual([])
    expect(claims.every(({ file }) => existsSync(join(root, file)))).toBe(true)
  })

  test('says of a row without a test that it has none, and of every row what is not proven', () => {
    for (const row of table) {
      const [shown = '', proven = '', open = ''] = row.cells
      const none = filesOf(row.id, titles).length === 0
      expect(shown === 'no test yet', `${row.id}: ${refresh}`).toBe(none)
      expect(proven === '', `${row.id} claims what no test shows, or does not say what is shown`).toBe(none)
      expect(open.length, row.id).toBeGreaterThan(0)
    }
  })

  test('the rows without a test are known', () => {
    const without = rows.filter((id) => filesOf(id, titles).length === 0)
    process.stdout.write(`rows without a test: ${without.join(' ')}\n`)
    expect(without).toEqual(table.filter((row) => row.cells[0] === 'no test yet').map((row) => row.id))
  })

  test('every other file that it names exists', () => {
    const named = namedIn(text).filter((name) => /^(test|src|bench|docs)\/\S+\.\w+$/.test(name))
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((name) => !existsSync(join(root, name)))).toEqual([])
  })
})

describe('the comparison can fail', () => {
  const found = (line: string) => titlesOf('test/x.test.ts', line).map((title: Title) => title.title)

  test.each([
    ["test('A7 one winner', () => {})", ['A7 one winner']],
    ["it.each([1])('P1b fast', () => {})", ['P1b fast']],
    ["test.skipIf(true)('R2 calm', () => {})", ['R2 calm']],
    ["acceptance('S3', 'a gap is named', () => {})", ['S3 a gap is named']],
    ["describe(`A9 ${'x'}`, () => {})", ['A9 …']],
    ["test.skip('A7 one winner', () => {})", []],
    ["test.todo('A7 one winner')", []],
    ["test('A25 no such row', () => {})", []],
    ["test('A7', () => {})", []],
    ["send('A7 one winner')", []],
    ["// test('A7 one winner')", []],
  ])('%s', (line, expected) => {
    expect(found(line)).toEqual(expected)
  })

  test('a claim without a title is seen', () => {
    expect(claimsWithoutTitle([{ id: 'S4', file: 'test/house/acceptance.test.ts' }])).toHaveLength(1)
  })

  test('a suite of test/contracts counts only where a test file runs it', () => {
    expect(titles.some((title) => title.file === 'test/contracts/channel.ts')).toBe(true)
    expect(titles.every((title) => /\.test\.tsx?$|^test\/contracts\//.test(title.file))).toBe(true)
  })

  test('writing the column anew changes nothing when it is right', () => {
    const plain = (markdown: string) => rowsOf(markdown).map((row) => [row.id, ...row.cells])
    expect(plain(withFiles(text, titles))).toEqual(plain(text))
    expect(plain(withFiles(text, []))).not.toEqual(plain(text))
  })
})
