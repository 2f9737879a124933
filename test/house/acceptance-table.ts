import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format } from 'prettier'
import { root } from './source.js'
import { allTitles, filesOf, rows, type Title } from './titles.js'

export const tablePath = join(root, 'docs', 'acceptance.md')

/** One line of the table; `cells` are the trimmed texts after the id. */
export interface Row {
  readonly id: string
  readonly cells: readonly string[]
  readonly line: number
}

export function rowsOf(text: string): readonly Row[] {
  return text.split('\n').flatMap((line, at) => {
    const cells = line.split('|').slice(1, -1)
    const id = cells[0]?.trim() ?? ''
    return rows.includes(id) ? [{ id, cells: cells.slice(1).map((cell) => cell.trim()), line: at }] : []
  })
}

/** The test files that a cell names. */
export function namedIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '')
}

/** The same text with its second column written from the titles. */
export function withFiles(text: string, titles: readonly Title[]): string {
  const lines = text.split('\n')
  for (const row of rowsOf(text)) {
    const files = filesOf(row.id, titles)
    const cell = files.length === 0 ? 'no test yet' : files.map((file) => `\`${file}\``).join(', ')
    lines[row.line] = `| ${[row.id, cell, ...row.cells.slice(1)].join(' | ')} |`
  }
  return lines.join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const settings = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { prettier: object }).prettier
  const text = withFiles(readFileSync(tablePath, 'utf8'), allTitles())
  writeFileSync(tablePath, await format(text, { ...settings, parser: 'markdown' }))
}
