import type { UploadBody } from './platform.js'

/** These parts are bytes even when they carry no file name, as the SDK sends a Buffer. */
const byteParts = new Set(['image', 'file'])

/**
 * Splits a multipart/form-data body; null when it is none. The web's own parser is not used because it decodes a part
 * without a file name as text, which destroys an uploaded Buffer.
 */
export function readMultipart(body: Uint8Array, contentType: string): UploadBody | null {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1]
  if (boundary === undefined) return null
  const bytes = Buffer.from(body)
  const fields: Record<string, string> = {}
  const files: Record<string, { bytes: Uint8Array; fileName: string }> = {}
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  // The first boundary has no line end in front of it.
  let from = bytes.indexOf(delimiter.subarray(2))
  if (from === -1) return null
  from += delimiter.length - 2
  while (bytes.subarray(from, from + 2).toString('latin1') !== '--') {
    const headEnd = bytes.indexOf('\r\n\r\n', from)
    const end = headEnd === -1 ? -1 : bytes.indexOf(delimiter, headEnd + 2)
    if (headEnd === -1 || end === -1) return null
    const head = bytes.subarray(from, headEnd).toString('utf8')
    const content = bytes.subarray(headEnd + 4, Math.max(end, headEnd + 4))
    const name = /content-disposition:[^\r\n]*[ ;]name="([^"]*)"/i.exec(head)?.[1] ?? ''
    const fileName = /content-disposition:[^\r\n]*filename="([^"]*)"/i.exec(head)?.[1]
    if (byteParts.has(name) || fileName !== undefined)
      files[name] = { bytes: new Uint8Array(content), fileName: fileName ?? '' }
    else fields[name] = content.toString('utf8')
    from = end + delimiter.length
  }
  return { fields, files }
}
