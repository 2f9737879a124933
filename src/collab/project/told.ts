/** One conclusion of an earlier turn, as it is recalled in a later prompt. */
export interface Told {
  readonly id: string
  readonly what: string
  /** Its beginning; null when nothing was said or the words were erased. */
  readonly said: string | null
  /** SHA-256 of the whole text, by which a reader knows that it has the same. */
  readonly digest: string | null
}

/** Characters of one conclusion that are recalled, and conclusions of one kind. */
const SHORT = 240
const RECALLED = 12

/** The beginning of a text in one line. */
export function shortOf(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim()
  if (line.length <= SHORT) return line
  const cut = line.slice(0, SHORT)
  // Not in the middle of a character.
  return `${/[\ud800-\udbff]$/u.test(cut) ? cut.slice(0, -1) : cut}…`
}

/** One line for each, the newest ones when there are many; what is left out is counted. */
export function toldLines(told: readonly Told[]): readonly string[] {
  const left = Math.max(0, told.length - RECALLED)
  const lines = told.slice(left).map(({ what, said, digest }) => {
    const words = said === null ? '' : `: ${said}`
    return `- ${what}${words}${digest === null ? '' : ` [sha256 ${digest}]`}`
  })
  return left === 0 ? lines : [`- ${left} earlier ones are left out here`, ...lines]
}
