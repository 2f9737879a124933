/**
 * The raw bytes of a request, or null when they are more than `limit`. It stops reading at the limit, so a sender
 * cannot make us hold more than that.
 */
export async function readBody(request: Request, limit: number): Promise<Uint8Array | null> {
  const length = request.headers.get('content-length')
  if (length !== null && Number(length) > limit) {
    await request.body?.cancel().catch(() => undefined)
    return null
  }
  // The server reads no more than was declared, so a whole read is safe, and far cheaper than a stream.
  if (length !== null && /^\d+$/.test(length) && request.headers.get('transfer-encoding') === null) {
    const whole = new Uint8Array(await request.arrayBuffer())
    return whole.byteLength > limit ? null : whole
  }
  if (request.body === null) return new Uint8Array()
  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks, size)
    size += value.byteLength
    if (size > limit) {
      await reader.cancel().catch(() => undefined)
      return null
    }
    chunks.push(value)
  }
}
