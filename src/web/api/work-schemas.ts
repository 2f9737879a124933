import { z } from '@hono/zod-openapi'
import { isStorable, notStorable } from '../storable.js'

const instant = z.int().openapi({ description: 'Milliseconds since the Unix epoch, UTC', example: 1_764_500_000_000 })
/** Ids stand in paths, job names and file names: nothing that any of them would read as its own. */
const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/)
  .openapi({ example: 'memory-leak' })
const text = (limit: number) => z.string().max(limit).refine(isStorable, notStorable)
const said = (limit: number) => text(limit).refine((value) => value.trim() !== '')

export const IdempotencyKey = z.object({ 'Idempotency-Key': z.string().min(1).max(200) })

export const StoppedQuery = z.object({
  stopped: z.enum(['true', 'false']).optional().openapi({ description: 'Also the stopped ones' }),
})

const Goal = z
  .strictObject({
    id: z.string(),
    title: z.string(),
    source: z.string().openapi({ description: 'Who owns its work state' }),
    state: z.enum(['active', 'stopped']),
    revision: z.int(),
    vision: z.strictObject({
      direction: z.string(),
      acceptance: z.string(),
      nonGoals: z.string(),
      revision: z.int(),
    }),
    agents: z.int(),
    openTodos: z.int(),
    createdAt: instant,
  })
  .openapi('Goal')

const Endpoint = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('managed'), runtime: z.string(), command: z.string().nullable() }),
  z.strictObject({ kind: z.literal('attached') }),
])

const Agent = z
  .strictObject({
    agent: z.string(),
    goal: z.string(),
    goalState: z.enum(['active', 'stopped']),
    role: z.string(),
    responsibility: z.string(),
    host: z.string(),
    endpoint: Endpoint,
    abilities: z.array(z.string()),
    capacity: z.int(),
    lastEvidenceAt: instant.nullable().openapi({ description: 'Null: nothing was ever seen of it' }),
    reachable: z.boolean().nullable().openapi({ description: 'Null: nobody has tried' }),
  })
  .openapi('Agent')

const Todo = z
  .strictObject({
    id: z.string(),
    goal: z.string(),
    title: z.string(),
    state: z.enum(['open', 'done', 'dropped']),
    revision: z.int(),
    claim: z
      .strictObject({ agent: z.string(), epoch: z.int(), until: instant })
      .nullable()
      .openapi({ description: 'Null when none stands now' }),
  })
  .openapi('Todo')

/** Goals, agents and todos are few: one page, in the form of every list. */
const whole = <T extends z.ZodType>(item: T) => z.strictObject({ items: z.array(item), nextCursor: z.null() })

export const GoalList = whole(Goal).openapi('GoalList')
export const AgentList = whole(Agent).openapi('AgentList')
export const TodoList = whole(Todo).openapi('TodoList')

export const CreateGoal = z
  .strictObject({
    id: name.optional().openapi({ description: 'Absent: one is made' }),
    title: said(500),
    direction: text(16_000).default(''),
    acceptance: text(16_000).default('').openapi({ description: 'Agents cannot change what stands here' }),
    nonGoals: text(16_000).default(''),
  })
  .openapi('CreateGoal')

export const RegisterAgent = z
  .strictObject({
    agent: name,
    goal: name,
    role: said(200),
    responsibility: said(2_000),
    host: said(200).default('local'),
    endpoint: z
      .union([
        z.strictObject({
          kind: z.literal('managed'),
          runtime: z.literal('acp'),
          command: said(2_000).openapi({ description: 'Run on this host; it is shown, so it holds no secret' }),
        }),
        z.strictObject({
          kind: z.literal('managed'),
          runtime: z.enum(['codex', 'claude', 'rehearsal']),
          command: z.null().default(null),
        }),
        z.strictObject({ kind: z.literal('attached') }),
      ])
      .openapi({ description: 'Run by this gateway, or by itself, pulling with a token' }),
    abilities: z.array(said(100)).max(50).default([]),
    capacity: z.int().min(1).max(64).default(1),
  })
  .openapi('RegisterAgent')

export const WorkReceipt = z
  .strictObject({
    outcome: z.enum(['committed', 'already']),
    receipt: z.strictObject({
      owner: z.literal('canonical'),
      operation: z.string(),
      refs: z.array(z.strictObject({ ref: z.string(), revision: z.string() })),
    }),
  })
  .openapi('WorkReceipt')
