import { z } from '@hono/zod-openapi'

const instant = z.int().openapi({ description: 'Milliseconds since the epoch, UTC' })

/** A runtime session of one agent in one conversation. */
export const Session = z
  .strictObject({
    id: z.string(),
    agent: z.string().nullable(),
    conversation: z.string().nullable(),
    runtime: z.string(),
    session: z.string().openapi({ description: 'As the runtime names it; it opens nothing' }),
    effective: z.looseObject({}).openapi({ description: 'What the runtime said is in force; null where it does not' }),
    boundAt: instant,
    endedAt: instant.nullable(),
    because: z.string().nullable(),
    epoch: z.int().nullable().openapi({ description: 'Of the newest executor; tool calls of older ones are refused' }),
    turns: z.int(),
    running: z.string().nullable().openapi({ description: 'The turn that runs in it now' }),
  })
  .openapi('Session')

export const SessionPage = z
  .strictObject({ items: z.array(Session), nextCursor: z.string().nullable() })
  .openapi('SessionPage')

export const SessionQuery = z.object({
  live: z.enum(['true', 'false']).default('false').openapi({ description: 'Only those that would go on' }),
  cursor: z.string().max(300).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
})

export const SessionReceipt = z
  .strictObject({ outcome: z.enum(['accepted', 'already-applied']) })
  .openapi('SessionReceipt')
