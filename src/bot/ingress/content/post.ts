import type { IncomingAttachment } from '../../../collab/message.js'
import type { Mentions } from '../mentions.js'
import { fenced, Fields, type Content, type Converter } from './read.js'

/**
 * Rich text, as received: without a locale, a list of paragraphs of nodes (Lark: message_content, `post`).
 *
 * Text is given as it stands, without escapes. Styles are dropped: a reader does not need them and marks would
 * change code and addresses. `content_v2` is undocumented; both official bots prefer it, since quotes and lists
 * survive in it.
 */
export const post: Converter = (content, mentions) => postText(content, mentions)

export function postText(content: Fields, mentions: Mentions): Content {
  const reader = new NodeReader(mentions)
  const plain = reader.paragraphs(content.list('content'))
  const chosen = content.list('content_v2').length === 0 ? plain : newer(content, mentions, reader)
  const text = [content.string('title'), chosen.text].filter((part) => part !== '').join('\n')
  return { text: text.replace(/^[ \t]+(?=\S)/, ''), attachments: chosen.attachments, unknown: chosen.unknown }
}

/** The second form, with the files of the first: a file named only there is kept. */
function newer(content: Fields, mentions: Mentions, first: NodeReader): Required<Omit<Content, 'expand'>> {
  const reader = new NodeReader(mentions)
  const read = reader.paragraphs(content.list('content_v2'))
  const missing = first.attachments.filter((one) => !read.attachments.some((other) => other.key === one.key))
  const placed = missing.map((one) => reader.attach(one))
  const text = [read.text, ...placed].filter((part) => part !== '').join('\n')
  if (text === '') return { text: first.paragraphsText, attachments: first.attachments, unknown: first.unknown }
  return { text, attachments: reader.attachments, unknown: reader.unknown }
}

/** The simplified form of a card (Lark: `interactive` in events): a title and rows of nodes. */
export const card: Converter = (content, mentions) => {
  const reader = new NodeReader(mentions)
  const body = reader.paragraphs(content.list('elements'))
  const title = content.string('title')
  const text = [title, body.text].filter((part) => part !== '').join('\n')
  // The provider puts this sentence where a card is too new for the reader; the read-back may hold more.
  const stripped = /请升级至最新版本客户端|upgrade to the latest version/i.test(text)
  return {
    text: text === '' ? '[card]' : text,
    attachments: body.attachments,
    unknown: body.unknown,
    ...(stripped ? { expand: 'read-back' as const } : {}),
  }
}

/** `{from_user}` and the like become the names that the content holds for them. */
export function fillTemplate(template: string, content: Fields): string {
  return template.replace(/\{(\w{1,40})\}/g, (whole, name: string) => {
    const names = content.strings(name)
    return names.length > 0 ? names.join(', ') : content.string(name) || whole
  })
}

class NodeReader {
  readonly attachments: IncomingAttachment[] = []
  readonly unknown: string[] = []
  paragraphsText = ''
  private readonly counts = { image: 0, video: 0 }

  constructor(private readonly mentions: Mentions) {}

  paragraphs(list: readonly unknown[]): Required<Omit<Content, 'expand'>> {
    const lines = list.map((row) => {
      // A card's row may be one node; a post's row is a list.
      const nodes = Array.isArray(row) ? row : [row]
      return tidy(nodes.map((node) => this.node(new Fields(node))).join(''))
    })
    this.paragraphsText = withoutEmptyEnds(lines).join('\n')
    return { text: this.paragraphsText, attachments: this.attachments, unknown: this.unknown }
  }

  attach(one: IncomingAttachment): string {
    this.attachments.push(one)
    return one.kind === 'image' ? `[image ${++this.counts.image}]` : `[video ${++this.counts.video}]`
  }

