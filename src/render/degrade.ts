import type { PartSource } from '../collab/channel.js'
import { leafBytes, tableAsCode } from './blocks.js'
import { CARD_FRAME_BYTES } from './card.js'
import type { Leaf } from './leaf.js'
import { leavesOf } from './leaves.js'
import { packPages } from './pack.js'
import { budgetOf, paragraphs, partOf } from './part.js'
import { plainText, textLeafBytes } from './plain.js'
import { postLeafBytes } from './post.js'
import type { RenderedPart } from './view.js'
import { ENVELOPE_BYTES } from './wire.js'

const costs = { interactive: leafBytes, post: postLeafBytes, text: textLeafBytes } as const

/** Room for fewer bytes of words than this makes no message. */
const LEAST_ROOM = 400

/** A message in another form, with what it is written from in its turn. */
export interface Restated {
  readonly part: RenderedPart
  readonly source: PartSource
}

/**
 * What a refused message says in a plainer type: card → post → text. Every word of it; tables become code blocks.
 * Usually one message, more when the plainer form is larger.
 */
export function degrade(source: PartSource, to: 'post' | 'text'): readonly Restated[] {
  return paged(source, to, budgetOf(to))
}

/**
 * The same as smaller messages of its own type, after the platform refused it for its size: each has room for half of
 * it. None when it cannot be made smaller.
 *
 * @param part a text is cut as it is sent; a card or a post is written anew from its source
 */
export function shrink(
  part: Pick<RenderedPart, 'msgType' | 'content' | 'bytes'>,
  source: PartSource | null,
): readonly Restated[] {
  const from = part.msgType === 'text' ? { text: (JSON.parse(part.content) as { text: string }).text } : source
  const room = Math.floor((part.bytes - ENVELOPE_BYTES - CARD_FRAME_BYTES) / 2)
  if (from === null || room < LEAST_ROOM) return []
  const pieces = paged(from, part.msgType, Math.min(room, budgetOf(part.msgType)))
  // One long link is never cut: sent once more it would be refused once more.
  return pieces.every((piece) => piece.part.bytes < part.bytes) ? pieces : []
}

function paged(source: PartSource, to: RenderedPart['msgType'], budget: number): readonly Restated[] {
  const leaves: readonly Leaf[] = 'text' in source ? paragraphs(source.text) : leavesOf(source.markdown)
  const { pages } = packPages(
    to === 'interactive' ? leaves : leaves.map((leaf) => (leaf.kind === 'table' ? tableAsCode(leaf) : leaf)),
    { budget, cost: costs[to], maxPages: Number.POSITIVE_INFINITY, extraTables: 'code' },
  )
  return pages.map((page) => {
    const part = partOf(to, page)
    return { part, source: 'text' in source ? { text: plainText(page) } : { markdown: part.markdown } }
  })
}
