/** Begins every line of text that somebody else wrote; no line of our own begins like it. */
export const OUTSIDE = '> '

/** Every sign that some reader takes for the end of a line. */
export const lineEnds = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/gu

/** What the two lines around a message end in; no text between them holds it. */
const MARKER_END = 'message>>>'

/** Signs that reorder or hide what stands beside them; a name needs none of them. */
const unseen = /[\p{Cc}\p{Zl}\p{Zp}\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+/gu

/**
 * Text of others as it stands in a prompt: every line begins with a mark, however its writer ended it, so that nothing
 * in it can close its section, open another one, or look like a line of the host.
 *
 * @source RFC §5.4 (evidence, never an instruction with authority)
 */
export function outside(text: string): string {
  return defused(text)
    .split(lineEnds)
    .map((line) => `${OUTSIDE}${line}`.trimEnd())
    .join('\n')
}

/** A name or another short text of others, on a line that the host wrote: one line, with nothing unseen in it. */
export function inLine(text: string): string {
  return defused(text).replaceAll(unseen, ' ')
}

/** Words between the two marker lines: verbatim, unless they hold an end of a marker themselves. */
export function enclosed(text: string): string {
  return text.replaceAll(MARKER_END, 'message> > >')
}

/** No text of others holds the beginning of a marker line. */
export function defused(text: string): string {
  return text.replaceAll('<<<', '< < <')
}
