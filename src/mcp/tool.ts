import { z } from 'zod'
import type { AgentTools, ToolCaller } from '../collab/agent-tools.js'
import type { EventId } from '../collab/refs.js'
import { rejected, type Answer } from './answer.js'
import { key } from './schemas.js'

/** One tool as every door offers it. */
export interface Tool {
  readonly name: string
  readonly title: string
  /** For an agent: what it does, when to use it, what the answer means. */
  readonly description: string
  readonly writes: boolean
  /** JSON Schema of the arguments. */
  readonly arguments: Readonly<Record<string, unknown>>
  /** Reads the arguments and acts; wrong ones are an answer, too. `eventIdOf` gives the identity of a write. */
  call(tools: AgentTools, caller: ToolCaller, given: unknown, eventIdOf: EventIdOf): Promise<Answer>
}

/** @param key the caller's own; absent, the identity follows from the call */
export type EventIdOf = (key: string | undefined) => EventId

interface Words {
  readonly name: string
  readonly title: string
  readonly description: string
}

/** A tool that changes nothing. */
export function reads<S extends z.ZodRawShape>(
  words: Words,
  shape: S,
  run: (tools: AgentTools, caller: ToolCaller, said: z.output<z.ZodObject<S>>) => Promise<Answer>,
): Tool {
  const schema = z.strictObject(shape)
  return {
    ...words,
    writes: false,
    arguments: jsonSchemaOf(schema),
    async call(tools, caller, given) {
      const read = schema.safeParse(given ?? {})
      // zod's own name for the output of a strict object is another one than that of its shape.
      return read.success ? await run(tools, caller, read.data as z.output<z.ZodObject<S>>) : misread(read.error)
    },
  }
}

/** A tool that acts: one command, done once for its event id. */
export function writes<S extends z.ZodRawShape>(
  words: Words,
  shape: S,
  run: (
    tools: AgentTools,
    caller: ToolCaller,
    said: z.output<z.ZodObject<S>> & { readonly eventId: EventId },
  ) => Promise<Answer>,
): Tool {
  const schema = z.strictObject(shape)
  const named = z.strictObject({ ...shape, key })
  return {
    ...words,
    writes: true,
    arguments: jsonSchemaOf(named),
    async call(tools, caller, given, eventIdOf) {
      const { key: own, ...rest } = isObject(given) ? given : { given }
      const name = key.safeParse(own)
      const read = schema.safeParse(given === undefined ? {} : isObject(given) ? rest : given)
      if (!name.success) return rejected({ reason: 'bad-arguments', where: ['key'] })
      if (!read.success) return misread(read.error)
      const said = read.data as z.output<z.ZodObject<S>>
      return await run(tools, caller, { ...said, eventId: eventIdOf(name.data) })
    },
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function jsonSchemaOf(schema: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' })
  return rest
}

/** Where and what is wrong; never what stood there. */
export function misread(error: z.ZodError): Answer {
  const where = error.issues.slice(0, 20).map((issue) => {
    const path = issue.path.map(String).join('.').slice(0, 100)
    const unknown = issue.code === 'unrecognized_keys' ? `: ${issue.keys.join(', ').slice(0, 100)}` : ''
    const what = issue.code === 'unrecognized_keys' ? 'has members that this tool does not take' : issue.message
    return `${path === '' ? 'arguments' : path} ${what}${unknown}`.replaceAll(/\p{Cc}/gu, '·').slice(0, 300)
  })
  return rejected({ reason: 'bad-arguments', where })
}
