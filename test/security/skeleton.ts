import { MESSAGE_CLOSE, MESSAGE_OPEN } from '../../src/collab/project/prompt.js'
import { OUTSIDE } from '../../src/collab/project/outside.js'

const open = new Set([MESSAGE_OPEN, MESSAGE_OPEN.replace('<<<', '< < <')])
const close = new Set([MESSAGE_CLOSE, MESSAGE_CLOSE.replace('<<<', '< < <')])

export interface Read {
  /** The lines that only the host writes, with every entry of a list cut to its first sign. */
  readonly host: readonly string[]
  /** What stands between marker lines: words of whoever the line before names. */
  readonly messages: readonly string[]
  /** Text of others, without its marks. */
  readonly outside: string
}

/** A line that ends in the titles of what was changed. */
const CHANGED = 'It changed: '

/** Every end of a line that some reader knows. */
const ends = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/u

/**
 * Reads a prompt or a brief as strictly as a reader can: by its lines alone. A prompt whose `host` differs from that of
 * the same prompt about harmless text was broken out of.
 */
export function readPrompt(prompt: string): Read {
  const host: string[] = []
  const messages: string[] = []
  const others: string[] = []
  let message: string[] | null = null
  for (const line of prompt.split(ends)) {
    if (message !== null) {
      if (!close.has(line)) message.push(line)
      else {
        messages.push(message.join('\n'))
        message = null
      }
    } else if (open.has(line)) message = []
    else if (line.startsWith(OUTSIDE.trimEnd())) others.push(line.slice(OUTSIDE.length))
    // The entry of a list: what stands on its one line, or indented below, ends nothing.
    else if (line.startsWith('- ') || line.startsWith('  ')) host.push(line.slice(0, 1))
    else host.push(line.startsWith(CHANGED) ? CHANGED : line)
  }
  return { host, messages, outside: others.join('\n') }
}
