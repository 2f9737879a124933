import { refused, type Refused } from './answer.js'
import { isObject } from './card-check.js'
import { emojiNames } from './emoji.js'
import { mentionOf, type MentionBook } from './mentions.js'
import type { Mention } from './state.js'

type Json = Readonly<Record<string, unknown>>

const locales = ['zh_cn', 'en_us', 'ja_jp', 'zh_hk', 'zh_tw']
const styles = new Set(['bold', 'underline', 'lineThrough', 'italic'])
/** These stand alone in their paragraph. */
const alone = new Set(['img', 'media', 'md'])

/**
 * Checks a rich text as sending does (230001) and turns it into what others read: no locale, `md` dissolved into
 * texts and links, mentions as keys.
 * Source: message-content-description/create_json and message_content.
 */
export function checkPost(
  post: Json,
  book: MentionBook,
  images: { has(key: string): boolean },
): { readonly shown: string; readonly mentions: readonly Mention[] } | Refused {
  const bad = (detail: string): Refused => refused(230001, `ext=${detail}`)
  const given = Object.keys(post)
  if (given.length === 0 || given.some((key) => !locales.includes(key))) return bad('post needs a language as its key')
  const mentions: Mention[] = []
  let shown: string | null = null
  for (const locale of locales.filter((name) => given.includes(name))) {
    const body = post[locale]
    if (!isObject(body)) return bad(`${locale} is not an object`)
    const title = body['title'] ?? ''
    if (typeof title !== 'string') return bad('title is not a string')
    if (!Array.isArray(body['content']) || body['content'].length === 0) return bad('content is empty')
    const paragraphs: object[][] = []
    for (const paragraph of body['content']) {
      if (!Array.isArray(paragraph)) return bad('a paragraph is not an array')
      const nodes: object[] = []
      for (const node of paragraph) {
        if (!isObject(node)) return bad('a node is not an object')
        if (paragraph.length > 1 && alone.has(String(node['tag'])))
          return bad(`${String(node['tag'])} must stand alone`)
        const read = readNode(node, mentions, book, images)
        if (typeof read === 'string') return bad(read)
        if (node['tag'] === 'md') paragraphs.push(...(read as object[][]))
        else nodes.push(...(read as object[]))
      }
      if (nodes.length > 0) paragraphs.push(nodes)
    }
    shown ??= JSON.stringify({ title, content: paragraphs })
  }
  return { shown: shown ?? '', mentions }
}

/** The node as read, paragraphs for `md`, or why it is refused. */
function readNode(
  node: Json,
  mentions: Mention[],
  book: MentionBook,
  images: { has(key: string): boolean },
): object[] | object[][] | string {
  const style = node['style'] ?? []
  if (!Array.isArray(style) || style.some((name) => !styles.has(String(name)))) return 'style is invalid'
  switch (node['tag']) {
    case 'text':
      return typeof node['text'] === 'string' ? [{ tag: 'text', text: node['text'], style }] : 'text is required'
    case 'a':
      if (typeof node['text'] !== 'string') return 'a.text is required'
      if (!isLegalHref(node['href'])) return 'a.href is invalid'
      return [{ tag: 'a', href: node['href'], text: node['text'], style }]
    case 'at': {
      const id = node['user_id']
      if (id === 'all') return [{ tag: 'at', user_id: '@_all', user_name: '', style }]
      const mention = typeof id === 'string' ? mentionOf(mentions, book, id) : null
      return mention === null
        ? 'at.user_id is invalid'
        : [{ tag: 'at', user_id: mention.key, user_name: mention.name, style }]
    }
    case 'img':
      return images.has(String(node['image_key']))
        ? [{ tag: 'img', image_key: node['image_key'] }]
        : 'image_key is invalid'
    case 'media':
      return typeof node['file_key'] === 'string' ? [{ ...node }] : 'file_key is required'
    case 'emotion':
      return emojiNames.has(String(node['emoji_type'])) ? [{ ...node }] : 'emoji_type is invalid'
    case 'code_block':
      return typeof node['text'] === 'string'
        ? [{ tag: 'code_block', language: String(node['language'] ?? 'PLAIN_TEXT').toUpperCase(), text: node['text'] }]
        : 'code_block.text is required'
    case 'hr':
      return [{ tag: 'hr' }]
    case 'md':
      return typeof node['text'] === 'string' ? readMarkdown(node['text'], mentions, book) : 'md.text is required'
    default:
      return 'unknown tag'
  }
}

function isLegalHref(href: unknown): boolean {
  if (typeof href !== 'string' || !URL.canParse(href)) return false
  return ['http:', 'https:', 'mailto:', 'tel:', 'lark:'].includes(new URL(href).protocol)
}

/** `md` never comes back: fences become code blocks, lines become paragraphs, links and mentions become nodes. */
function readMarkdown(text: string, mentions: Mention[], book: MentionBook): object[][] {
  const paragraphs: object[][] = []
  let code: { language: string; lines: string[] } | null = null
  for (const line of text.split('\n')) {
    const fence = /^```(\w*)\s*$/.exec(line)
    if (fence !== null) {
      if (code === null) code = { language: (fence[1] || 'plain_text').toUpperCase(), lines: [] }
      else {
        paragraphs.push([{ tag: 'code_block', language: code.language, text: `${code.lines.join('\n')}\n` }])
        code = null
      }
    } else if (code !== null) code.lines.push(line)
    else if (/^(?:---+|\*\*\*+)$/.test(line.trim())) paragraphs.push([{ tag: 'hr' }])
    else if (line.trim() !== '') paragraphs.push(readInline(line, mentions, book))
  }
  if (code !== null) paragraphs.push([{ tag: 'code_block', language: code.language, text: code.lines.join('\n') }])
  return paragraphs
}

const inline =
  /\[([^\]]+)\]\((https?:\/\/[^)\s]+)\)|<at user_id="([^"]+)">[^<]*<\/at>|\*\*([^*]+)\*\*|~~([^~]+)~~|(?<![*\w])\*([^*\s][^*]*)\*/g

function readInline(line: string, mentions: Mention[], book: MentionBook): object[] {
  const nodes: object[] = []
  let from = 0
  for (const match of line.matchAll(inline)) {
    const [whole, label, href, person, bold, struck, italic] = match
    if (match.index > from) nodes.push({ tag: 'text', text: line.slice(from, match.index), style: [] })
    from = match.index + whole.length
    const mention = person === undefined ? null : mentionOf(mentions, book, person)
    if (href !== undefined) nodes.push({ tag: 'a', href, text: label, style: [] })
    else if (mention !== null) nodes.push({ tag: 'at', user_id: mention.key, user_name: mention.name, style: [] })
    else if (bold !== undefined) nodes.push({ tag: 'text', text: bold, style: ['bold'] })
    else if (struck !== undefined) nodes.push({ tag: 'text', text: struck, style: ['lineThrough'] })
    else if (italic !== undefined) nodes.push({ tag: 'text', text: italic, style: ['italic'] })
    else nodes.push({ tag: 'text', text: whole, style: [] })
  }
  if (from < line.length) nodes.push({ tag: 'text', text: line.slice(from), style: [] })
  return nodes
}
