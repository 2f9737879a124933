import type { Context } from 'hono'
import type { z } from '@hono/zod-openapi'
import { placeOf, type Place } from '../../stores/views/cursor.js'
import { problem } from '../problem.js'

/** The query by its schema, or the answer that names the members that are wrong; never their values. */
export function queryOf<T extends z.ZodType>(c: Context, schema: T): z.output<T> | Response {
  const read = schema.safeParse(c.req.query())
  return read.success ? read.data : malformed(c, read.error)
}

/** The JSON body by its schema; an absent body reads as `{}`. */
export async function bodyOf<T extends z.ZodType>(c: Context, schema: T): Promise<z.output<T> | Response> {
  const text = await c.req.text()
  let value: unknown
  try {
    value = text.trim() === '' ? {} : JSON.parse(text)
  } catch {
    return problem(c, 'bad-request', { where: 'body' })
  }
  const read = schema.safeParse(value)
  return read.success ? read.data : malformed(c, read.error)
}

export function placeIn(c: Context, cursor: string | undefined): Place | null | Response {
  if (cursor === undefined) return null
  return placeOf(cursor) ?? problem(c, 'bad-request', { where: 'cursor' })
}

function malformed(c: Context, error: z.ZodError): Response {
  const where = [...new Set(error.issues.map((issue) => String(issue.path[0] ?? 'body')))].join(', ')
  return problem(c, 'bad-request', { where: where.slice(0, 200) })
}
