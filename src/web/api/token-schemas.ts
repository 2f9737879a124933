import { z } from '@hono/zod-openapi'

export const IssueToken = z
  .strictObject({
    session: z
      .string()
      .regex(/^[\w.-]{1,64}$/)
      .default('default')
      .openapi({ description: 'Each session of an agent has one token' }),
  })
  .openapi('IssueToken')

export const IssuedToken = z
  .object({
    agent: z.string(),
    session: z.string(),
    epoch: z.int(),
    token: z.string().openapi({ description: 'Shown this once; only its digest is kept' }),
    url: z.string().openapi({ description: 'Where the tools are' }),
  })
  .openapi('IssuedToken')
