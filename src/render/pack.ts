import { elementsFor, tableAsCode } from './blocks.js'
import type { Leaf } from './leaf.js'
import { type Cost, isEmpty, leastBytes, splitLeaf } from './split.js'
import { targets } from './targets.js'

export interface PageRules {
  /** Bytes of the request body one page may use for its leaves. */
  readonly budget: number
  readonly cost: Cost
  /** More pages than this are not made; the caller has another way to deliver such an answer. */
  readonly maxPages: number
  /** What becomes of the tables a page has no place for. */
  readonly extraTables: 'next-page' | 'code'
}

export interface Packed {
  readonly pages: readonly (readonly Leaf[])[]
  /** Every leaf found a place. */
  readonly complete: boolean
}

/** Tables become code before they come to a message type that has none, so a card's limits are those that count. */
const { limits } = targets.interactive

/** A page this full is closed rather than cutting the next block, which would fit a page of its own. */
const FULL_ENOUGH = 0.4

/** Puts leaves on pages in order, cutting only what does not fit a page of its own. */
export function packPages(leaves: readonly Leaf[], rules: PageRules): Packed {
  const pages: Leaf[][] = []
  let page: Leaf[] = []
  let used = 0
  let tables = 0
  let elements = 1
  const turn = (): void => {
    const carried = headingsAtEnd(page)
    pages.push(page.slice(0, page.length - carried.length))
    page = carried
    used = carried.reduce((sum, leaf) => sum + rules.cost(leaf), 0)
    tables = 0
    elements = 1
  }
  const put = (leaf: Leaf, cost: number): void => {
    page.push(leaf)
    used += cost
    elements += elementsFor(leaf)
    if (leaf.kind === 'table') tables++
  }
  const todo = [...leaves].reverse()
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (pages.length >= rules.maxPages) return { pages, complete: false }
    const leaf = fitting(next, tables, rules)
    if (elements + elementsFor(leaf) > limits.elements || (leaf.kind === 'table' && tables >= limits.tables)) {
      todo.push(leaf)
      turn()
      continue
    }
    const cost = leastBytes(leaf) > rules.budget ? Number.POSITIVE_INFINITY : rules.cost(leaf)
    if (used + cost <= rules.budget) {
      put(leaf, cost)
      continue
    }
    const blank = page.every((each) => each.kind === 'text' && each.heading !== undefined)
    if (!blank && used > rules.budget * FULL_ENOUGH && (cost <= rules.budget || used > rules.budget * 0.8)) {
      todo.push(leaf)
      turn()
      continue
    }
    const cut = splitLeaf(leaf, rules.budget - used, rules.cost, page.length === 0)
    if (cut === null) {
      todo.push(leaf)
      // Headings alone on a page would be carried for ever: here they stay.
      if (blank) {
        pages.push(page)
        page = []
        used = 0
        tables = 0
      } else turn()
      continue
    }
    const [head, rest] = cut
    put(head, rules.cost(head))
    if (isEmpty(rest)) continue
    todo.push(rest)
    turn()
  }
  if (page.length > 0) pages.push(page)
  return { pages, complete: pages.length <= rules.maxPages }
}

function fitting(leaf: Leaf, tables: number, rules: PageRules): Leaf {
  if (leaf.kind !== 'table') return leaf
  const tooMany = rules.extraTables === 'code' && tables >= limits.tables
  return tooMany || leaf.header.length > limits.columns ? tableAsCode(leaf) : leaf
}

/** A heading belongs to what follows it, so it is not left at the foot of a page. */
function headingsAtEnd(page: readonly Leaf[]): Leaf[] {
  let from = page.length
  while (from > 0) {
    const leaf = page[from - 1]
    if (leaf?.kind !== 'text' || leaf.heading === undefined) break
    from--
  }
  return from === 0 ? [] : page.slice(from)
}
