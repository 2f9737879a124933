import { writeLeaves } from './blocks.js'
import type { Leaf } from './leaf.js'

interface CardElement {
  readonly tag: 'markdown' | 'hr'
  readonly content?: string
}

/**
 * The `content` of an `interactive` message, card JSON 2.0. Tables stand in elements of their own, at root level,
 * where the platform wants them; everything between two tables is one element.
 */
export function cardContent(leaves: readonly Leaf[]): string {
  const elements: CardElement[] = []
  let run: Leaf[] = []
  const flush = (): void => {
    if (run.length > 0) elements.push({ tag: 'markdown', content: writeLeaves(run, 'card') })
    run = []
  }
  for (const leaf of leaves) {
    if (leaf.kind === 'rule') {
      flush()
      elements.push({ tag: 'hr' })
    } else if (leaf.kind === 'table') {
      flush()
      elements.push({ tag: 'markdown', content: writeLeaves([leaf], 'card') })
    } else run.push(leaf)
  }
  flush()
  // update_multi: a card may be replaced later only if it said so when it was sent.
  return JSON.stringify({ schema: '2.0', config: { update_multi: true }, body: { elements } })
}

/** Bytes of a card with its first, empty element. */
export const CARD_FRAME_BYTES = 240
