import { isConnectionLost, type SqlLike } from '../db.js'
import { remember, type Remember, type Remembered } from './ingress.js'

/** One statement at a time; the limit only keeps one of them short. */
const MOST_ROWS = 100

interface Waiting {
  readonly one: Remember
  readonly resolve: (stored: Remembered) => void
  readonly reject: (error: unknown) => void
}

interface Line {
  waiting: Waiting[]
  running: boolean
}

const lines = new WeakMap<SqlLike, Line>()

/**
 * Stores one event as `remember` does, together with those that came while the statement before was under way. A lone
 * event waits for nothing; a burst costs one commit for many. Each caller gets its own answer, after the commit.
 *
 * The rows keep the order of the calls.
 *
 * @source P2; RFC §5.6: nothing is acked before it is durable
 */
export function rememberTogether(sql: SqlLike, one: Remember): Promise<Remembered> {
  const line = lines.get(sql) ?? { waiting: [], running: false }
  lines.set(sql, line)
  return new Promise((resolve, reject) => {
    line.waiting.push({ one, resolve, reject })
    if (!line.running) void drain(sql, line)
  })
}

async function drain(sql: SqlLike, line: Line): Promise<void> {
  line.running = true
  // Those of the same turn of the loop go together.
  await Promise.resolve()
  while (line.waiting.length > 0) {
    const batch = nextOf(line)
    try {
      const stored = await remember(
        sql,
        batch.map((waiting) => waiting.one),
      )
      batch.forEach((waiting, nth) => waiting.resolve(stored[nth] as Remembered))
    } catch (error) {
      if (batch.length === 1 || isConnectionLost(error)) for (const waiting of batch) waiting.reject(error)
      else await oneByOne(sql, batch)
    }
  }
  line.running = false
}

/** From the front, without one that is there already: its second sighting is a statement of its own. */
function nextOf(line: Line): readonly Waiting[] {
  const ids = new Set<string>()
  const batch: Waiting[] = []
  for (const waiting of line.waiting) {
    if (batch.length === MOST_ROWS || ids.has(waiting.one.id)) break
    ids.add(waiting.one.id)
    batch.push(waiting)
  }
  line.waiting = line.waiting.slice(batch.length)
  return batch
}

/** Nothing of the batch was stored. One that cannot be stored must not take the others with it. */
async function oneByOne(sql: SqlLike, batch: readonly Waiting[]): Promise<void> {
  for (const waiting of batch) {
    await remember(sql, [waiting.one]).then(
      ([stored]) => waiting.resolve(stored as Remembered),
      (error: unknown) => waiting.reject(error),
    )
  }
}
