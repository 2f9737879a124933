import type { Language } from '../../collab/delivery.js'
import { defuseTextTags } from '../defuse.js'
import { cutAtOrBefore } from '../grapheme.js'
import { wireBytes } from '../wire.js'

/** One line is cut after so many UTF-16 units, and the cut is seen. */
export const LINE_MAX_LENGTH = 4_000

/** Enough of somebody's words to know them by. */
const BEGINNING_LENGTH = 60

/** The first words of a message, on one line. */
export function beginning(words: string): string {
  const line = words.trim().split(/\s+/u).join(' ')
  return line.length <= BEGINNING_LENGTH ? line : `${line.slice(0, cutAtOrBefore(line, BEGINNING_LENGTH)).trimEnd()}…`
}

/** What stands for the lines that find no place. */
export type Rest = (count: number) => string

export const moreOperations: Readonly<Record<Language, Rest>> = {
  en: (count) =>
    count === 1
      ? '1 more operation was not done either; the page of this request says whose refusal it was.'
      : `${count} more operations were not done either; the page of this request says whose refusals they were.`,
  zh: (count) => `另有 ${count} 项操作也没有执行，请求的页面上写明了各由谁拒绝。`,
}

export const moreFiles: Readonly<Record<Language, Rest>> = {
  en: (count) =>
    count === 1
      ? '1 more file was not sent. It is kept on the page of this request.'
      : `${count} more files were not sent. They are kept on the page of this request.`,
  zh: (count) => `另有 ${count} 个文件没有发送，它们保存在这个请求的页面上。`,
}

/**
 * As many lines, in order, as a text message has room for; the others are counted in a line of their own, so that
 * nothing goes unsaid.
 *
 * @param budget bytes of the request body
 */
export function limited(lines: readonly string[], budget: number, rest: Rest): readonly string[] {
  const shown: string[] = []
  let used = 0
  for (const line of lines) {
    const cut = line.length <= LINE_MAX_LENGTH ? line : `${line.slice(0, cutAtOrBefore(line, LINE_MAX_LENGTH))}…`
    used += wireBytes(defuseTextTags(cut)) + wireBytes('\n')
    if (used > budget) break
    shown.push(cut)
  }
  const left = lines.length - shown.length
  return left === 0 ? shown : [...shown, rest(left)]
}
