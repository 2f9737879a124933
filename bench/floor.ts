import { serve } from '@hono/node-server'
import { Queue } from 'bullmq'
import { Hono } from 'hono'
import postgres from 'postgres'

/**
 * The floor of P2, as a process of its own: what any durable webhook must at least do. It parses the body, inserts one
 * row, adds one job, answers 200. No signature, no decryption, no judging, no second row.
 *
 * DATABASE_URL and REDIS_URL come from the environment; prints `ready URL`.
 */
const sql = postgres(process.env['DATABASE_URL'] ?? '', { max: 10, onnotice: () => {} })
const redis = new URL(process.env['REDIS_URL'] ?? '')
const queue = new Queue('floor', { connection: { host: redis.hostname, port: Number(redis.port) }, prefix: 'floor' })

await sql`create table floor_events (id text primary key, event jsonb not null, received_at bigint not null)`
await queue.waitUntilReady()

interface Envelope {
  readonly header: { readonly event_id: string }
}

const app = new Hono()
app.post('/lark/events', async (c) => {
  const event = await c.req.json<Envelope>()
  const id = event.header.event_id
  await sql`insert into floor_events (id, event, received_at) values (${id}, ${sql.json(event as never)}, ${Date.now()})`
  await queue.add('accept', { id })
  return c.json({})
})

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  process.stdout.write(`ready http://127.0.0.1:${port}\n`)
})
process.on('SIGTERM', () => process.exit(0))
