import { open, stat } from 'node:fs/promises'
import { fields, text, type Fields } from './read.js'

/** Bytes of one turn that are looked through; what is more than that is not. */
const LONGEST = 32 * 1024 * 1024
const LOOK_MS = 20
/** How long the last line of a turn may take to be written after codex has said that it is over. */
const PATIENCE_MS = 400

/** How much codex has written down of a thread. In bytes; 0 where that cannot be seen. */
export async function writtenSoFar(path: string | null): Promise<number> {
  if (path === null) return 0
  return await stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}

/**
 * What codex wrote down of a thread since then, line by line; empty where that cannot be read. Its history holds the
 * calls of the model with what became of them, which its reports leave out when it refuses a call itself.
 *
 * @source codex app-server: `thread.path`; measured on 0.171, see docs/runtimes.md
 */
export async function writtenSince(path: string | null, from: number): Promise<readonly Fields[]> {
  if (path === null) return []
  for (let waited = 0; ; waited += LOOK_MS) {
    const lines = await readFrom(path, from)
    if (lines.some(isEnd) || waited >= PATIENCE_MS) return lines
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

function isEnd(line: Fields): boolean {
  return /^(?:task_complete|turn_aborted)$/u.test(text(fields(line['payload'])['type']) ?? '')
}

async function readFrom(path: string, from: number): Promise<readonly Fields[]> {
  try {
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      const length = Math.min(Math.max(size - from, 0), LONGEST)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from)
      return buffer.subarray(0, bytesRead).toString('utf8').split('\n').map(parsed)
    } finally {
      await file.close()
    }
  } catch {
    // Gone, or not ours to read: then nothing more is known of the turn than what codex reports.
    return []
  }
}

function parsed(line: string): Fields {
  try {
    return fields(JSON.parse(line))
  } catch {
    return {}
  }
}
