import type { WorkOutcome } from '../../collab/ports.js'

/**
 * What a failed statement means for its command: no connection was had (nothing happened), or it was lost on the way
 * (it may have happened; the same operation again tells). Null: a bug, to be thrown.
 */
export function outcomeOfLoss(error: unknown): Extract<WorkOutcome, { outcome: 'unavailable' | 'ambiguous' }> | null {
  for (let current = error, depth = 0; current instanceof Error && depth < 4; current = current.cause, depth++) {
    const code = (current as { code?: unknown }).code
    if (typeof code !== 'string') continue
    if (/^(CONNECT_TIMEOUT|ECONNREFUSED|ENOTFOUND|57P03|53300)$/.test(code))
      return { outcome: 'unavailable', because: 'the database cannot be reached' }
    if (/^(CONNECTION_|ECONN|EPIPE|ETIMEDOUT|08|57P0)/.test(code))
      return { outcome: 'ambiguous', because: 'the connection was lost; the same operation again tells' }
  }
  return null
}
