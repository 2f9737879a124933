import { tableAsCode } from './blocks.js'
import { cutAtOrBefore, firstCodePoint } from './grapheme.js'
import type { Cell, CodeLeaf, Leaf, Mark, Run, TableLeaf, TextLeaf } from './leaf.js'
import { visible } from './runs.js'

/** Bytes of one leaf in the form it will be sent in. */
export type Cost = (leaf: Leaf) => number

/**
 * Cuts a leaf in two so that the first part costs at most `room`.
 * @returns null when nothing useful of it fits; with `force` there is always a first part, at least one code point long.
 */
export function splitLeaf(leaf: Leaf, room: number, cost: Cost, force: boolean): readonly [Leaf, Leaf] | null {
  switch (leaf.kind) {
    case 'text':
      return splitText(leaf, room, cost, force)
    case 'code':
      return splitCode(leaf, room, cost, force)
    case 'table':
      return splitTable(leaf, room, cost, force)
    default:
      return null
  }
}

function splitText(leaf: TextLeaf, room: number, cost: Cost, force: boolean): readonly [Leaf, Leaf] | null {
  const make = (runs: readonly Run[]): TextLeaf => ({ ...leaf, runs })
  const parts = splitRuns(leaf.runs, room, (runs) => cost(make(runs)), force)
  if (parts === null) return null
  // The rest of a list item carries no second marker.
  const list = leaf.list === undefined ? {} : { list: { depth: leaf.list.depth, marker: null } }
  return [make(parts[0]), { ...make(parts[1]), ...list, tight: false }]
}

/** Cuts runs: at a line end if one is near, else at a sentence or word end, else between graphemes. */
export function splitRuns(
  runs: readonly Run[],
  room: number,
  cost: (runs: readonly Run[]) => number,
  force: boolean,
): readonly [readonly Run[], readonly Run[]] | null {
  const whole = largest(
    withinReach(runs, room, (run) => run.text.length),
    (count) => cost(runs.slice(0, count)) <= room,
  )
  if (whole >= runs.length) return [runs, []]
  const together = linkStart(runs, whole)
  // A link is kept in one piece with its address, unless it alone is larger than the page.
  if (together < whole || (together === whole && linkOf(runs[whole]) !== null && whole > 0)) {
    if (together > 0) return tidy(runs.slice(0, together), runs.slice(together))
    if (!force) return null
  }
  const head = runs.slice(0, whole)
  const next = runs[whole] as Run
  const cut =
    next.kind === 'text' || next.kind === 'code'
      ? cutText(next.text, room, (text) => cost([...head, { ...next, text }]) <= room)
      : 0
  if (cut > 0 && (next.kind === 'text' || next.kind === 'code')) {
    const first: Run = { ...next, text: next.text.slice(0, cut) }
    const rest: Run = { ...next, text: next.text.slice(cut) }
    return tidy([...head, first], [rest, ...runs.slice(whole + 1)])
  }
  if (whole > 0) return tidy(head, runs.slice(whole))
  if (!force) return null
  if (next.kind !== 'text' && next.kind !== 'code') return [[next], runs.slice(1)]
  const least = Math.max(cutAtOrBefore(next.text, 1), firstCodePoint(next.text))
  return [[{ ...next, text: next.text.slice(0, least) }], [{ ...next, text: next.text.slice(least) }, ...runs.slice(1)]]
}

/** Where the link begins that a cut before `at` would take apart; `at` itself when there is none. */
function linkStart(runs: readonly Run[], at: number): number {
  let start = at
  const first = runs[at]
  if (first?.kind === 'text' && first.added === true && at > 0) start--
  const link = linkOf(runs[start])
  if (link === null) return at
  while (start > 0 && linkOf(runs[start - 1]) === link) start--
  return start
}

function linkOf(run: Run | undefined): Mark | null {
  return run?.marks.find((mark) => mark.kind === 'link') ?? null
}

/** A break at the cut is what the message boundary already is. */
function tidy(head: readonly Run[], rest: readonly Run[]): readonly [readonly Run[], readonly Run[]] {
  const from = rest.findIndex((run) => run.kind !== 'break' && run.text !== '')
  const to = head.findLastIndex((run) => run.kind !== 'break' && run.text !== '')
  const [first, ...others] = from < 0 ? [] : rest.slice(from)
  if (first === undefined) return [head.slice(0, to + 1), []]
  return [
    head.slice(0, to + 1),
    [first.kind === 'text' ? { ...first, text: first.text.trimStart() } : first, ...others],
  ]
}

const SENTENCE_ENDS = '。！？；!?;'

