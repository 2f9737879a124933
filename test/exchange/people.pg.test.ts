import { afterAll, beforeAll, expect, test } from 'vitest'
import type { IncomingMessage } from '../../src/collab/message.js'
import { peopleOf } from '../../src/exchange/people.js'
import { deliveryOf } from '../../src/stores/deliveries/deliveries.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { bench } from './delivery-bench.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

/** A delivery that answers a message, and that message as it is stored. */
async function answering(message: Pick<IncomingMessage, 'sender' | 'mentions'> | null) {
  const b = await bench(fresh.db, 'text')
  const put = await deliveryOf(fresh.db.sql, b.id)
  if (put === null) throw new Error('the bench puts a delivery')
  const replyTo = `om_${crypto.randomUUID()}`
  const delivery = { ...put, route: { ...put.route, replyTo } }
  if (message !== null) {
    const event = { kind: 'message', message }
    await fresh.db.sql`
      insert into collab.ingress_events (id, bot, key, event_id, kind, event_type, chat_id, event, door, received_at)
      values (${crypto.randomUUID()}, ${delivery.bot}, ${replyTo}, ${crypto.randomUUID()}, 'message',
        'im.message.receive_v1', ${delivery.route.chatId}, ${JSON.stringify(event)}::text::jsonb, 'webhook', 1)`
  }
  return peopleOf(b.x, delivery)
}

const sender = { openId: 'ou_owner', unionId: null, type: 'user', tenantKey: null } as const
const person = { openId: 'ou_wang', name: '王伟', isBot: false, isSelf: false }

test('an answer may call who asked and whom the question names, and no bot', async () => {
  const mentions = [
    person,
    { openId: 'ou_bot', name: 'B', isBot: true, isSelf: false },
    { openId: 'ou_self', name: 'M', isBot: true, isSelf: true },
  ]
  expect(await answering({ sender, mentions })).toEqual([
    { openId: 'ou_owner', name: '' },
    { openId: 'ou_wang', name: '王伟' },
  ])
})

test('a question of a bot lets nobody call that bot', async () => {
  expect(await answering({ sender: { ...sender, type: 'bot' }, mentions: [] })).toEqual([])
})

test('an answer to a message that is not stored calls nobody', async () => {
  expect(await answering(null)).toEqual([])
})
