import { describe, expect, test } from 'vitest'
import { globalsHeldBy, heldBy, mayImport, noPackages, pureNode } from './floors.js'
import { filesBelow, importsOf, namesUsed, resolveInside, roomOf } from './source.js'

const files = filesBelow('src')

const within = (path: string, places: readonly string[]) =>
  places.some((place) => path === place || path.startsWith(`${place}/`))

/** `heldBy` names a package or a path in it; the longest match decides. */
function holdersOf(specifier: string): readonly string[] | null {
  const matches = heldBy.filter(([name]) =>
    name.endsWith('/*')
      ? specifier.startsWith(name.slice(0, -1))
      : specifier === name || specifier.startsWith(`${name}/`),
  )
  const best = matches.toSorted((a, b) => b[0].length - a[0].length)[0]
  return best === undefined ? null : best[1]
}

describe('the floors', () => {
  test('stairs go down only, and rooms on one floor do not see each other', () => {
    const climbs = files.flatMap((file) =>
      importsOf(file.path, file.text).flatMap((specifier) => {
        const target = resolveInside(file.path, specifier)
        if (target === null) return []
        const room = roomOf(file.path)
        if (roomOf(target) === room || within(target, mayImport[room] ?? [])) return []
        return [`${file.path} -> ${target}`]
      }),
    )
    expect(climbs).toEqual([])
  })

  test('every room stands in the drawing', () => {
    expect(
      [...new Set(files.map((file) => roomOf(file.path)))].filter((room) => !Object.hasOwn(mayImport, room)),
    ).toEqual([])
  })

  test('each outside thing has its holder', () => {
    const strangers = files.flatMap((file) =>
      importsOf(file.path, file.text).flatMap((specifier) => {
        if (specifier.startsWith('.')) return []
        const room = roomOf(file.path)
        if (noPackages.includes(room)) return pureNode.includes(specifier) ? [] : [`${file.path}: ${specifier}`]
        const holders = holdersOf(specifier)
        return holders === null || within(file.path, holders) ? [] : [`${file.path}: ${specifier}`]
      }),
    )
    expect(strangers).toEqual([])
  })

  test('environment, time, chance and timers come in by their doors', () => {
    const leaks = files.flatMap((file) =>
      [...namesUsed(file.path, file.text)]
        .filter((name) => Object.hasOwn(globalsHeldBy, name) && !within(file.path, globalsHeldBy[name] ?? []))
        .map((name) => `${file.path}: ${name}`),
    )
    expect(leaks).toEqual([])
  })

  test('a table is defined and imported only in its own folder', () => {
    const visitors = files.flatMap((file) =>
      importsOf(file.path, file.text).flatMap((specifier) => {
        const target = resolveInside(file.path, specifier)
        if (target === null || !target.endsWith('/tables.js')) return []
        const folder = target.slice(0, -'/tables.js'.length)
        return within(file.path, [folder, 'stores/views']) ? [] : [`${file.path} -> ${target}`]
      }),
    )
    expect(visitors).toEqual([])
  })

  test('the tables of the work owner are named in statements of its own room only', () => {
    const statement = /\b(?:from|into|join|update)\s+work\.\w+/i
    const rooms = files.filter((file) => statement.test(file.text)).map((file) => roomOf(file.path))
    expect([...new Set(rooms)]).toEqual(['work'])
  })

  test('no file is over 350 lines, and most are far below', () => {
    const lengths = files.map((file) => ({ path: file.path, lines: file.text.split('\n').length - 1 }))
    expect(lengths.filter((file) => file.lines > 350)).toEqual([])
    expect(lengths.filter((file) => file.lines > 220).length / lengths.length).toBeLessThan(0.1)
  })

  test('no barrel files', () => {
    expect(files.filter((file) => /(^|\/)index\.tsx?$/.test(file.path))).toEqual([])
  })
})

describe('the house test can fail', () => {
  test.each([
    ["import { a } from '../x.js'"],
    ["import type { A } from '../x.js'"],
    ["import '../x.js'"],
    ["import * as a from '../x.js'"],
    ["import { type A } from '../x.js'"],
    ["export { a } from '../x.js'"],
    ["export * from '../x.js'"],
    ["export type { A } from '../x.js'"],
    ["const a = await import('../x.js')"],
    ['const a = await import(`../x.js`)'],
    ["let a: import('../x.js').A"],
  ])('it sees %s', (line) => {
    expect(importsOf('probe.ts', line)).toEqual(['../x.js'])
  })

  test('it does not see a comment or a string', () => {
    expect(importsOf('probe.ts', "// import '../x.js'\nconst a = \"from '../x.js'\"")).toEqual([])
  })

  test('it tells a use of the clock from a word in a name', () => {
    expect(namesUsed('probe.ts', 'const a = { setTimeout: 1 }; a.setTimeout; Date.now()').has('setTimeout')).toBe(false)
    expect(namesUsed('probe.ts', 'Date.now()').has('Date.now')).toBe(true)
  })
})
