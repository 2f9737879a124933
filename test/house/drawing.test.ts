import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { between, drawingPath, drawn, tableIn } from './drawing.js'
import { mayImport } from './floors.js'

const text = readFileSync(drawingPath, 'utf8')
const refresh = 'run: npx tsx test/house/drawing.ts, then look at the picture in CONTRIBUTING.md'

describe('the drawing in CONTRIBUTING.md', () => {
  test.each(['rooms', 'things', 'names'] as const)('has the same %s as the floors that are enforced', (name) => {
    expect(tableIn(text, name), refresh).toEqual(drawn[name].map(([first, rest]) => [first, [...rest]]))
  })

  test('every room stands in the picture, each on its floor, and every import goes down', () => {
    const picture = between(text, 'picture')
    const lines = picture.split('\n').filter((line) => !/[─`]/.test(line))
    const floorOf = (room: string) => lines.findIndex((line) => line.split(/[\s()]+/).includes(room))
    const rooms = Object.keys(mayImport)
    expect(rooms.filter((room) => floorOf(room) === -1)).toEqual([])
    const climbs = Object.entries(mayImport).flatMap(([room, targets]) =>
      targets
        .map((target) => target.split('/')[0] ?? target)
        // main.ts stands on the roof beside app.
        .filter((target) => floorOf(target) <= floorOf(room) && room !== 'main.ts')
        .map((target) => `${room} -> ${target}`),
    )
    expect(climbs, refresh).toEqual([])
  })

  test('a table that says something else is seen', () => {
    const table = (row: string) =>
      `<!-- rooms -->\n\n| Room | May import |\n| --- | --- |\n${row}\n\n<!-- end of rooms -->`
    expect(tableIn(table('| `lib` | nothing |'), 'rooms')).toEqual([['lib', []]])
    expect(tableIn(table('| `collab` | `lib`, `stores` |'), 'rooms')).toEqual([['collab', ['lib', 'stores']]])
  })
})
