import type { MarkdownIt as Parser } from 'markdown-it'
import type { Mark, Run } from './leaf.js'

/**
 * Emphasis as people and models mean it. By the letter of CommonMark the second stars of `**注意：**请` close nothing,
 * and the bold runs on from there to the next stars; people and models write it all the time and mean bold.
 */
export function readCjkEmphasis(parser: Parser): void {
  const Base = parser.inline.State
  parser.inline.State = class extends Base {
    override scanDelims(start: number, canSplitWord: boolean): ReturnType<InstanceType<typeof Base>['scanDelims']> {
      const scanned = super.scanDelims(start, canSplitWord)
      // "_" never opens inside a word; only "*" and "~" are written without spaces around them.
      if (!canSplitWord) return scanned
      // "2*3*4" multiplies; the signs must not vanish from a number.
      if (scanned.length === 1 && isDigit(this.src.charAt(start - 1)) && isDigit(this.src.charAt(start + 1))) {
        return { ...scanned, can_open: false, can_close: false }
      }
      const before = lastChar(this.src.slice(Math.max(0, start - 2), start))
      const after = firstChar(this.src.slice(start + scanned.length, start + scanned.length + 2))
      if (!isCjk(before) && !isCjk(after)) return scanned
      return {
        ...scanned,
        can_open: scanned.can_open || flanks(after, before),
        can_close: scanned.can_close || flanks(before, after),
      }
    }
  }
}

/** Does a run of stars belong to `inner`, given what is on its other side? CJK punctuation counts as a letter. */
function flanks(inner: string, outer: string): boolean {
  if (isBlank(inner)) return false
  return !isPunctuation(inner) || isCjk(inner) || isBlank(outer) || isPunctuation(outer) || isCjk(outer)
}

/**
 * Writes emphasis so that a strict reader sees it too: punctuation at its edge moves outside where the stars would
 * otherwise be shown (`**注意**：请`). The words and their order stay.
 */
export function settleEmphasis(runs: readonly Run[]): readonly Run[] {
  if (!runs.some((run) => run.marks.length > 0)) return runs
  return settleStarts(settleEnds(runs))
}

function settleEnds(runs: readonly Run[]): Run[] {
  const settled: Run[] = []
  for (const run of runs.toReversed()) settled.push(...edge(run, settled.at(-1), 'end'))
  return settled.reverse()
}

function settleStarts(runs: readonly Run[]): Run[] {
  const settled: Run[] = []
  for (const run of runs) settled.push(...edge(run, settled.at(-1), 'start'))
  return settled
}

/** The run, and what had to leave its marks, in the order they are pushed: the part at the edge first. */
function edge(run: Run, neighbour: Run | undefined, side: 'start' | 'end'): readonly Run[] {
  if (neighbour === undefined || neighbour.kind === 'break' || run.kind === 'break') return [run]
  const kept = run.marks.filter((mark) => mark.kind === 'link' || neighbour.marks.includes(mark))
  if (kept.length === run.marks.length) return [run]
  const outer = side === 'end' ? firstChar(written(neighbour)) : lastChar(written(neighbour))
  const text = run.text
  const inner = side === 'end' ? lastChar(written(run)) : firstChar(written(run))
  if (isBlank(outer) || isPunctuation(outer) || !isPunctuation(inner)) return [run]
  // A code span, an entity and a spelled-out address are not taken apart.
  if (run.kind !== 'text' || run.added === true) return [{ ...run, marks: kept }]
  const cut = side === 'end' ? trailing(text) : leading(text)
  const outside = { ...run, text: side === 'end' ? text.slice(cut) : text.slice(0, cut), marks: kept }
  const inside = { ...run, text: side === 'end' ? text.slice(0, cut) : text.slice(cut) }
  return inside.text === '' ? [outside] : [outside, inside]
}

/** What stands next to the stars: a code span ends with its ticks, a link with its bracket. */
function written(run: Run): string {
  if (run.kind === 'code' || run.marks.some((mark: Mark) => mark.kind === 'link' && mark.address !== null)) return '`'
  return run.kind === 'typed' ? run.typed : run.text
}

/** Length of the text before its trailing punctuation. */
function trailing(text: string): number {
  let end = text.length
  while (end > 0 && isPunctuation(lastChar(text.slice(0, end)))) end -= lastChar(text.slice(0, end)).length
  return end
}

/** Length of the leading punctuation. */
function leading(text: string): number {
  let start = 0
  while (start < text.length && isPunctuation(firstChar(text.slice(start, start + 2)))) {
    start += firstChar(text.slice(start, start + 2)).length
  }
  return start
}

function firstChar(text: string): string {
  return text === '' ? '' : String.fromCodePoint(text.codePointAt(0) ?? 0)
}

function lastChar(text: string): string {
  const low = text.charCodeAt(text.length - 1)
  return low >= 0xdc00 && low <= 0xdfff ? text.slice(-2) : text.slice(-1)
}

function isDigit(char: string): boolean {
  return char >= '0' && char <= '9'
}

function isBlank(char: string): boolean {
  return char.trim() === ''
}

const punctuation = /^[\p{P}\p{S}]/u
const cjk =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303f\uff00-\uffef]/u

function isPunctuation(char: string): boolean {
  return punctuation.test(char)
}

function isCjk(char: string): boolean {
  return cjk.test(char)
}
