import { unreachable } from '../lib/assert.js'
import { MENTION } from './address.js'
import { defuseMentions } from './defuse.js'
import { settleEmphasis } from './emphasis.js'
import type { Mark, Run } from './leaf.js'

/**
 * How runs are written.
 * `card`: the Markdown of a Lark card; literal `*`, `~` and tags become entities, as its manual asks.
 * `source`: Markdown that parses back into the same runs; kept with each part so that it can be rendered again.
 */
export type Dialect = 'card' | 'source'

/** Writes the runs of one paragraph, heading or cell. Never starts a list, a heading or a table by accident. */
export function writeRuns(runs: readonly Run[], dialect: Dialect): string {
  const writer = new Writer(dialect)
  for (const run of dialect === 'card' ? settleEmphasis(runs) : runs) {
    if (run.kind === 'text' && run.added === true && dialect === 'source') continue
    writer.run(run)
  }
  return writer.finish()
}

class Writer {
  /** Pieces, not one string: a link looks back at what was written last, and must not read the whole of it. */
  private readonly out: string[] = []
  private open: Mark[] = []
  private lineStart = true

  constructor(private readonly dialect: Dialect) {}

  run(run: Run): void {
    this.moveTo(run.marks)
    switch (run.kind) {
      case 'text':
        this.add(this.text(run.text))
        return
      case 'typed':
        // Whether the platform reads a backslash before its own tags is not documented.
        this.add(this.dialect === 'card' && run.typed === '\\<' ? '&#60;' : run.typed)
        return
      case 'code':
        // Ticks that touch would be read as one longer fence.
        if (this.out.at(-1)?.endsWith('`') === true) this.add(' ')
        this.add(codeSpan(this.dialect === 'card' ? defuseMentions(run.text) : run.text))
        return
      case 'person':
        this.add(this.dialect === 'card' ? personTag(run.id) : `[${run.text}](${MENTION}${run.id})`)
        return
      case 'break':
        // Two spaces make it a line break that every reader of CommonMark shows; a lone newline may be swallowed.
        this.out.push(this.dialect === 'card' ? '  \n' : '\n')
        this.lineStart = true
        return
      default:
        unreachable(run)
    }
  }

  finish(): string {
    this.moveTo([])
    return this.out.join('')
  }

  private add(text: string): void {
    if (text === '') return
    this.out.push(text)
    this.lineStart = false
  }

  private text(text: string): string {
    const escaped = this.dialect === 'card' ? escapeForCard(text) : escapeForSource(text)
    const inLink = this.open.some((mark) => mark.kind === 'link')
    const bracketed = inLink ? this.escapeBrackets(escaped) : escaped
    const ended = bracketed.endsWith('\\')
      ? bracketed.slice(0, -1) + (this.dialect === 'card' ? '&#92;' : '\\\\')
      : bracketed
    return this.lineStart ? guardLineStart(ended, this.dialect) : ended
  }

  private escapeBrackets(text: string): string {
    const [open, close] = this.dialect === 'card' ? ['&#91;', '&#93;'] : ['\\[', '\\]']
    return text.replaceAll('[', open as string).replaceAll(']', close as string)
  }

  private moveTo(marks: readonly Mark[]): void {
    let shared = 0
    while (shared < this.open.length && this.open[shared] === marks[shared]) shared++
    while (this.open.length > shared) this.close(this.open.pop() as Mark)
    for (const mark of marks.slice(shared)) {
      const opening = this.opening(mark)
      if (opening === '[') this.defuseImage()
      if (opening !== '') this.add(opening)
      this.open.push(mark)
    }
  }

  /** "!" followed by a link would read as an image, which takes the whole card down. */
  private defuseImage(): void {
    const last = this.out.at(-1)
    if (last?.endsWith('!') !== true) return
    this.out[this.out.length - 1] = `${last.slice(0, -1)}${this.dialect === 'card' ? '&#33;' : '\\!'}`
  }

  /** White space goes outside: "**bold **" would show its stars. */
  private close(mark: Mark): void {
    const after: string[] = []
    for (let last = this.out.pop(); last !== undefined; last = this.out.pop()) {
      const inner = last.trimEnd()
      after.unshift(last.slice(inner.length))
      if (inner === '') continue
      this.out.push(inner)
      break
    }
    this.out.push(this.closing(mark), ...after)
  }

