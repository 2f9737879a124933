import { type Readable, Transform } from 'node:stream'
import type { Trouble } from '../trouble.js'

/** Bytes of one line; the largest file in base64 fits. */
const LONGEST_LINE = 48 * 1024 * 1024
/** Lines of another kind that may come before the first message: banners and warnings. */
const TOLERATED = 50

const garbage: Trouble = { because: 'garbage', detail: 'the agent wrote lines that are not its protocol' }
const tooLarge: Trouble = { because: 'too-large', detail: 'the agent wrote a message that is over the limit' }

/**
 * The output of the program, passed on as it is while every line begins like a JSON object. The SDK itself skips what
 * it cannot read, so without this look a program that writes something else would only seem to be silent.
 *
 * @param onTrouble called once; nothing is passed on after it
 */
export function watchedLines(output: Readable, onTrouble: (trouble: Trouble) => void): Readable {
  let strays = 0
  let spoken = false
  let length = 0
  let first: number | null = null
  let broken = false
  const fail = (trouble: Trouble): void => {
    broken = true
    onTrouble(trouble)
  }
  /** Called at the end of each line with its first character that is no blank. */
  const lineEnded = (): void => {
    if (first === BRACE) spoken = true
    else if (first !== null && (spoken || ++strays > TOLERATED)) fail(garbage)
    first = null
    length = 0
  }
  const watch = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let start = 0; start < chunk.length && !broken;) {
        const end = chunk.indexOf(NEWLINE, start)
        const stop = end === -1 ? chunk.length : end
        for (let at = start; first === null && at < stop; at++) {
          const character = chunk[at]
          if (character !== undefined && character > SPACE) first = character
        }
        length += stop - start
        if (length > LONGEST_LINE) fail(tooLarge)
        else if (end !== -1) lineEnded()
        start = stop + 1
      }
      if (broken) done()
      else done(null, chunk)
    },
  })
  output.on('error', () => watch.end())
  return output.pipe(watch)
}

const NEWLINE = 10
const SPACE = 32
const BRACE = 123