/** The longest prefix that fits, moved back to the end of a sentence or a word if that costs under a quarter of it. */
function cutText(text: string, room: number, fits: (prefix: string) => boolean): number {
  const limit = largest(Math.min(text.length, room), (length) => fits(text.slice(0, length)))
  if (limit === 0) return 0
  const hard = cutAtOrBefore(text, limit)
  const floor = Math.floor(hard * 0.75)
  for (let at = hard; at > floor; at--) if (SENTENCE_ENDS.includes(text.charAt(at - 1))) return cutAtOrBefore(text, at)
  for (let at = hard; at > floor; at--) if (text.charAt(at - 1) === ' ') return cutAtOrBefore(text, at)
  return hard
}

function splitCode(leaf: CodeLeaf, room: number, cost: Cost, force: boolean): readonly [Leaf, Leaf] | null {
  const fits = (length: number): boolean => cost({ ...leaf, text: leaf.text.slice(0, length) }) <= room
  const limit = largest(Math.min(leaf.text.length, room), fits)
  if (limit >= leaf.text.length) return [leaf, { ...leaf, text: '' }]
  const newline = leaf.text.lastIndexOf('\n', limit - 1)
  // A cut at a line end keeps its newline, so that the pieces joined are the source, byte for byte.
  let cut = newline >= 0 && newline + 1 > limit / 2 ? newline + 1 : cutAtOrBefore(leaf.text, limit)
  if (cut === 0 && force) cut = Math.max(limit, firstCodePoint(leaf.text))
  return cut === 0
    ? null
    : [
        { ...leaf, text: leaf.text.slice(0, cut) },
        { ...leaf, text: leaf.text.slice(cut) },
      ]
}

function splitTable(leaf: TableLeaf, room: number, cost: Cost, force: boolean): readonly [Leaf, Leaf] | null {
  const make = (rows: TableLeaf['rows']): TableLeaf => ({ ...leaf, rows })
  // A header that fills the page cannot be repeated: as code such a table can be cut anywhere.
  if (force && cost(make([])) > room / 2) return splitCode(tableAsCode(leaf), room, cost, true)
  const whole = largest(
    withinReach(leaf.rows, room, rowLength),
    (count) => cost(make(leaf.rows.slice(0, count))) <= room,
  )
  if (whole >= leaf.rows.length) return [leaf, make([])]
  if (whole > 0) return [make(leaf.rows.slice(0, whole)), make(leaf.rows.slice(whole))]
  if (!force) return null
  const [first, rest] = splitRow(leaf.rows[0] ?? [], room, (row) => cost(make([row])))
  return [make([first]), make([rest, ...leaf.rows.slice(1)])]
}

/** One row larger than a page goes on in a further row; its cells stay in their columns and in order. */
function splitRow(
  row: readonly Cell[],
  room: number,
  cost: (row: readonly Cell[]) => number,
): readonly [readonly Cell[], readonly Cell[]] {
  const whole = Math.min(
    largest(row.length, (count) => cost(row.slice(0, count)) <= room),
    row.length - 1,
  )
  const before = row.slice(0, whole)
  // The cells before it count as progress only if they hold something.
  const empty = before.every((cell) => visible(cell) === '')
  const cut = splitRuns(row[whole] ?? [], room, (runs) => cost([...before, runs]), empty)
  const [head, rest] = cut ?? [[], row[whole] ?? []]
  return [
    [...before, head],
    [...before.map(() => []), rest, ...row.slice(whole + 1)],
  ]
}

/** How many items can fit at most: none costs less bytes than it has visible characters. Saves writing what never fits. */
function withinReach<T>(items: readonly T[], room: number, lengthOf: (item: T) => number): number {
  let length = 0
  let count = 0
  for (const item of items) {
    length += lengthOf(item)
    if (length > room) break
    count++
  }
  return count
}

function rowLength(row: readonly Cell[]): number {
  return row.reduce((sum, cell) => sum + runsLength(cell), 0)
}

function runsLength(runs: readonly Run[]): number {
  return runs.reduce((sum, run) => sum + run.text.length, 0)
}

/** A lower bound of what a leaf costs, far cheaper than its cost. */
export function leastBytes(leaf: Leaf): number {
  if (leaf.kind === 'text') return runsLength(leaf.runs)
  if (leaf.kind === 'code') return leaf.text.length
  return leaf.kind === 'table' ? rowLength(leaf.header) + leaf.rows.reduce((sum, row) => sum + rowLength(row), 0) : 0
}

/** The largest count in 0…max that fits (no unit costs less than a byte, so nobody asks beyond `room`); `fits` must not become true again once it was false. */
function largest(max: number, fits: (count: number) => boolean): number {
  if (fits(max)) return max
  let low = 0
  let high = max
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (fits(middle)) low = middle
    else high = middle
  }
  return low
}

/** A leaf with nothing in it: what is left after a cut at the very end. */
export function isEmpty(leaf: Leaf): boolean {
  if (leaf.kind === 'text') return leaf.runs.length === 0
  if (leaf.kind === 'code') return leaf.text === ''
  return leaf.kind === 'table' && leaf.rows.length === 0
}
