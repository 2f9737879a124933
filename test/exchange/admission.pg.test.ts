import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatPolicy } from '../../src/collab/chat-policy.js'
import type { IncomingEvent, IncomingMessage } from '../../src/collab/message.js'
import type { AgentRuntime } from '../../src/collab/ports.js'
import type { BotId, EventId, Instant, RequestId } from '../../src/collab/refs.js'
import type { WorkRequest } from '../../src/collab/request.js'
import { accept } from '../../src/exchange/accept.js'
import { goneFrom } from '../../src/exchange/admission-gone.js'
import { EVERYWHERE, ownerWorkIn, removeMember, setPolicy } from '../../src/exchange/chat-policy.js'
import { ingressIdOf } from '../../src/exchange/ids.js'
import { profileFor } from '../../src/exchange/profile.js'
import { take } from '../../src/exchange/take.js'
import { must } from '../../src/lib/assert.js'
import { DAY, MINUTE } from '../../src/lib/time.js'
import { requestOfOrigin } from '../../src/stores/ledger/find.js'
import { stateOfRequest } from '../../src/stores/ledger/read.js'
import { putMember } from '../../src/stores/policies/members.js'
import { boundOwners } from '../../src/stores/principals/principals.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { bot, FakeChannel, TestClock, testExchange, type TestExchange } from './outgoing-kit.js'

let fresh: FreshDb
let x: TestExchange
let clock: TestClock
let listed: Set<string>
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())
beforeEach(async () => {
  clock = new TestClock()
  listed = new Set(['ou_alice', 'ou_carol'])
  const base = testExchange(fresh.db, clock, new FakeChannel(clock), { ownerOpenIds: listed })
  x = { ...base, runtime: { confines: async () => true } as AgentRuntime }
  await fresh.db.sql`truncate collab.principals, collab.chat_policies, collab.chat_members, collab.member_starts,
    collab.admission_asks, collab.audit_lines`
  await said({ chatId: 'oc_alice', chatType: 'p2p', from: 'ou_alice' })
})

interface Says {
  readonly from?: string
  readonly tenant?: string | null
  readonly union?: string | null
  readonly chatId?: string
  readonly chatType?: 'p2p' | 'group'
  readonly text?: string
  readonly messageId?: string
  readonly app?: string
}

function messageOf(says: Says): IncomingMessage {
  return {
    bot: (says.app ?? bot) as BotId,
    messageId: says.messageId ?? `om_${randomUUID()}`,
    chatId: says.chatId ?? 'oc_room',
    chatType: says.chatType ?? 'group',
    threadId: null,
    rootId: null,
    parentId: null,
    sender: {
      openId: says.from ?? 'ou_bob',
      unionId: says.union === undefined ? `on_${says.from ?? 'ou_bob'}` : says.union,
      type: 'user',
      tenantKey: says.tenant === undefined ? 't1' : says.tenant,
    },
    createTime: clock.now() as Instant,
    messageType: 'text',
    text: says.text ?? 'Count the herons.',
    mentions: [],
    mentionsSelf: says.chatType !== 'p2p',
    mentionsAll: false,
    attachments: [],
    expand: null,
    recalled: false,
    unknown: [],
  }
}

/** One message, from its door to what became of it. */
async function said(says: Says): Promise<{ readonly as: string | null; readonly messageId: string }> {
  clock.add(10)
  const message = messageOf(says)
  const because = says.chatType === 'p2p' ? 'direct-message' : 'mention'
  const event: IncomingEvent = {
    kind: 'message',
    bot: message.bot,
    key: message.messageId,
    eventId: randomUUID(),
    eventType: 'im.message.receive_v1',
    message,
    turnAuthority: { verdict: 'addressed', because },
  }
  await take(x, event, 'websocket')
  await accept(x, ingressIdOf(message.bot, message.messageId))
  const [row] = await fresh.db.sql<{ disposition: string | null }[]>`
    select disposition from collab.ingress_events where key = ${message.messageId}`
  return { as: row?.disposition ?? null, messageId: message.messageId }
}

async function requestOf({ messageId }: { readonly messageId: string }): Promise<WorkRequest> {
  const id = must((await requestOfOrigin(fresh.db.sql, bot, 'lark', messageId)) ?? undefined, 'the request')
  return must((await stateOfRequest(fresh.db.sql, id as RequestId)).request ?? undefined, 'its words')
}

const set = (settings: Partial<ChatPolicy>, chat = 'oc_room', owner: string | null = 'ou_alice') =>
  setPolicy(x, {
    bot,
    chat,
    settings,
    as: 'change',
    onRevision: null,
    who: owner ?? 'admin-token',
    owner,
    eventId: randomUUID() as EventId,
  })

const admit = (over: Partial<Parameters<typeof putMember>[1]> = {}) =>
  putMember(fresh.db.sql, {
    id: randomUUID(),
    bot,
    chatId: 'oc_room',
    openId: 'ou_bob',
    tenantKey: 't1',
    unionId: null,
    starts: null,
    until: null,
    admittedBy: 'ou_alice',
    admittedAt: clock.now(),
    ...over,
  })