  private opening(mark: Mark): string {
    if (mark.kind !== 'link') return mark.markup
    if (this.dialect === 'source') return mark.image ? '![' : '['
    return mark.address === null ? '' : '['
  }

  private closing(mark: Mark): string {
    if (mark.kind !== 'link') return mark.markup
    if (this.dialect === 'source') return `](${sourceTarget(mark.target)})`
    return mark.address === null ? '' : `](${mark.address})`
  }
}

/** Calls somebody in a card, who then sees it as a mention. Lark: card JSON 2.0, markdown. */
export function personTag(id: string): string {
  return `<at id=${id}></at>`
}

/** A code span whose ticks are longer than any inside it. */
export function codeSpan(text: string): string {
  const ticks = '`'.repeat(longestRun(text, '`') + 1)
  const padded =
    text.startsWith('`') || text.endsWith('`') || (text.startsWith(' ') && text.endsWith(' ') && text.trim() !== '')
  return padded ? `${ticks} ${text} ${ticks}` : `${ticks}${text}${ticks}`
}

/** The longest run of one character in a text. */
export function longestRun(text: string, char: string): number {
  let longest = 0
  let current = 0
  for (const each of text) {
    current = each === char ? current + 1 : 0
    if (current > longest) longest = current
  }
  return longest
}

/** A card shows `:OK:` as a face; here it is what a log or a table says. */
const emojiName = /^:[a-z]\w{0,38}:/i

function escapeForCard(text: string): string {
  let out = ''
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '*') out += '&#42;'
    else if (char === '~') out += '&#126;'
    else if (char === '`') out += '&#96;'
    else if (char === ':' && emojiName.test(text.slice(at, at + 42))) out += '&#58;'
    else if (char === '<' && opensTag(text.charAt(at + 1))) out += '&#60;'
    else out += char
  }
  return out
}

function escapeForSource(text: string): string {
  let out = ''
  for (const char of text) out += '*~`'.includes(char) ? `\\${char}` : char
  return out
}

/** A target as it may stand between the parentheses of a link. */
function sourceTarget(target: string): string {
  const bare = target !== '' && [...target].every((char) => char > ' ' && char < '\u007f' && !'()<>\\;'.includes(char))
  if (bare) return target
  let out = ''
  for (const char of target) out += '<>\\&'.includes(char) ? `\\${char}` : char
  return `<${out}>`
}

/** "a < b" stays as typed; "<at" and "</font" do not open anything. The end of a run counts as a tag: what follows is not known. */
function opensTag(next: string): boolean {
  return (
    next === '' ||
    next === '/' ||
    next === '!' ||
    next === '?' ||
    (next >= 'a' && next <= 'z') ||
    (next >= 'A' && next <= 'Z')
  )
}

/** Text that would begin another kind of block at the start of a line gets its first character written as an entity. */
function guardLineStart(text: string, dialect: Dialect): string {
  const body = text.trimStart()
  const first = body.charAt(0)
  const [head] = body.split('\n', 1)
  const line = head ?? ''
  if (numberedMarker(line) > 0) {
    const at = numberedMarker(line)
    return body.slice(0, at) + escaped(line.charAt(at), dialect) + body.slice(at + 1)
  }
  return startsBlock(first, line) ? escaped(first, dialect) + body.slice(1) : body
}

function startsBlock(first: string, line: string): boolean {
  if (first === '#' || first === '>' || first === '=') return true
  // A reference definition would vanish from the page.
  if (first === '[') return line.includes(']:') || !line.includes(']')
  if (first === '-' || first === '+') return line.length === 1 || ' \t'.includes(line.charAt(1)) || onlyRuleChars(line)
  return '_|:'.includes(first) && first !== '' && onlyRuleChars(line)
}

function onlyRuleChars(line: string): boolean {
  return [...line].every((char) => '-_:|= \t'.includes(char))
}

/** Where the delimiter of "12." or "12)" stands, 0 when the line does not begin with a list number. */
function numberedMarker(line: string): number {
  let at = 0
  while (at < line.length && line.charAt(at) >= '0' && line.charAt(at) <= '9') at++
  if (at === 0 || at > 9 || !'.)'.includes(line.charAt(at)) || at >= line.length) return 0
  const after = line.charAt(at + 1)
  return after === '' || after === ' ' || after === '\t' ? at : 0
}

function escaped(char: string, dialect: Dialect): string {
  return dialect === 'card' ? `&#${char.charCodeAt(0)};` : `\\${char}`
}
