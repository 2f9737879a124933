import type { MarkdownIt as Parser, StateBlock, StateInline } from 'markdown-it'

/** A formula in a line is looked for within so many characters, a displayed one within so many lines. */
const INLINE_REACH = 300
const BLOCK_REACH = 100

/**
 * No message type shows TeX, so a formula is shown as code: its backslashes, stars and underscores are left alone.
 * In a line it keeps its `$…$` or `\(…\)`, so that a price or a variable taken for one loses nothing.
 */
export function readMath(parser: Parser): void {
  parser.inline.ruler.before('escape', 'math', inlineMath)
  parser.block.ruler.before('fence', 'math', blockMath, { alt: ['paragraph', 'reference', 'blockquote', 'list'] })
}

function inlineMath(state: StateInline, silent: boolean): boolean {
  const { src, pos } = state
  const end = src.charAt(pos) === '$' ? dollarsEnd(src, pos, state.posMax) : parenthesesEnd(src, pos, state.posMax)
  if (end < 0) return false
  if (!silent) {
    const token = state.push('code_inline', 'code', 0)
    token.markup = '`'
    token.content = src.slice(pos, end).replaceAll('\n', ' ')
  }
  state.pos = end
  return true
}

/** After `$x^2$`, or -1. Prices and variables of a shell are not formulas: nothing in them would be read as Markdown. */
function dollarsEnd(src: string, start: number, max: number): number {
  const display = src.startsWith('$$', start)
  const width = display ? 2 : 1
  const from = start + width
  if (isWordChar(src.charAt(start - 1)) || src.charAt(start - 1) === '$') return -1
  // `${name}` is a variable.
  if (!display && ['', '{', '('].includes(src.charAt(from).trim())) return -1
  for (let at = from; at < Math.min(max, from + INLINE_REACH); at++) {
    const char = src.charAt(at)
    if (char === '\\') at++
    else if (char === '`') return -1
    else if (char === '$') {
      // The next dollar decides: looking further would make a formula of everything between two prices.
      if (display !== src.startsWith('$$', at)) return -1
      const after = src.charAt(at + width)
      const closes =
        (display || src.charAt(at - 1).trim() !== '') && !isWordChar(after) && !'{(['.includes(after || ' ')
      return closes && isTex(src.slice(from, at)) ? at + width : -1
    }
  }
  return -1
}

/** After `\(x^2\)` or `\[x^2\]` in a line, or -1. */
function parenthesesEnd(src: string, start: number, max: number): number {
  if (src.charAt(start) !== '\\') return -1
  const close = { '(': '\\)', '[': '\\]' }[src.charAt(start + 1)]
  if (close === undefined) return -1
  const at = src.slice(start + 2, Math.min(max, start + 2 + INLINE_REACH)).indexOf(close)
  return at >= 0 && isTex(src.slice(start + 2, start + 2 + at)) ? start + 4 + at : -1
}

/** Only what looks like a formula: an escape of Markdown's own, as in `\(a \* b\)`, does not. */
function isTex(text: string): boolean {
  return text.trim() !== '' && /[\^_{}]|\\[a-zA-Z]/.test(text)
}

function isWordChar(char: string): boolean {
  return /^[\p{L}\p{N}]/u.test(char) && !/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(char)
}

const blocks = [
  ['$$', '$$'],
  ['\\[', '\\]'],
] as const

/** `$$ … $$` and `\[ … \]` on lines of their own, without a blank line inside. */
function blockMath(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if ((state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false
  const first = lineOf(state, startLine)
  const [open, close] = blocks.find(([mark]) => first.startsWith(mark)) ?? [null, '']
  if (open === null) return false
  const lines: string[] = []
  for (let line = startLine; line < Math.min(endLine, startLine + BLOCK_REACH); line++) {
    const whole = lineOf(state, line)
    if (whole === '' || (state.sCount[line] ?? 0) < state.blkIndent) return false
    const text = line === startLine ? whole.slice(open.length) : whole
    if (!text.endsWith(close)) {
      // Words after the closing mark: a sentence, not a block.
      if (text.includes(close)) return false
      lines.push(text)
      continue
    }
    const last = text.slice(0, text.length - close.length)
    if (last.includes(close)) return false
    lines.push(last)
    const content = lines.join('\n').trim()
    if (content === '' || (line === startLine && !isTex(content))) return false
    if (silent) return true
    const token = state.push('fence', 'code', 0)
    token.info = 'latex'
    token.content = `${content}\n`
    token.map = [startLine, line + 1]
    state.line = line + 1
    return true
  }
  return false
}

function lineOf(state: StateBlock, line: number): string {
  return state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]).trimEnd()
}
