/** The image formats the platform takes, by their first bytes. Source: image/create. */
export function sniffImage(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.subarray(0, 16))
  const hex = head.toString('hex')
  const text = head.toString('latin1')
  if (hex.startsWith('ffd8ff')) return 'jpeg'
  if (hex.startsWith('89504e470d0a1a0a')) return 'png'
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'gif'
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'webp'
  if (text.startsWith('BM')) return 'bmp'
  if (hex.startsWith('00000100')) return 'x-icon'
  if (hex.startsWith('49492a00') || hex.startsWith('4d4d002a')) return 'tiff'
  if (text.slice(4, 8) === 'ftyp' && /^(heic|heix|mif1|msf1)/.test(text.slice(8, 12))) return 'heic'
  return null
}

/** Most pixels of one side. Source: image/create. */
const mostPixels = { gif: 2_000, other: 12_000 } as const

/** True when a side is longer than allowed. Only PNG and GIF say their size in a fixed place; others pass. */
export function isTooWide(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, 24))
  const format = sniffImage(bytes)
  if (format === 'png' && head.length >= 24)
    return Math.max(head.readUInt32BE(16), head.readUInt32BE(20)) > mostPixels.other
  if (format === 'gif' && head.length >= 10)
    return Math.max(head.readUInt16LE(6), head.readUInt16LE(8)) > mostPixels.gif
  return false
}
