import { normalisePlain } from '../../render/defuse.js'
import { Fields } from '../ingress/content/read.js'

/**
 * The readable text of a message as the platform gives it back, in the form in which sent and returned are compared.
 * Null for a type whose content does not come back as it was sent (cards) or has no text (files).
 */
export function comparableOf(msgType: string, content: string): string | null {
  const fields = parsed(content)
  if (fields === null) return null
  if (msgType === 'text') return comparable(fields.string('text'))
  if (msgType !== 'post') return null
  const lines = fields.list('content').map((row) => (Array.isArray(row) ? row : []).map(nodeText).join(''))
  return comparable([fields.string('title'), ...lines].join('\n'))
}

/** A bare address may come back as a link to itself. */
export function comparable(text: string): string {
  return normalisePlain(
    text.replace(/\[([^\]\s]{1,2000})\]\(([^()\s]{1,2000})\)/g, (link, a: string, b: string) => (a === b ? a : link)),
  )
}

function nodeText(raw: unknown): string {
  const node = new Fields(raw)
  return node.string('tag') === 'at' ? `@${node.string('user_name')}` : node.string('text')
}

function parsed(content: string): Fields | null {
  try {
    return new Fields(JSON.parse(content))
  } catch {
    return null
  }
}
