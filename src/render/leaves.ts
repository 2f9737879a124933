import MarkdownIt, { type MarkdownIt as Parser, type Token } from 'markdown-it'
import { clean, directed } from './clean.js'
import { readCjkEmphasis } from './emphasis.js'
import { readFootnotes } from './footnotes.js'
import type { Leaf, Mark, Run, TableLeaf, TextLeaf } from './leaf.js'
import { readMath } from './math.js'
import { runsOf } from './runs.js'
import { readTasks, taskOf, type Task } from './task-list.js'

/** Deeper nesting than this is shown as it was typed: the parser would silently leave it out. */
const MAX_NESTING = 60

/**
 * HTML is text. Reference definitions stay visible: a list of sources written as `[1]: https://…` must not vanish.
 * Entities and escapes are kept as typed (without text_join). Every link target is taken; what may be clicked is decided by `webAddress`.
 */
export function parser(): Parser {
  const markdown = new MarkdownIt('default', {
    html: false,
    linkify: false,
    typographer: false,
    maxNesting: MAX_NESTING + 10,
  })
  markdown.disable(['text_join', 'reference'])
  readCjkEmphasis(markdown)
  readMath(markdown)
  readFootnotes(markdown)
  readTasks(markdown)
  markdown.validateLink = () => true
  markdown.normalizeLink = (target) => target
  return markdown
}

const shared = parser()

/** Takes an answer apart, in reading order; nothing of it is left out. */
export function leavesOf(answer: string): Leaf[] {
  const source = clean(answer)
  const tokens = shared.parse(source, {})
  if (tokens.some((token) => token.level >= MAX_NESTING)) return [{ kind: 'code', language: '', text: source }]
  return new Flattener(tokens).leaves
}

interface OpenItem {
  readonly marker: string | null
  readonly task: Task | undefined
  first: boolean
}

class Flattener {
  readonly leaves: Leaf[] = []
  private readonly lists: { ordered: boolean }[] = []
  private readonly items: OpenItem[] = []
  /** For each quote around us, how many items were open when it began: they are outside of it. */
  private readonly quotes: number[] = []
  private afterTight = false

  constructor(tokens: readonly Token[]) {
    for (let at = 0; at < tokens.length; at++) at = this.take(tokens, at)
  }

  /** @returns the index of the last token used. */
  private take(tokens: readonly Token[], at: number): number {
    const token = tokens[at] as Token
    switch (token.type) {
      case 'bullet_list_open':
      case 'ordered_list_open':
        this.nameItem()
        if (this.lists.length === 0) this.afterTight = false
        this.lists.push({ ordered: token.type === 'ordered_list_open' })
        return at
      case 'bullet_list_close':
      case 'ordered_list_close':
        this.lists.pop()
        return at
      case 'list_item_open':
        this.items.push({
          marker: this.lists.at(-1)?.ordered === true ? `${token.info}.` : '-',
          task: taskOf(token),
          first: true,
        })
        return at
      case 'list_item_close':
        this.nameItem()
        this.items.pop()
        return at
      case 'blockquote_open':
        this.nameItem()
        this.quotes.push(this.items.length)
        return at
      case 'blockquote_close':
        this.quotes.pop()
        return at
      case 'paragraph_open':
      case 'heading_open':
        this.text(token, tokens[at + 1])
        return at + 2
      case 'fence':
      case 'code_block':
        this.nameItem()
        this.leaves.push({
          kind: 'code',
          language: languageOf(token.info),
          text: directed(withoutLastNewline(token.content)),
        })
        return at
      case 'hr':
        this.nameItem()
        this.leaves.push({ kind: 'rule' })
        return at
      case 'table_open':
        this.nameItem()
        return this.table(tokens, at)
      default:
        if (token.content !== '') this.pushText([{ kind: 'text', text: token.content, marks: [] }], {})
        return at
    }
  }

  private text(open: Token, inline: Token | undefined): void {
    const level = open.type === 'heading_open' ? Number(open.tag.slice(1)) : 0
    const nested = this.items.length > 0 || this.quotes.length > 0
    // Inside a list or a quote a heading is only bold: no client agrees on anything else.
    const marks: readonly Mark[] = level > 0 && nested ? [{ kind: 'strong', markup: '**' }] : []
    this.pushText(runsOf(inline?.children ?? [], marks), { hidden: open.hidden, heading: nested ? 0 : level })
  }

  private pushText(runs: readonly Run[], of: { hidden?: boolean; heading?: number }): void {
    const item = this.item()
    const leaf: TextLeaf = {
      kind: 'text',
      runs,
      quote: this.quotes.length,
      tight: item !== undefined && of.hidden === true && this.afterTight,
      ...(of.heading === undefined || of.heading === 0 ? {} : { heading: of.heading }),
      ...(item === undefined ? {} : { list: this.placeIn(item) }),
    }
    this.leaves.push(leaf)
    this.afterTight = item !== undefined && of.hidden === true
    if (item !== undefined) item.first = false
  }

  /**
   * The item that a block is written in. A quote inside an item leaves it, as code and tables do: behind the sign of a
   * quote the indent of the item would make code of its words.
   */
  private item(): OpenItem | undefined {
    return this.items.length > (this.quotes.at(-1) ?? 0) ? this.items.at(-1) : undefined
  }

  private placeIn(item: OpenItem): NonNullable<TextLeaf['list']> {
    const depth = this.items.length - (this.quotes.at(-1) ?? 0) - 1
    if (!item.first) return { depth, marker: null }
    return { depth, marker: item.marker, ...(item.task === undefined ? {} : { task: item.task }) }
  }

  /** An item that begins with a block of another kind still shows its own marker, so that numbers are not lost. */
  private nameItem(): void {
    const item = this.item()
    if (item?.first === true) this.pushText([], { hidden: true })
  }

  private table(tokens: readonly Token[], open: number): number {
    const align: TableLeaf['align'][number][] = []
    const rows: Run[][][] = []
    let at = open + 1
    for (; tokens[at]?.type !== 'table_close'; at++) {
      const token = tokens[at] as Token
      if (token.type === 'tr_open') rows.push([])
      else if (token.type === 'th_open') align.push(alignmentOf(token))
      else if (token.type === 'inline') rows.at(-1)?.push(runsOf(token.children ?? []))
    }
    this.leaves.push({ kind: 'table', align, header: rows[0] ?? [], rows: rows.slice(1) })
    return at
  }
}

function alignmentOf(token: Token): TableLeaf['align'][number] {
  const style = String(token.attrs?.find(([name]) => name === 'style')?.[1] ?? '')
  if (style.endsWith('left')) return 'left'
  if (style.endsWith('center')) return 'center'
  return style.endsWith('right') ? 'right' : null
}

/** The first word after the fence, as far as it cannot break the fence. */
function languageOf(info: string): string {
  const word = info.trim().split(' ', 1)[0] ?? ''
  return [...word]
    .filter((char) => !'`<>"\\'.includes(char) && char > ' ')
    .join('')
    .slice(0, 40)
}

function withoutLastNewline(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text
}