  private node(node: Fields): string {
    const tag = node.string('tag')
    switch (tag) {
      case 'text':
      case 'plain_text':
        return node.boolean('un_escape') ? unescape(node.string('text')) : node.string('text')
      case 'a':
        return link(node.string('text'), node.string('href'))
      case 'at':
        return this.mentions.atNode(node.string('user_id'), node.string('user_name'))
      case 'md':
      case 'markdown':
      case 'lark_md':
        return this.markdown(node.string('text') || node.string('content'))
      case 'code_block':
        return fenced(node.string('text'), node.string('language'))
      case 'img':
        return this.file('image', node.string('image_key'), null, node.string('text'))
      case 'media':
        return this.file('media', node.string('file_key'), node.number('duration'), node.string('text'))
      case 'emotion':
        return `[${node.string('emoji_type') || 'emoji'}]`
      case 'hr':
        return '---'
      case 'button':
        return `[button: ${node.string('text') || node.object('text').string('content')}]`
      default:
        this.note(tag)
        return words(node) || `[${tag || 'content'}]`
    }
  }

  private file(kind: 'image' | 'media', key: string, durationMs: number | null, fallback: string): string {
    if (key === '') return fallback || `[${kind}]`
    return this.attach({ kind, key, fileName: null, durationMs, downloadable: true })
  }

  private note(tag: string): void {
    // It is logged, and only a name of the platform's own kind may be.
    const name = /^[\w.-]{1,60}$/.test(tag) ? `tag ${tag}` : 'tag of no name'
    if (!this.unknown.includes(name)) this.unknown.push(name)
  }

  /** Mentions and images of a Markdown node, outside its code. */
  private markdown(text: string): string {
    return outsideCode(text, (part) =>
      part
        .replace(
          /<at (?:user_id|id)="?([^">\s]{1,200})"?>([^<]{0,300})<\/at>( ?)/g,
          (_, id: string, name: string, gap: string) => {
            const shown = this.mentions.atMarkup(id, name)
            return shown === '' ? '' : shown + gap
          },
        )
        .replace(/!\[[^\]]{0,300}\]\((img_[\w-]{1,200})\)/g, (_, key: string) => this.file('image', key, null, '')),
    )
  }
}

/** Our own mention leaves one blank at the start or two in the middle. Code is not touched: it has line ends. */
function tidy(line: string): string {
  return line.includes('\n') ? line : line.replace(/^ +(?=\S)/, '')
}

/** Paragraphs that hold nothing, at the start and at the end, are left out. */
function withoutEmptyEnds(lines: readonly string[]): readonly string[] {
  const from = lines.findIndex((line) => line !== '')
  return from === -1 ? [] : lines.slice(from, lines.findLastIndex((line) => line !== '') + 1)
}

function link(text: string, href: string): string {
  if (href === '' || href === text) return text || href
  return text === '' ? href : `[${text}](${href})`
}

/** What an unknown node says in words, wherever it keeps them. */
function words(node: Fields): string {
  const direct = node.string('text') || node.string('content') || node.string('name') || node.string('title')
  if (direct !== '') return direct
  const below = node.object('text')
  return below.string('content') || below.string('text')
}

/** Applies `change` to the parts of a Markdown text that are not fenced code. */
function outsideCode(text: string, change: (part: string) => string): string {
  const out: string[] = []
  let plain: string[] = []
  let fence: string | null = null
  const flush = (): void => {
    if (plain.length > 0) out.push(change(plain.join('\n')))
    plain = []
  }
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? null
    if (fence !== null) {
      out.push(line)
      if (mark !== null && mark[0] === fence[0] && mark.length >= fence.length) fence = null
    } else if (mark !== null) {
      flush()
      fence = mark
      out.push(line)
    } else plain.push(line)
  }
  flush()
  return out.join('\n')
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', nbsp: '\u00a0', '#39': "'", amp: '&' }

/** `un_escape` says that the text was stored with HTML entities. */
function unescape(text: string): string {
  return text.replace(/&(lt|gt|quot|nbsp|#39|amp);/g, (whole, name: string) => entities[name] ?? whole)
}
