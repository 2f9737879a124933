/**
 * Where a text may be cut without breaking a character a person sees (a flag, an emoji family, a letter with marks).
 * Only the neighbourhood of the cut is segmented: segmenting a whole answer for each cut would cost more than rendering it.
 */

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** No single sign is longer; it shows whether one goes on after the limit. In UTF-16 units. */
const LOOK_AHEAD = 64

/** Before one of these a grapheme always ends, whatever came before (bar a rare prepended mark, which starts one itself). */
function startsGrapheme(unit: number): boolean {
  return unit === 0x0a || (unit >= 0x20 && unit < 0x7f) || (unit >= 0x4e00 && unit <= 0x9fff)
}

/**
 * The last place at or before `limit` where `text` may be cut.
 * @returns 0 when the first grapheme is longer than `limit`; the caller then decides.
 */
export function cutAtOrBefore(text: string, limit: number): number {
  if (limit >= text.length) return text.length
  if (limit <= 0) return 0
  let from = limit
  // A row of flags has to be counted from its start: nothing inside it says which halves belong together.
  while (from > 0 && !startsGrapheme(text.charCodeAt(from))) from--
  if (from === limit && startsGrapheme(text.charCodeAt(limit))) {
    // A carriage return and its newline are one grapheme, and so is a letter after a prepended mark.
    if (limit > 1 && startsGrapheme(text.charCodeAt(limit - 1))) return limit
    from--
    while (from > 0 && !startsGrapheme(text.charCodeAt(from))) from--
  }
  let cut = from
  for (const segment of segmenter.segment(text.slice(from, limit + LOOK_AHEAD))) {
    const at = from + segment.index
    if (at > limit) break
    cut = at
  }
  return cut
}

/** The end of the first code point: the cut of last resort, for one grapheme larger than a whole message. */
export function firstCodePoint(text: string): number {
  return (text.codePointAt(0) ?? 0) > 0xffff ? 2 : Math.min(1, text.length)
}
