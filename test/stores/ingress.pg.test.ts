import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { IncomingEvent, IncomingMessage } from '../../src/collab/message.js'
import type { BotId, Instant } from '../../src/collab/refs.js'
import { uuidFrom } from '../../src/lib/digest.js'
import { silentLogger } from '../../src/lib/log.js'
import { openDb } from '../../src/stores/db.js'
import { remember, type Remember } from '../../src/stores/ingress/ingress.js'
import { rememberTogether } from '../../src/stores/ingress/together.js'
import { bindOwner } from '../../src/stores/principals/principals.js'
import { freshDb, type FreshDb } from '../kit/pg.js'

const bot = 'cli_1' as BotId
let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
  await bindOwner(fresh.db.sql, { bot, openId: 'ou_owner', directChat: 'oc_dm' }, 1)
})
afterAll(() => fresh.drop())

let count = 0
function message(given: Partial<IncomingMessage> = {}): Extract<IncomingEvent, { kind: 'message' }> {
  count += 1
  const messageId = given.messageId ?? `om_${count}`
  return {
    bot,
    key: messageId,
    eventId: `event-${count}`,
    eventType: 'im.message.receive_v1',
    kind: 'message',
    turnAuthority: { verdict: 'addressed', because: 'mention' },
    message: {
      bot,
      messageId,
      chatId: 'oc_1',
      chatType: 'group',
      threadId: null,
      rootId: null,
      parentId: null,
      sender: { openId: 'ou_owner', unionId: null, type: 'user', tenantKey: null },
      createTime: 1 as Instant,
      messageType: 'text',
      text: 'hello',
      mentions: [],
      mentionsSelf: true,
      mentionsAll: false,
      attachments: [],
      expand: null,
      recalled: false,
      unknown: [],
      ...given,
    },
  }
}

const idOf = (event: IncomingEvent) => uuidFrom('ingress', event.bot, event.key)
const plain = (event: IncomingEvent): Remember => ({
  id: idOf(event),
  event,
  door: 'webhook',
  receivedAt: 1_000,
  receipt: null,
  judged: true,
})
const withReceipt = (event: Extract<IncomingEvent, { kind: 'message' }>, sender: string): Remember => ({
  ...plain(event),
  receipt: {
    id: uuidFrom('receipt', event.key),
    emoji: 'Get',
    addressed: true,
    parents: [],
    sender,
    binds: false,
  },
})

describe('one statement for many events', () => {
  test('a burst is stored in the order of its calls, each with its own wake', async () => {
    const events = Array.from({ length: 250 }, () => message({ chatId: 'oc_burst' }))
    const stored = await Promise.all(events.map((event) => rememberTogether(fresh.db.sql, plain(event))))
    expect(stored.every((one) => one.outcome === 'stored')).toBe(true)
    expect(stored.map((one) => one.wake?.subject)).toEqual(events.map(idOf))
    const rows = await fresh.db.sql<{ key: string }[]>`
      select key from collab.ingress_events where chat_id = 'oc_burst' order by position`
    expect(rows.map((row) => row.key)).toEqual(events.map((event) => event.key))
  })

  test('the same message three times at once is one row, one wake and two later sightings', async () => {
    const first = message({ messageId: 'om_same' })
    const sightings = [first, { ...first, eventId: 'again-1' }, { ...first, eventId: 'again-2' }]
    const stored = await Promise.all(sightings.map((event) => rememberTogether(fresh.db.sql, plain(event))))
    expect(stored.map((one) => one.outcome)).toEqual(['stored', 'duplicate', 'duplicate'])
    expect(stored.map((one) => one.wake !== null)).toEqual([true, false, false])
    const rows = await fresh.db.sql<{ event: string }[]>`
      select event_id as event from collab.ingress_duplicates where ingress = ${idOf(first)} order by event_id`
    expect(rows.map((row) => row.event)).toEqual(['again-1', 'again-2'])
  })

  test('two processes that store the same burst in opposite order leave each event once', async () => {
    const events = Array.from({ length: 60 }, () => message({ chatId: 'oc_both' }))
    const other = openDb({ url: fresh.url, logger: silentLogger })
    const [a, b] = await Promise.all([
      Promise.all(events.map((event) => rememberTogether(fresh.db.sql, plain(event)))),
      Promise.all(events.toReversed().map((event) => rememberTogether(other.sql, plain(event)))),
    ])
    await other.close()
    const second = b.toReversed()
    expect(events.map((_, nth) => [a[nth]?.outcome, second[nth]?.outcome].toSorted())).toEqual(
      events.map(() => ['duplicate', 'stored']),
    )
  })

  test('one that the database refuses does not take the others with it', async () => {
    const refused = message({ text: 'a NUL \0 cannot be stored' })
    const events = [message(), message(), refused, message()]
    const ended = await Promise.allSettled(events.map((event) => rememberTogether(fresh.db.sql, plain(event))))
    expect(ended.map((one) => one.status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    const rows = await fresh.db.sql`
      select 1 from collab.ingress_events where key in ${fresh.db.sql(events.map((event) => event.key))}`
    expect(rows).toHaveLength(3)
  })

  test('each row is judged by itself: a receipt only for the bound owner', async () => {
    const [ours, theirs] = [message(), message({ sender: { ...message().message.sender, openId: 'ou_other' } })]
    const stored = await remember(fresh.db.sql, [withReceipt(ours, 'ou_owner'), withReceipt(theirs, 'ou_other')])
    expect(stored.map((one) => one.receipt)).toEqual([true, false])
    const rows = await fresh.db.sql<{ id: string }[]>`
      select message_id as id from collab.reactions where state = 'prepared' and message_id in ${fresh.db.sql([ours.key, theirs.key])}`
    expect(rows.map((row) => row.id)).toEqual([ours.key])
  })

  test('an event that nobody acts on is kept and costs no wake', async () => {
    const event = {
      bot,
      key: 'event-x',
      eventId: 'event-x',
      eventType: 'im.message.reaction.created_v1',
      kind: 'other',
    } as const
    const stored = await rememberTogether(fresh.db.sql, plain(event))
    expect(stored).toEqual({ outcome: 'stored', wake: null, receipt: false })
    const [row] = await fresh.db
      .sql`select disposition, disposed_at from collab.ingress_events where id = ${idOf(event)}`
    expect(row).toEqual({ disposition: 'noted', disposed_at: 1_000 })
  })
})
