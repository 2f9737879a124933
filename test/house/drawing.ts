import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format } from 'prettier'
import { globalsHeldBy, heldBy, mayImport } from './floors.js'
import { root } from './source.js'

export const drawingPath = join(root, 'CONTRIBUTING.md')

/** The three tables of the drawing, as `floors.ts` has them: first cell, then what stands beside it. */
export const drawn: Readonly<Record<'rooms' | 'things' | 'names', readonly (readonly [string, readonly string[]])[]>> =
  {
    rooms: Object.entries(mayImport),
    things: heldBy,
    names: Object.entries(globalsHeldBy),
  }

const heads = {
  rooms: ['Room', 'May import'],
  things: ['Outside thing', 'Held by'],
  names: ['Name of the global world', 'Used by'],
} as const

const marks = (name: string) => [`<!-- ${name} -->`, `<!-- end of ${name} -->`] as const

/** The text between the marks of a table. */
export function between(text: string, name: string): string {
  const [from, to] = marks(name)
  return text.slice(text.indexOf(from) + from.length, text.indexOf(to))
}

/** The rows of a written table; the words in backticks of each cell. */
export function tableIn(text: string, name: string): readonly (readonly [string, readonly string[]])[] {
  const words = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word ?? '')
  return between(text, name)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [first = '', second = ''] = line.split('|').slice(1)
      return [words(first)[0] ?? '', words(second)]
    })
}

function written(name: keyof typeof drawn): string {
  const rows = drawn[name].map(([first, rest]) => {
    const beside = rest.length === 0 ? 'nothing' : rest.map((word) => `\`${word}\``).join(', ')
    return `| \`${first}\` | ${beside} |`
  })
  return ['', '', `| ${heads[name].join(' | ')} |`, '| --- | --- |', ...rows, '', ''].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const settings = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { prettier: object }).prettier
  let text = readFileSync(drawingPath, 'utf8')
  for (const name of Object.keys(drawn) as (keyof typeof drawn)[]) {
    const [from, to] = marks(name)
    text = text.replace(from + between(text, name) + to, () => from + written(name) + to)
  }
  writeFileSync(drawingPath, await format(text, { ...settings, parser: 'markdown' }))
}
