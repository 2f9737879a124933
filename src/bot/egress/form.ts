import type { ApiForm } from '../lark-api.js'

export interface FormFile {
  readonly field: string
  readonly fileName: string
  /** SHA-256 of the bytes. */
  readonly digest: string
  /** Bytes, exactly: the length of the form is told before they are read. */
  readonly size: number
  /** Read anew for each call. */
  readonly bytes: AsyncIterable<Uint8Array>
}

/**
 * A form with one file, streamed: nothing of it is held but the piece that is on its way, and its length is known
 * beforehand, because a form without one is not documented (Lark: file/create, image/create).
 */
export function formOf(fields: Readonly<Record<string, string>>, file: FormFile): ApiForm {
  // No bytes hold the digest of themselves, so this never stands in the file.
  const boundary = `lark-manager-${file.digest}`
  const part = (head: string): string => `--${boundary}\r\ncontent-disposition: form-data; name="${head}\r\n\r\n`
  const before = Buffer.from(
    [
      ...Object.entries(fields).map(([name, value]) => `${part(`${name}"`)}${value}\r\n`),
      part(`${file.field}"; filename="${quoted(file.fileName)}"\r\ncontent-type: application/octet-stream`),
    ].join(''),
  )
  const after = Buffer.from(`\r\n--${boundary}--\r\n`)
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield before
    yield* file.bytes
    yield after
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: before.length + file.size + after.length,
    body: () => ReadableStream.from(pieces()),
  }
}

/** A name between quotes, as browsers write it. */
function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
