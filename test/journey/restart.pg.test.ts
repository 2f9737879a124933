import { afterAll, beforeAll, describe, expect } from 'vitest'
import { must } from '../../src/lib/assert.js'
import type { Fault } from '../../src/sandbox/faults.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { acceptance } from '../kit/acceptance.js'
import { openPlatform, until, type Platform } from '../kit/platform.js'
import { startProcess, type GatewayProcess } from '../kit/process.js'
import { redisMissing, startRedis, type TestRedis } from '../kit/redis.js'

/**
 * One moment at which the process is killed; each is reached by a fault of the platform or a row, never by time. All
 * stand in chats of their own, so that one kill meets all of them.
 */
interface Point {
  readonly when: string
  readonly ask: string
  readonly faults: (chatId: string) => readonly Fault[]
  /** True when the moment has come. */
  reached(p: Platform, asked: WorldMessage): Promise<boolean> | boolean
  /** Message types of the answer, in order. */
  readonly answer: readonly string[]
}

const visible = (p: Platform, asked: WorldMessage) =>
  p.answers(asked.chatId).filter((message) => message.parentId === asked.id)
const count = async (p: Platform, asked: WorldMessage, from: string) =>
  (await p.db.sql.unsafe(`select 1 from ${from} and r.origin_message = $1`, [asked.id])).length
const ofTurn = 'collab.turns t join collab.work_requests r on r.id = t.request where'
const ofParts =
  'collab.delivery_parts dp join collab.deliveries d on d.id = dp.delivery join collab.work_requests r on r.id = d.request where'
const openCall = async (p: Platform, asked: WorldMessage) =>
  (await count(
    p,
    asked,
    `collab.send_attempts a join collab.deliveries d on d.id = a.delivery
    join collab.work_requests r on r.id = d.request where a.ended_at is null`,
  )) === 1
const hang = { kind: 'hang' } as const
const hangStored = { kind: 'hang', stored: true } as const
const once =
  (api: Fault['api'], action: Fault['do'], nth = 1) =>
  (chatId: string): readonly Fault[] =>
    // The same for what the gateway tries after its own time limit: the moment lasts until the kill.
    [0, 1, 2].map((more) => ({ api, when: { nth: nth + more, chatId }, do: action }))

const points: readonly Point[] = [
  {
    when: 'in the middle of the turn',
    ask: '!delay 8s\n!reply after all',
    faults: () => [],
    reached: async (p, asked) =>
      (await count(p, asked, `${ofTurn} t.ended_at is null and host_turn is not null`)) === 1,
    answer: ['text'],
  },
  {
    when: 'when the receipt stands and its answer was not heard',
    ask: '!reply heard',
    faults: (chatId) => [...once('reaction.create', hangStored)(chatId), ...once('message.reply', hang)(chatId)],
    reached: async (p, asked) => p.receipts(asked.chatId, asked.id).length === 1 && (await openCall(p, asked)),
    answer: ['text'],
  },
  {
    when: 'while the first send is made and nothing has arrived',
    ask: '!reply sent',
    faults: once('message.reply', hang),
    reached: async (p, asked) => (await openCall(p, asked)) && visible(p, asked).length === 0,
    answer: ['text'],
  },
  {
    when: 'when a part has arrived and its answer was not heard',
    ask: '!reply arrived',
    faults: once('message.reply', hangStored),
    reached: (p, asked) => visible(p, asked).length === 1,
    answer: ['text'],
  },
  {
    when: 'between two parts',
    ask: '!parts 4',
    faults: once('message.reply', hang, 3),
    reached: async (p, asked) => visible(p, asked).length === 2 && (await openCall(p, asked)),
    answer: ['interactive', 'interactive', 'interactive', 'interactive'],
  },
  {
    when: 'when a later part has arrived and its answer was not heard',
    ask: '!parts 3',
    faults: once('message.reply', hangStored, 2),
    reached: async (p, asked) => visible(p, asked).length === 2 && (await openCall(p, asked)),
    answer: ['interactive', 'interactive', 'interactive'],
  },
  {
    when: 'between a send and its read-back',
    ask: '!reply read back',
    faults: once('message.get', hang),
    reached: async (p, asked) =>
      visible(p, asked).length === 1 && (await count(p, asked, `${ofParts} dp.state = 'accepted'`)) === 1,
    answer: ['text'],
  },
  {
    when: 'while a picture is uploaded',
    ask: '!attach chart.png\n!reply with a picture',
    // An upload names no chat; it is the only one.
    faults: () => [{ api: 'image.upload', when: { nth: 1 }, do: hang }],
    reached: async (p, asked) =>
      visible(p, asked).length === 1 &&
      (await count(p, asked, `${ofParts} dp.state = 'planned' and dp.upload_key is null`)) === 1,
    answer: ['interactive', 'image'],
  },
  {
    when: 'between the answer and the end of the receipt',
    ask: '!reply then the receipt',
    faults: once('reaction.delete', hang),
    reached: async (p, asked) =>
      (await p.db.sql`select 1 from collab.reactions where message_id = ${asked.id} and state = 'removing'`).length ===
      1,
    answer: ['text'],
  },
]