const reasons = async () =>
  (await fresh.db.sql<{ act: string }[]>`select act from collab.audit_lines order by at, id`).map(({ act }) => act)

describe('the identity of an owner', () => {
  const alice = async () => (await boundOwners(fresh.db.sql, bot)).find(({ openId }) => openId === 'ou_alice')

  test('is that of the message that bound it, and no later message replaces it', async () => {
    expect(await alice()).toEqual({ openId: 'ou_alice', tenantKey: 't1', unionId: 'on_ou_alice' })
    const other = {
      from: 'ou_alice',
      tenant: 't2',
      union: 'on_other',
      chatId: 'oc_elsewhere',
      chatType: 'p2p',
    } as const
    expect((await said(other)).as).toBe('refused')
    expect(await alice()).toEqual({ openId: 'ou_alice', tenantKey: 't1', unionId: 'on_ou_alice' })
    const [row] = await fresh.db.sql<{ chat: string }[]>`
      select direct_chat as chat from collab.principals where open_id = 'ou_alice'`
    expect(row?.chat).toBe('oc_alice')
  })

  test('stays without what its envelope did not say', async () => {
    await said({ from: 'ou_carol', tenant: null, union: null, chatId: 'oc_carol', chatType: 'p2p' })
    await said({ from: 'ou_carol', tenant: 't1', union: 'on_carol', chatId: 'oc_carol', chatType: 'p2p' })
    const carol = (await boundOwners(fresh.db.sql, bot)).find(({ openId }) => openId === 'ou_carol')
    expect(carol).toEqual({ openId: 'ou_carol', tenantKey: null, unionId: null })
  })

  test('goes into every request of theirs; the same message with another sender is the first one again', async () => {
    const first = await said({ from: 'ou_alice', messageId: 'om_once' })
    expect((await requestOf(first)).authority).toEqual({
      principal: 'owner',
      openId: 'ou_alice',
      tenantKey: 't1',
      unionId: 'on_ou_alice',
    })
    await said({ from: 'ou_mallory', tenant: 't9', messageId: 'om_once', text: 'Sell the herons.' })
    expect((await requestOf(first)).authority).toMatchObject({ openId: 'ou_alice', tenantKey: 't1' })
  })

  test('means nothing to another bot', async () => {
    expect((await said({ from: 'ou_alice', app: 'cli_another' })).as).toBe('refused')
  })
})

describe('a member', () => {
  beforeEach(() => set({ who: 'members' }))

  test('carries their own identity, what admitted them and who answers for it', async () => {
    await admit({ id: 'm-1' })
    const { authority } = await requestOf(await said({ union: 'on_bob' }))
    expect(authority).toEqual({
      principal: 'member',
      openId: 'ou_bob',
      tenantKey: 't1',
      unionId: 'on_bob',
      policy: { chat: 1, everywhere: 0 },
      membership: 'm-1',
      sponsor: 'ou_alice',
    })
  })

  test('of another tenant, or with a look-alike id, or in a look-alike group, is nobody', async () => {
    await admit()
    expect((await said({})).as).toBe('request')
    expect((await said({ tenant: 't2' })).as).toBe('refused')
    expect((await said({ from: 'ou_b\u043eb' })).as).toBe('refused')
    expect((await said({ chatId: 'oc_r\u043eom' })).as).toBe('refused')
  })

  test('starts as many turns as were given; the same message again takes no other', async () => {
    await admit({ starts: 2 })
    const first = await said({ messageId: 'om_first' })
    expect(first.as).toBe('request')
    await fresh.db.sql`update collab.ingress_events set disposition = null where key = 'om_first'`
    await accept(x, ingressIdOf(bot, 'om_first'))
    expect((await said({})).as).toBe('request')
    expect((await said({})).as).toBe('refused')
    expect(await reasons()).toContain('refused: membership-used-up')
  })

  test('of whom many messages come at once starts no more than that', async () => {
    await admit({ starts: 3 })
    const all = await Promise.all(Array.from({ length: 8 }, (_, n) => said({ text: `heron ${n}` })))
    expect(all.filter(({ as }) => as === 'request')).toHaveLength(3)
  })

  test('whose time is over is refused, also what waits, and so is one who was removed', async () => {
    await admit({ until: clock.now() + MINUTE })
    const waits = await requestOf(await said({}))
    expect(await goneFrom(x, waits)).toBeNull()
    clock.add(2 * MINUTE)
    expect(await goneFrom(x, waits)).toBe('membership-ended')
    expect((await said({})).as).toBe('refused')
    await admit({ admittedAt: clock.now() })
    expect(await goneFrom(x, waits)).toBeNull()
    const remove = { bot, chat: 'oc_room', openId: 'ou_bob', who: 'ou_alice', eventId: randomUUID() as EventId }
    expect(await removeMember(x, remove)).toBe(2)
    expect(await goneFrom(x, waits)).toBe('membership-ended')
    expect(await reasons()).toContain('member removed: ou_bob')
  })

  test('who becomes an owner keeps a member’s right in what they asked before', async () => {
    await admit()
    const before = await requestOf(await said({}))
    listed.add('ou_bob')
    expect((await said({ chatId: 'oc_bob', chatType: 'p2p' })).as).toBe('request')
    const after = await requestOf(await said({}))
    expect([before.authority.principal, after.authority.principal]).toEqual(['member', 'owner'])
    await set({ ownerWork: 'owner', who: 'owner' }, 'oc_room', 'ou_bob')
    expect(await goneFrom(x, before)).toBeNull()
    expect(await profileFor(x, fresh.db.sql, before)).toMatchObject({ kind: 'restricted' })
    expect(await profileFor(x, fresh.db.sql, after)).toEqual({ kind: 'owner' })
  })

  test('starts nothing where their work cannot be kept apart, and no policy is set that says they may', async () => {
    await admit()
    const open = { ...x, runtime: { confines: async () => false } as AgentRuntime }
    x = open
    expect((await said({})).as).toBe('refused')
    expect(await reasons()).toContain('refused: not-isolated')
    expect(await set({ who: 'humans' })).toMatchObject({ outcome: 'refused', because: 'policy-not-isolated' })
    expect(await set({ mention: 'off' })).toMatchObject({ outcome: 'accepted' })
  })
})

