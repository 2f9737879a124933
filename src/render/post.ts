import { unreachable } from '../lib/assert.js'
import { tableAsCode } from './blocks.js'
import { defuseMentions } from './defuse.js'
import type { Leaf, Run, TextLeaf } from './leaf.js'
import { bullet, plainRun } from './plain.js'

type PostNode =
  | { readonly tag: 'text'; readonly text: string; readonly style?: readonly string[] }
  | { readonly tag: 'a'; readonly text: string; readonly href: string; readonly style?: readonly string[] }
  | { readonly tag: 'code_block'; readonly language?: string; readonly text: string }
  | { readonly tag: 'hr' }

/**
 * The `content` of a `post` message, as nodes and not as `md`: nodes need no escaping, come back as they were sent,
 * and tables in `md` are not documented (here they become code blocks). Lark: message/create_json, post.
 */
export function postContent(leaves: readonly Leaf[]): string {
  return JSON.stringify({ zh_cn: { title: '', content: leaves.flatMap(paragraphs) } })
}

function paragraphs(leaf: Leaf): PostNode[][] {
  switch (leaf.kind) {
    case 'text':
      return textParagraphs(leaf)
    case 'code':
      return [[{ tag: 'code_block', ...languageOf(leaf.language), text: defuseMentions(leaf.text) }]]
    case 'table':
      return paragraphs(tableAsCode(leaf))
    case 'rule':
      return [[{ tag: 'hr' }]]
    default:
      return unreachable(leaf)
  }
}

const known = new Set(
  'BASH C CPP CSS DOCKERFILE GO HTML JAVA JAVASCRIPT JSON KOTLIN MARKDOWN PHP PYTHON RUBY RUST SHELL SQL SWIFT TYPESCRIPT XML YAML'.split(
    ' ',
  ),
)

/** Only names that are surely known there: a fallback must not be refused for its colouring. */
function languageOf(language: string): { language?: string } {
  const name = language.toUpperCase()
  return known.has(name) ? { language: name } : {}
}

/** One paragraph a line: a post has no line break inside a paragraph. */
function textParagraphs(leaf: TextLeaf): PostNode[][] {
  const quote = leaf.quote > 0 ? `${'>'.repeat(leaf.quote)} ` : ''
  const first = `${quote}${'    '.repeat(leaf.list?.depth ?? 0)}${bullet(leaf)}`
  const lines: PostNode[][] = [[]]
  if (first !== '') add(lines, { tag: 'text', text: first })
  for (const run of leaf.runs) {
    if (run.kind !== 'break') add(lines, node(run, leaf.heading !== undefined))
    else lines.push(quote === '' ? [] : [{ tag: 'text', text: quote }])
  }
  return lines.filter((line) => line.length > 0)
}

/** Adds a node to the last line; two texts of one style are one. */
function add(lines: PostNode[][], next: PostNode): void {
  const line = lines.at(-1) ?? []
  const last = line.at(-1)
  const joins = last?.tag === 'text' && next.tag === 'text' && last.style?.join() === next.style?.join()
  if (joins) line[line.length - 1] = { ...last, text: defuseMentions(last.text + next.text) }
  else line.push(next)
}

const styleOf = { strong: 'bold', em: 'italic', strike: 'lineThrough' } as const

function node(run: Run, bold: boolean): PostNode {
  const styles = new Set<string>(bold ? ['bold'] : [])
  let href: string | null = null
  for (const mark of run.marks) {
    if (mark.kind === 'link') href ??= mark.address
    else styles.add(styleOf[mark.kind])
  }
  const style = styles.size === 0 ? {} : { style: [...styles] }
  const text = defuseMentions(plainRun(run))
  return href === null ? { tag: 'text', text, ...style } : { tag: 'a', text, href, ...style }
}

/** Upper bound of the bytes a leaf adds to a post. */
export function postLeafBytes(leaf: Leaf): number {
  return Buffer.byteLength(JSON.stringify(JSON.stringify(paragraphs(leaf)))) + 8
}