const backends = [
  ['Postgres', null],
  ['Redis', redisMissing],
] as const

describe.each(backends)('a gateway that is killed, queue on %s', (backend, missing) => {
  let redis: TestRedis | null = null
  let p: Platform
  let gateway: GatewayProcess
  const asked = new Map<Point, WorldMessage>()
  beforeAll(async () => {
    if (missing !== null) return
    redis = backend === 'Redis' ? await startRedis() : null
    p = await openPlatform({
      env: { REQUEST_CONCURRENCY: '12', DELIVERY_CONCURRENCY: '20' },
      ...(redis === null ? {} : { redisUrl: redis.url }),
    })
    gateway = await startProcess(p)
    const { world, faults } = p.served.sandbox
    const reached = async () => {
      for (const [point, message] of asked) if (!(await point.reached(p, message))) return false
      return true
    }
    const ask = (point: Point) => {
      const chatId = `oc_${String(points.indexOf(point)).padStart(32, '0')}`
      world.addChat({ mode: 'group', name: point.when, members: [p.ids.alice], chatId })
      for (const fault of point.faults(chatId)) faults.add(fault)
      asked.set(point, world.say({ chatId, from: p.ids.alice, text: point.ask, mentionBot: true }))
    }
    // The turn that is to be caught in its middle begins when all others are caught, since time alone ends it.
    const [inTheMiddle, ...others] = points
    others.forEach(ask)
    await until(reached, 'all other moments at once', 60_000)
    ask(must(inTheMiddle, 'the first point'))
    await until(reached, 'all moments at once', 20_000)
    await gateway.kill()
    faults.clear()
    await gateway.start()
  }, 150_000)
  afterAll(async () => {
    if (missing !== null) return
    await gateway.stop()
    await p.close()
    await redis?.stop()
  })
  if (missing !== null) return

  const say = (text: string) => p.served.sandbox.world.say({ chatId: p.ids.dm, from: p.ids.alice, text })

  async function everythingOnce(message: WorldMessage, types: readonly string[]): Promise<void> {
    await until(() => visible(p, message).length >= types.length, 'the whole answer')
    await p.quiet(30_000)
    const answer = visible(p, message)
    expect(answer.map((one) => one.msgType)).toEqual(types)
    // The parts as they were planned, in their order, each one once.
    const parts = await p.db.sql<{ id: string; state: string }[]>`
      select dp.message_id as id, dp.state from collab.delivery_parts dp
      join collab.deliveries d on d.id = dp.delivery join collab.work_requests r on r.id = d.request
      where r.origin_message = ${message.id} order by dp.index, dp.sub_index`
    expect(parts).toEqual(answer.map((one) => ({ id: one.id, state: 'verified' })))
    expect(p.receipts(message.chatId, message.id)).toEqual([])
    const results = await p.db.sql`
      select 1 from collab.results s join collab.work_requests r on r.id = s.request
      where r.origin_message = ${message.id}`
    expect(results).toHaveLength(1)
  }

  for (const point of points) {
    acceptance('A8', `killed ${point.when}: each part is seen once, in order, and the receipt goes`, async () => {
      await everythingOnce(must(asked.get(point), 'what was asked'), point.answer)
    })
  }

  acceptance('A8', 'killed when the event is stored and nothing more: it runs after the start', async () => {
    // Nothing is opened while the test holds this table, so the process dies between the event and its request.
    const message = await p.db.sql.begin(async (tx) => {
      await tx`lock table collab.request_heads in access exclusive mode`
      const said = say('!reply from the beginning')
      const owed = () => p.db.sql`select 1 from collab.ingress_events where disposition is null and kind = 'message'`
      await until(async () => (await owed()).length === 1, 'the event')
      await gateway.kill()
      return said
    })
    await gateway.start()
    await everythingOnce(message, ['text'])
  })

  // The queue has no part in these.
  if (backend === 'Redis') return
  acceptance('A8', 'killed three times in one answer: each part is seen once, in order', async () => {
    const { faults } = p.served.sandbox
    faults.add({ api: 'message.reply', when: { nth: 2 }, do: hangStored })
    const message = say('!parts 5')
    for (const seen of [2, 3, 4]) {
      await until(async () => visible(p, message).length === seen && (await openCall(p, message)), `part ${seen}`)
      await gateway.kill()
      faults.clear()
      // The first call repeats the one that was not heard; the second one is the next part.
      if (seen < 4) faults.add({ api: 'message.reply', when: { nth: 2 }, do: hangStored })
      await gateway.start()
    }
    await everythingOnce(
      message,
      Array.from({ length: 5 }, () => 'interactive'),
    )
  })

  acceptance('A8', 'a transport that is down for a while changes nothing: the answer comes once', async () => {
    const { faults } = p.served.sandbox
    faults.add({ api: 'message.reply', times: 2, do: { kind: 'reset-before' } })
    faults.add({ api: 'message.get', times: 1, do: { kind: 'status', status: 502 } })
    await everythingOnce(say('!reply through the noise'), ['text'])
    faults.clear()
  })
})
