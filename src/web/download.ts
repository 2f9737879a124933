/** Bytes as a download: never shown in place, whatever they claim to be. */
export function attachment(
  bytes: AsyncIterable<Uint8Array>,
  file: { readonly fileName: string; readonly size: number },
): Response {
  const iterator = bytes[Symbol.asyncIterator]()
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next()
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
  return new Response(stream, {
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': dispositionOf(file.fileName),
      'content-length': String(file.size),
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, no-store',
    },
  })
}

/** RFC 6266: a plain name for old clients, the real one for the rest. */
export function dispositionOf(fileName: string): string {
  const plain = fileName.replaceAll(/[^\x20-\x7e]|["\\%/]/g, '_')
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(fileName).replaceAll(/['()*]/g, hex)}`
}

const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