describe('everybody of the tenant', () => {
  test('is who shares it with an owner: another and an unknown one are refused with the reason', async () => {
    await set({ who: 'humans' })
    expect((await requestOf(await said({ from: 'ou_dora' }))).authority).toMatchObject({
      principal: 'member',
      openId: 'ou_dora',
      membership: null,
    })
    // The group was opened to another organisation.
    expect((await said({ from: 'ou_eve', tenant: 't2' })).as).toBe('refused')
    expect((await said({ from: 'ou_finn', tenant: null })).as).toBe('refused')
    expect(await reasons()).toEqual(expect.arrayContaining(['refused: other-tenant', 'refused: tenant-unknown']))
  })
})

describe('two owners in one group', () => {
  beforeEach(async () => {
    await said({ from: 'ou_carol', chatId: 'oc_carol', chatType: 'p2p' })
  })

  test('one settles how their own work there runs, and nothing for the other', async () => {
    await set({ ownerWork: 'owner' }, 'oc_room', 'ou_carol')
    const carols = await requestOf(await said({ from: 'ou_carol' }))
    const alices = await requestOf(await said({ from: 'ou_alice' }))
    expect(await profileFor(x, fresh.db.sql, carols)).toEqual({ kind: 'owner' })
    expect(await profileFor(x, fresh.db.sql, alices)).toMatchObject({ kind: 'restricted' })
    // Somebody else's change of something else leaves that as it is.
    await set({ mention: 'off' }, 'oc_room', 'ou_alice')
    expect(await profileFor(x, fresh.db.sql, alices)).toMatchObject({ kind: 'restricted' })
    expect(await profileFor(x, fresh.db.sql, carols)).toEqual({ kind: 'owner' })
  })

  test('an operator settles it for each of them, in all chats or one', async () => {
    await set({ ownerWork: 'owner' }, EVERYWHERE, null)
    const of = (owner: string) => ownerWorkIn(x, fresh.db.sql, { bot, chatId: 'oc_room', owner })
    expect(await of('ou_alice')).toEqual({ openId: 'ou_alice', work: 'owner' })
    await set({ ownerWork: 'restricted' }, 'oc_room', 'ou_carol')
    expect(await of('ou_carol')).toEqual({ openId: 'ou_carol', work: 'restricted' })
  })

  test('who was taken off the list, or never wrote to the bot, loses what waits, and only theirs', async () => {
    const carols = await requestOf(await said({ from: 'ou_carol' }))
    const alices = await requestOf(await said({ from: 'ou_alice' }))
    listed.delete('ou_carol')
    expect([await goneFrom(x, carols), await goneFrom(x, alices)]).toEqual(['not-an-owner', null])
    await set({ who: 'nobody' })
    expect(await goneFrom(x, alices)).toBe('nobody')
  })
})

describe('the card about a stranger', () => {
  const asked = async () => (await fresh.db.sql`select 1 from collab.admission_asks`).length

  test('is one for a person however often and wherever they write, and a few a day for all of them', async () => {
    await Promise.all(Array.from({ length: 6 }, () => said({})))
    await said({ chatId: 'oc_hall' })
    expect(await asked()).toBe(1)
    for (let n = 0; n < 8; n++) await said({ from: `ou_stranger_${n}` })
    expect(await asked()).toBe(5)
    clock.add(DAY + MINUTE)
    await said({ from: 'ou_late' })
    expect(await asked()).toBe(6)
  })

  test('is not sent where an owner said already that only owners start work, nor when none can be reached', async () => {
    await set({ who: 'owner' })
    await said({})
    expect(await asked()).toBe(0)
    await fresh.db.sql`update collab.principals set direct_chat = null`
    await said({ chatId: 'oc_hall' })
    expect(await asked()).toBe(0)
  })
})
