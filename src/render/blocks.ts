import { unreachable } from '../lib/assert.js'
import { defuseMentions } from './defuse.js'
import type { Cell, CodeLeaf, Leaf, Run, TableLeaf, TextLeaf } from './leaf.js'
import { writeChecked } from './checked.js'
import { type Dialect, longestRun, writeRuns } from './prose.js'
import { visible } from './runs.js'
import { taskSigns } from './task-list.js'
import { wireBytes } from './wire.js'

/** Writes leaves as Markdown, in order, each aware of the one before it (list depth, tight lists, quotes). */
export function writeLeaves(leaves: readonly Leaf[], dialect: Dialect): string {
  let out = ''
  let before: Leaf | undefined
  let indents: readonly number[] = []
  for (const leaf of leaves) {
    const placed =
      leaf.kind === 'text' && leaf.list !== undefined ? place(leaf.list, indents) : { indent: 0, indents: [] }
    const text = writeLeaf(leaf, dialect, placed.indent, writeChecked)
    out += before === undefined ? text : separator(before, leaf) + text
    indents = placed.indents
    before = leaf
  }
  return out
}

/**
 * Where a list line starts. An item whose parents are not on this page (hoisted code between them, or another
 * part) moves left, because four spaces too many would make it code.
 * @param indents columns at which the children of each open level start
 */
function place(
  list: NonNullable<TextLeaf['list']>,
  indents: readonly number[],
): { indent: number; indents: readonly number[] } {
  if (list.marker === null) {
    const depth = Math.min(list.depth + 1, indents.length)
    return { indent: depth === 0 ? 0 : (indents[depth - 1] ?? 0), indents: indents.slice(0, depth) }
  }
  const depth = Math.min(list.depth, indents.length)
  const indent = depth === 0 ? 0 : (indents[depth - 1] ?? 0)
  return { indent, indents: [...indents.slice(0, depth), indent + Math.max(4, list.marker.length + 1)] }
}

function separator(before: Leaf, leaf: Leaf): string {
  if (before.kind !== 'text' || leaf.kind !== 'text') return '\n\n'
  const quoted = Math.min(before.quote, leaf.quote)
  if (leaf.tight && before.quote === leaf.quote) return '\n'
  return quoted > 0 ? `\n${'>'.repeat(quoted)}\n` : '\n\n'
}

type Write = (runs: readonly Run[], dialect: Dialect) => string

function writeLeaf(leaf: Leaf, dialect: Dialect, indent: number, write: Write): string {
  switch (leaf.kind) {
    case 'text':
      return writeText(leaf, dialect, indent, write)
    case 'code':
      return writeCode(leaf, dialect)
    case 'table':
      return writeTable(leaf, dialect, write)
    case 'rule':
      return '---'
    default:
      return unreachable(leaf)
  }
}

function writeText(leaf: TextLeaf, dialect: Dialect, indent: number, write: Write): string {
  if (leaf.heading !== undefined) {
    const runs = leaf.runs.map((run) =>
      run.kind === 'break' ? { kind: 'text' as const, text: ' ', marks: run.marks } : run,
    )
    const body = write(runs, dialect)
    // In a chat a first-level heading at 26 px shouts; two levels down keeps the order and the calm.
    const level = dialect === 'card' ? Math.min(leaf.heading + 2, 6) : leaf.heading
    // A trailing "#" would be taken for a closing sequence.
    const safe = body.endsWith('#') ? `${body.slice(0, -1)}${dialect === 'card' ? '&#35;' : '\\#'}` : body
    return `${'#'.repeat(level)} ${safe}`
  }
  const marker = leaf.list?.marker === undefined || leaf.list.marker === null ? '' : `${leaf.list.marker} `
  const quote = leaf.quote === 0 ? '' : `${'>'.repeat(leaf.quote)} `
  const hanging = leaf.list?.marker === null || marker === '' ? indent : indent + Math.max(4, marker.length)
  return (boxOf(leaf, dialect) + write(leaf.runs, dialect))
    .split('\n')
    .map((line, at) => quote + ' '.repeat(at === 0 ? indent : hanging) + (at === 0 ? marker : '') + line)
    .join('\n')
}

function boxOf(leaf: TextLeaf, dialect: Dialect): string {
  const task = leaf.list?.task
  if (task === undefined) return ''
  return dialect === 'card' ? `${taskSigns[task]} ` : task === 'open' ? '[ ] ' : '[x] '
}

function writeCode(leaf: CodeLeaf, dialect: Dialect): string {
  const text = dialect === 'card' ? defuseMentions(leaf.text) : leaf.text
  const fence = '`'.repeat(Math.max(3, longestRun(text, '`') + 1))
  return `${fence}${leaf.language}\n${text === '' ? '' : `${text}\n`}${fence}`
}

const rules = { left: ':---', center: ':---:', right: '---:' } as const

function writeTable(leaf: TableLeaf, dialect: Dialect, write: Write): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const row = (cells: readonly Cell[]): string =>
    line(leaf.header.map((_, at) => writeCell(cells[at] ?? [], dialect, write)))
  return [
    row(leaf.header),
    line(leaf.align.map((align) => (align === null ? '---' : rules[align]))),
    ...leaf.rows.map(row),
  ].join('\n')
}

function writeCell(cell: Cell, dialect: Dialect, write: Write): string {
  return write(cell, dialect).replaceAll('|', '\\|')
}

/** A table as a reader sees it in plain text: one line a row. */
export function tableLines(leaf: TableLeaf): string[] {
  return [leaf.header, ...leaf.rows].map((cells) => `| ${cells.map(visible).join(' | ')} |`)
}

/** The table as a code block, for where no further table fits. */
export function tableAsCode(leaf: TableLeaf): CodeLeaf {
  return { kind: 'code', language: '', text: tableLines(leaf).join('\n') }
}

/** Upper bound of the bytes a leaf adds to a card's request body; a page is planned with it and then measured. */
export function leafBytes(leaf: Leaf): number {
  const indent = leaf.kind === 'text' && leaf.list !== undefined ? 6 * (leaf.list.depth + 1) : 0
  const before = leaf.kind === 'text' ? SEPARATOR_BYTES + leaf.quote : SEPARATOR_BYTES
  return wireBytes(writeLeaf(leaf, 'card', indent, writeRuns)) + before + elementsFor(leaf) * ELEMENT_BYTES
}

/** Elements of a card that a leaf can make: a table or rule stands alone and begins another run of text after it. */
export function elementsFor(leaf: Leaf): number {
  return leaf.kind === 'table' || leaf.kind === 'rule' ? 2 : 0
}

/** A blank line, twice escaped. */
const SEPARATOR_BYTES = 8

/** An element's own braces and keys. */
export const ELEMENT_BYTES = 70
