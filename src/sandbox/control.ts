import { Hono, type Context } from 'hono'
import { z } from 'zod'
import { apiNames, type Faults } from './faults.js'
import type { SandboxStats } from './stats.js'
import type { World } from './world.js'

const say = z.object({
  chatId: z.string(),
  from: z.string(),
  text: z.string().exactOptional(),
  post: z.object({ title: z.string().exactOptional(), content: z.array(z.array(z.looseObject({}))) }).exactOptional(),
  raw: z.object({ msgType: z.string(), content: z.string() }).exactOptional(),
  mentionBot: z.boolean().exactOptional(),
  mentions: z.array(z.string()).exactOptional(),
  threadOf: z.string().exactOptional(),
  replyTo: z.string().exactOptional(),
  createTime: z.number().exactOptional(),
  silent: z.boolean().exactOptional(),
})
const action = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('latency'), ms: z.number() }),
  z.object({ kind: z.literal('rate-limit'), resetSeconds: z.number().nullable() }),
  z.object({ kind: z.literal('status'), status: z.number(), stored: z.boolean().exactOptional() }),
  z.object({
    kind: z.literal('code'),
    code: z.number(),
    msg: z.string().exactOptional(),
    httpStatus: z.number().exactOptional(),
    stored: z.boolean().exactOptional(),
  }),
  z.object({ kind: z.literal('accept-then-reset') }),
  z.object({ kind: z.literal('reset-before') }),
  z.object({ kind: z.literal('arrive-late'), ms: z.number() }),
  z.object({ kind: z.literal('hang'), stored: z.boolean().exactOptional() }),
])
const faultCommand = z.union([
  z.object({ clear: z.literal(true) }),
  z.object({ expireToken: z.literal(true) }),
  z.object({ latency: z.number() }),
  z.object({ loseAcks: z.number() }),
  z.object({
    api: z.enum([...apiNames, 'any']),
    when: z
      .object({
        nth: z.number().exactOptional(),
        every: z.number().exactOptional(),
        chatId: z.string().exactOptional(),
        contains: z.string().exactOptional(),
      })
      .exactOptional(),
    do: action,
    times: z.number().exactOptional(),
  }),
])
const chat = z.object({
  mode: z.enum(['p2p', 'group', 'topic']),
  name: z.string(),
  members: z.array(z.string()),
  chatId: z.string().exactOptional(),
  botInChat: z.boolean().exactOptional(),
})
const person = z.object({
  name: z.string(),
  openId: z.string().exactOptional(),
  bot: z.boolean().exactOptional(),
})
const recall = z.object({ messageId: z.string(), by: z.string() })
const membership = z.object({ chatId: z.string(), do: z.enum(['remove-bot', 'add-bot', 'dissolve', 'enter']) })

export interface ControlOptions {
  readonly world: World
  readonly faults: Faults
  readonly stats: () => SandboxStats
}

/** `/sandbox/*`: the world over JSON, for a benchmark in another process. Bad input answers 400 with the reason. */
export function createControl({ world, faults, stats }: ControlOptions): Hono {
  const app = new Hono()
  app.onError((error, context) => context.json({ error: error.message }, 400))
  const body = async <T>(context: Context, schema: z.ZodType<T>): Promise<T> => schema.parse(await context.req.json())

  app.post('/say', async (context) => context.json(world.say(await body(context, say))))
  app.post('/push', async (context) => {
    world.pushEvent(await body(context, z.looseObject({})))
    return context.json({ pushed: true })
  })
  app.post('/faults', async (context) => {
    const command = await body(context, faultCommand)
    if ('clear' in command) faults.clear()
    else if ('expireToken' in command) faults.expireToken()
    else if ('latency' in command) faults.latency(command.latency)
    else if ('loseAcks' in command) faults.loseAcks(command.loseAcks)
    else faults.add(command)
    return context.json({ set: true })
  })
  app.get('/messages', (context) => context.json(world.messages(context.req.query('chat') ?? '')))
  app.get('/chats', (context) =>
    context.json(world.chats().map((entry) => ({ ...entry, members: [...entry.members] }))),
  )
  app.get('/stats', (context) => context.json(stats()))
  app.post('/person', async (context) => context.json(world.addPerson(await body(context, person))))
  app.post('/chat', async (context) => {
    const added = world.addChat(await body(context, chat))
    return context.json({ ...added, members: [...added.members] })
  })
  app.post('/recall', async (context) => {
    const { messageId, by } = await body(context, recall)
    world.recall(messageId, by)
    return context.json({ recalled: true })
  })
  app.post('/membership', async (context) => {
    const { chatId, do: what } = await body(context, membership)
    const verbs = { 'remove-bot': 'removeBot', 'add-bot': 'addBot', dissolve: 'dissolve', enter: 'enterP2p' } as const
    world[verbs[what]](chatId)
    return context.json({ done: true })
  })
  return app
}
