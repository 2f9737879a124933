import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { EventId, Revision } from '../../collab/refs.js'
import { uuidFrom } from '../../lib/digest.js'
import { problem } from '../problem.js'

export const IfMatch = z.object({
  'If-Match': z.string().openapi({ description: 'The revision that was seen, quoted', example: '"3"' }),
  'Idempotency-Key': z.string().min(1).max(200),
})

/** The revision that a caller saw, or the answer that says what is wrong with it. */
export function revisionOf(c: Context): Revision | Response {
  const header = c.req.header('if-match')
  if (header === undefined) return problem(c, 'if-match-missing')
  const revision = /^\s*(?:"(\d{1,9})"|(\d{1,9}))\s*$/.exec(header)
  const digits = revision?.[1] ?? revision?.[2]
  return digits === undefined ? problem(c, 'if-match-malformed') : (Number(digits) as Revision)
}

/** The identity of a command, from the caller's key: the same key on the same subject is the same command. */
export function eventIdOf(c: Context, subject: string): EventId | Response {
  const key = c.req.header('idempotency-key')
  if (key === undefined || key === '') return problem(c, 'idempotency-key-missing')
  if (!/^[\x21-\x7e]{1,200}$/.test(key)) return problem(c, 'idempotency-key-malformed')
  return eventIdFrom(key, subject)
}

export function eventIdFrom(key: string, subject: string): EventId {
  return uuidFrom('http', subject, key) as EventId
}
