/** Bytes that a name may take; most file systems stop at 255. */
const LONGEST = 200

/**
 * A name that can stand in a folder: non-ASCII letters stay, path separators and control, format and bidirectional
 * characters go, and it is never empty, hidden, `.` or `..`.
 */
export function safeFileName(name: string): string {
  const base = name.split(/[/\\]/u).at(-1) ?? ''
  const plain = base
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}<>:"|?*]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/^\.+/u, '')
    .replace(/[. ]+$/u, '')
  return plain === '' ? 'file' : shortened(plain)
}

/** The name with a counter before its extension: `report (2).pdf`. */
export function numbered(name: string, count: number): string {
  if (count === 1) return name
  const { stem, extension } = split(name)
  return `${stem} (${count})${extension}`
}

function shortened(name: string): string {
  const { stem, extension } = split(name)
  const room = LONGEST - Buffer.byteLength(extension)
  let kept = ''
  for (const character of stem) {
    if (Buffer.byteLength(kept + character) > room) break
    kept += character
  }
  return kept + extension
}

function split(name: string): { readonly stem: string; readonly extension: string } {
  const found = /^(.+?)(\.[^.\s]{1,16})$/u.exec(name)
  return { stem: found?.[1] ?? name, extension: found?.[2] ?? '' }
}
