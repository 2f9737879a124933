import type { Readable } from 'node:stream'

/** Bytes of one line. Answers are bounded far below; what is longer is no message that a turn needs. */
export const LONGEST_LINE = 8 * 1024 * 1024
/** Bytes of a line that was too long, from its beginning: enough to see what it was. */
const HEAD = 400

export interface LineReader {
  readonly line: (text: string) => void
  /** A line over the limit; it was not kept. */
  readonly tooLong: (head: string) => void
}

/** Reads a pipe line by line, in bounded memory: the rest of a line that is too long is dropped as it comes. */
export function readLines(output: Readable, reader: LineReader, longest = LONGEST_LINE): void {
  let pieces: Buffer[] = []
  let size = 0
  const take = (piece: Buffer): void => {
    size += piece.length
    if (size <= longest) pieces.push(piece)
    else if (pieces.length > 1 || (pieces[0]?.length ?? 0) > HEAD) pieces = [Buffer.concat(pieces).subarray(0, HEAD)]
  }
  const end = (): void => {
    const whole = Buffer.concat(pieces)
    const [long, empty] = [size > longest, size === 0]
    pieces = []
    size = 0
    if (long) reader.tooLong(whole.subarray(0, HEAD).toString('utf8'))
    else if (!empty) {
      const text = whole.toString('utf8').trim()
      if (text !== '') reader.line(text)
    }
  }
  output.on('data', (chunk: Buffer) => {
    let start = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, start)) {
      take(chunk.subarray(start, at))
      end()
      start = at + 1
    }
    take(chunk.subarray(start))
  })
  output.once('end', end)
}
