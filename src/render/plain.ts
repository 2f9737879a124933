import { unreachable } from '../lib/assert.js'
import { tableLines } from './blocks.js'
import { defuseTextTags, normalisePlain } from './defuse.js'
import type { Leaf, Run, TextLeaf } from './leaf.js'
import { taskSigns } from './task-list.js'
import { wireBytes } from './wire.js'

/** What leaves say without any markup, one block after the other; entities stay as typed. */
export function plainLines(leaf: Leaf): string[] {
  switch (leaf.kind) {
    case 'text':
      return textLines(leaf)
    case 'code':
      return leaf.text.split('\n')
    case 'table':
      return tableLines(leaf)
    case 'rule':
      return ['———']
    default:
      return unreachable(leaf)
  }
}

function textLines(leaf: TextLeaf): string[] {
  const indent = '  '.repeat(leaf.list?.depth ?? 0)
  const marker = bullet(leaf)
  const quote = leaf.quote > 0 ? `${'>'.repeat(leaf.quote)} ` : ''
  return leaf.runs
    .map(plainRun)
    .join('')
    .split('\n')
    .map((line, at) => quote + indent + (at === 0 ? marker : '') + line)
}

export function bullet(leaf: TextLeaf): string {
  const marker = leaf.list?.marker
  if (marker === undefined || marker === null) return ''
  const box = leaf.list?.task === undefined ? '' : `${taskSigns[leaf.list.task]} `
  if (marker === '-') return box === '' ? '• ' : box
  return `${marker} ${box}`
}

/** An escape means its character; an entity stays as typed, because a text message decodes none. */
export function plainRun(run: Run): string {
  return run.kind === 'typed' && run.typed.startsWith('&') ? run.typed : run.text
}

/** The `content` of a `text` message. */
export function textContent(leaves: readonly Leaf[]): string {
  return JSON.stringify({ text: defuseTextTags(plainText(leaves)) })
}

export function plainText(leaves: readonly Leaf[]): string {
  let out = ''
  let before: Leaf | undefined
  for (const leaf of leaves) {
    const tight = before?.kind === 'text' && leaf.kind === 'text' && leaf.tight
    out += `${before === undefined ? '' : tight ? '\n' : '\n\n'}${plainLines(leaf).join('\n')}`
    before = leaf
  }
  return out
}

/** Readable text of a page in the form two texts are compared in. */
export function comparable(leaves: readonly Leaf[]): string {
  return normalisePlain(plainText(leaves))
}

/** Upper bound of the bytes a leaf adds to a text message. */
export function textLeafBytes(leaf: Leaf): number {
  return wireBytes(defuseTextTags(plainLines(leaf).join('\n'))) + 8
}
