import { writeLeaves } from './blocks.js'
import { CARD_FRAME_BYTES, cardContent } from './card.js'
import { defuseMentions, defuseTextTags, normalisePlain } from './defuse.js'
import type { Leaf, Run, TextLeaf } from './leaf.js'
import { comparable, textContent } from './plain.js'
import { postContent } from './post.js'
import type { RenderedPart } from './view.js'
import { CARD_MAX_BYTES, ENVELOPE_BYTES, requestBytes, TEXT_MAX_BYTES } from './wire.js'

const contents = { interactive: cardContent, post: postContent, text: textContent } as const

/** One message from the leaves of one page. */
export function partOf(msgType: RenderedPart['msgType'], leaves: readonly Leaf[]): RenderedPart {
  const content = contents[msgType](leaves)
  // A post returns its rules as nodes without text.
  const shown = msgType === 'post' ? leaves.filter((leaf) => leaf.kind !== 'rule') : leaves
  return {
    msgType,
    content,
    bytes: requestBytes(content),
    plain: comparable(shown),
    markdown: writeLeaves(leaves, 'source'),
  }
}

/** Bytes left for the leaves of one page; the frame of a post is smaller than a card's. */
export function budgetOf(msgType: RenderedPart['msgType']): number {
  return maxBytes(msgType) - ENVELOPE_BYTES - CARD_FRAME_BYTES
}

export function maxBytes(msgType: RenderedPart['msgType']): number {
  return msgType === 'text' ? TEXT_MAX_BYTES : CARD_MAX_BYTES
}

/** A paragraph of our own words. */
export function sentence(text: string): TextLeaf {
  return { kind: 'text', runs: [{ kind: 'text', text, marks: [] }], quote: 0, tight: false }
}

/** Plain words as leaves, nothing in them a mark. */
export function paragraphs(text: string): readonly TextLeaf[] {
  return text.split(/\n\s*\n/).map((paragraph) => ({
    ...sentence(''),
    runs: paragraph
      .split('\n')
      .flatMap((line, at): readonly Run[] => [
        ...(at === 0 ? [] : [{ kind: 'break', text: '\n', marks: [] } as const]),
        ...(line === '' ? [] : [{ kind: 'text', text: line, marks: [] } as const]),
      ]),
  }))
}

/**
 * The same message with words of ours before it, in the same message. Null when they do not fit, or when it is a file.
 */
export function introduced(
  part: { readonly msgType: string; readonly content: string; readonly plain: string | null },
  words: string,
): { readonly content: string; readonly bytes: number; readonly plain: string | null } | null {
  const { msgType } = part
  if (msgType !== 'text' && msgType !== 'post' && msgType !== 'interactive') return null
  const content = before[msgType](JSON.parse(part.content) as never, words)
  const bytes = requestBytes(content)
  if (bytes > maxBytes(msgType)) return null
  return { content, bytes, plain: part.plain === null ? null : normalisePlain(`${words}\n${part.plain}`) }
}

const before = {
  text: (sent: { text: string }, words: string): string =>
    JSON.stringify({ ...sent, text: `${defuseTextTags(words)}\n\n${sent.text}` }),
  post: (sent: Record<string, { content: readonly unknown[] }>, words: string): string =>
    JSON.stringify(
      Object.fromEntries(
        Object.entries(sent).map(([language, one]) => [
          language,
          { ...one, content: [[{ tag: 'text', text: defuseMentions(words) }], ...one.content] },
        ]),
      ),
    ),
  interactive: (sent: { body: { elements: readonly unknown[] } }, words: string): string => {
    // Plain text: in Markdown a word from elsewhere could be a mark.
    const element = { tag: 'div', text: { tag: 'plain_text', content: defuseMentions(words) } }
    return JSON.stringify({ ...sent, body: { ...sent.body, elements: [element, ...sent.body.elements] } })
  },
} as const

/** Puts a label before an answer: into its first paragraph where it begins with one. */
export function labelled(label: string | undefined, leaves: readonly Leaf[]): readonly Leaf[] {
  if (label === undefined || label === '') return leaves
  const [first, ...rest] = leaves
  if (first?.kind !== 'text' || first.heading !== undefined || first.list !== undefined || first.quote > 0)
    return [sentence(label), ...leaves]
  return [{ ...first, runs: [{ kind: 'text', text: `${label} `, marks: [] }, ...first.runs] }, ...rest]
}
