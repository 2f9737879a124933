import { z } from 'zod'
import type { Deferral, DoubtEnds } from '../collab/observation.js'
import type { AgentId, AskId, EffectId, Instant, RequestId, Revision } from '../collab/refs.js'
import { DAY, SECOND } from '../lib/time.js'

/* The arguments of every tool: once for MCP, HTTP and the command line. Flat, because models fill flat forms best. */

/** Neither a NUL nor half a character: the database keeps neither. */
const storable = (text: string): boolean => !text.includes('\0') && !/\p{Surrogate}/u.test(text)
const notStorable = { error: 'holds a character that cannot be kept (NUL, or half a surrogate pair)' }

export const id = (what: string) =>
  z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, { error: 'is an id: 1 to 200 visible ASCII characters' })
    .describe(what)

const text = (most: number, what: string) =>
  z
    .string()
    .max(most)
    .refine(storable, notStorable)
    .refine((value) => value.trim() !== '', { error: 'needs words' })
    .describe(what)

/** 2³¹ − 1: what the database counts to. */
const whole = (least: number) => z.int().min(least).max(2_147_483_647)

const instant = z
  .union([z.int().min(0).max(8_640_000_000_000_000), z.iso.datetime({ offset: true })])
  .transform((value) => (typeof value === 'number' ? value : Date.parse(value)) as Instant)

export const requestId = id('The request id, as inbox_read or exchange_list shows it').transform(
  (value) => value as RequestId,
)
export const askId = id('An ask id of that request').transform((value) => value as AskId)
export const agentId = id('The id of a registered agent, as discover_agents shows it').transform(
  (value) => value as AgentId,
)
export const effectId = id('The effect id that declare_effect gave').transform((value) => value as EffectId)
export const goal = id('The goal id')

export const onRevision = whole(1)
  .describe('The revision that you saw. If the request has moved on you are told so, and nothing happens')
  .transform((value) => value as Revision)
/** Of a Todo or a Vision: their own counter, not a request's. */
export const workRevision = whole(1).describe('The revision of it that you saw')

/** Every write has one: absent, it follows from the call itself. */
export const key = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, { error: 'is a key: 1 to 200 visible ASCII characters' })
  .optional()
  .describe('Names this command, so that calling again with the same key is the same command, done once')

export const reason = (what: string) => text(4_000, what)
export const body = (what: string) => text(400_000, what)
export const short = (what: string) => text(500, what)
/** Sentences of one kind. */
export const entries = (what: string) => z.array(text(4_000, 'One of them')).max(50).default([]).describe(what)
export const artifactId = id('The artifact id, as a brief or a receipt shows it')
/** Any name is taken; what cannot stand in a folder is taken out of it. */
export const fileName = short('The name of the file, with its extension')
export const artifacts = z
  .array(id('An artifact id'))
  .max(50)
  .default([])
  .describe('Ids of artifacts that belong to it')

export const page = {
  cursor: z.string().max(500).refine(storable, notStorable).optional().describe('nextCursor of the page before'),
  limit: z.int().min(1).max(100).default(20),
}

export const someAsks = z.array(askId).min(1).max(50)

const until = z
  .object({
    owner: short('Who owes it until then, for example your own agent id'),
    recheckAt: instant.describe('When to look again at the latest: ISO 8601 with offset, or milliseconds since 1970'),
    when: z
      .enum(['at', 'request-resolved', 'host-back', 'agent-free', 'answer-from-owner', 'note'])
      .default('at')
      .describe('What makes it due before that time'),
    of: short('The request, host or agent that `when` speaks of, or the words of a note').optional(),
  })
  .transform((said, ctx): Deferral => {
    const { owner, recheckAt, when, of } = said
    if (when === 'at' || when === 'answer-from-owner') return { owner, recheckAt, condition: { when } }
    if (of === undefined) {
      ctx.addIssue({ code: 'custom', path: ['of'], message: `is needed with when: ${when}` })
      return z.NEVER
    }
    switch (when) {
      case 'request-resolved':
        return { owner, recheckAt, condition: { when, request: of as RequestId } }
      case 'host-back':
        return { owner, recheckAt, condition: { when, host: of } }
      case 'agent-free':
        return { owner, recheckAt, condition: { when, agent: of as AgentId } }
      case 'note':
        return { owner, recheckAt, condition: { when, note: of } }
    }
  })

export const judgment = z
  .object({
    ask: askId,
    judgment: z
      .enum(['accepted', 'no-change', 'rejected', 'deferred'])
      .describe('accepted: you will answer it; no-change: nothing needs doing; deferred needs `until`'),
    reason: reason('Why, in words for whoever asked'),
    until: until.optional().describe('Only with deferred: what it waits for, and when to look again'),
  })
  .refine((said) => (said.judgment === 'deferred') === (said.until !== undefined), {
    error: 'deferred needs `until`, and only deferred has it',
    path: ['until'],
  })

export const split = z
  .object({
    ask: askId.describe('The one ask that is several questions'),
    into: z.array(text(4_000, 'One of its questions')).min(2).max(20).describe('The questions, each by itself'),
  })
  .describe('Only without `asks`')

export const doubt = z
  .object({
    by: z
      .enum(['look-up', 'resubmit', 'none'])
      .describe('look-up: its state can be read; resubmit: the same key does it once; none: a person must look'),
    windowMs: whole(SECOND).optional().describe('Only with resubmit: for how long the same key works, in ms'),
  })
  .transform((said, ctx): DoubtEnds => {
    if (said.by !== 'resubmit') return { by: said.by }
    if (said.windowMs !== undefined) return { by: 'resubmit', windowMs: said.windowMs }
    ctx.addIssue({ code: 'custom', path: ['windowMs'], message: 'is needed with by: resubmit' })
    return z.NEVER
  })

export const claimEpoch = whole(1).describe('Gives your claim back: its epoch, as todo_list shows it')

export const leaseMs = z
  .int()
  .min(SECOND)
  .max(7 * DAY)
  .describe('How long the claim holds without renewal, in milliseconds')
