const unfit = /(?![\t\n])\p{Cc}|[\u202d\u202e\ud800-\udfff]/u
const unfitEach = new RegExp(unfit, 'gu')

/**
 * An answer as it may stand in a message: every line ends in a newline, what no client can show is seen as a sign of
 * its own (NUL as `␀`, ESC as `␛`), half a surrogate pair as U+FFFD, an override of the reading direction by its name.
 * Marks that a right-to-left text needs (isolates, embeddings, single marks) end with their paragraph and stay.
 */
export function clean(text: string): string {
  const source = text.startsWith('\ufeff') ? text.slice(1) : text
  return unfit.test(source) ? source.replace(/\r\n?/g, '\n').replace(unfitEach, shown) : source
}

function shown(char: string): string {
  const code = char.charCodeAt(0)
  // U+2400 and the signs after it picture the control characters.
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '\u2421' : code < 0xa0 || code >= 0xd800 ? '\ufffd' : directed(char)
}

/** Code as it reads: there, no mark of direction has a use but to make it look like other code. */
export function directed(code: string): string {
  return code.replace(/[\u202a-\u202e\u2066-\u2069]/g, (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`)
}
