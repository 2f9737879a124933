import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OperationUse } from '../../src/collab/grant.js'
import type { Verdict } from '../../src/collab/ports.js'
import { MANAGER, type ConversationId, type TurnId } from '../../src/collab/refs.js'
import { answerApproval } from '../../src/exchange/answer-approval.js'
import { approvalsOf } from '../../src/exchange/approval.js'
import { addGrant, type GrantWanted } from '../../src/exchange/grant-add.js'
import { effectiveGrants } from '../../src/exchange/grant-list.js'
import { endGrant } from '../../src/exchange/revoke-grant.js'
import { must } from '../../src/lib/assert.js'
import { DAY } from '../../src/lib/time.js'
import { bindOwner } from '../../src/stores/principals/principals.js'
import { newest } from '../../src/stores/views/cursor.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { agent, registered, rigOf, rootInTurn, stateOf, type Rig, type Root } from './agents-kit.js'
import { bot } from './outgoing-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

const owner = { kind: 'person', bot: 'cli_test_app', openId: 'ou_test_owner' } as never
const HOST = 'box'
const writes = (...paths: readonly (string | null)[]) =>
  paths.map((path) => ({ effect: 'write', resource: { kind: 'path', host: HOST, path } })) as unknown as OperationUse

async function asking(rig: Rig, root: Root, waitMs = 60_000) {
  const heard: Verdict[] = []
  const looks = new Set<() => Promise<void>>()
  const x = {
    ...rig.x,
    settings: { ...rig.x.settings, approvalWaitMs: waitMs },
    every: (_ms: number, look: () => Promise<void>) => {
      looks.add(look)
      return () => void looks.delete(look)
    },
  }
  const request = must((await stateOf(rig, root.request)).request, 'the request')
  const turn = must(root.manager.turn, 'the turn') as TurnId
  const approvals = approvalsOf(x, { request, agent: MANAGER }, turn, {
    answer: async (_approval, verdict) => void heard.push(verdict),
  })
  const ask = (use: OperationUse | null, operation = `act ${randomUUID()}`) =>
    approvals.asked({ approval: randomUUID(), operation, use })
  return { x, approvals, heard, ask, look: () => Promise.all([...looks].map((one) => one())) }
}

const noticesOf = async (request: string, kind: string) =>
  (
    await fresh.db.sql<{ notice: Readonly<Record<string, unknown>> }[]>`
      select source -> 'notice' as notice from collab.deliveries
      where request = ${request} and source -> 'notice' ->> 'kind' = ${kind} order by created_at, id`
  ).map((row) => row.notice)

const notes = (conversation: string, over: Partial<GrantWanted> = {}): GrantWanted => ({
  agent: MANAGER,
  openId: 'ou_test_owner',
  scope: { kind: 'path', host: HOST, prefix: '/srv/notes' },
  effects: ['write'],
  audience: { kind: 'conversation', conversation: conversation as ConversationId },
  reason: 'notes are kept there',
  days: 30,
  parent: null,
  ...over,
})
const add = async (rig: Rig, wanted: GrantWanted, eventId: string = randomUUID()) =>
  await addGrant(rig.x, { wanted, eventId, who: 'admin-token' })
const given = async (rig: Rig, wanted: GrantWanted): Promise<string> => {
  const receipt = await add(rig, wanted)
  expect(receipt.outcome).toBe('accepted')
  return receipt.outcome === 'accepted' ? receipt.grant : ''
}
const end = async (rig: Rig, grant: string) => await endGrant(rig.x, { grant, eventId: randomUUID(), who: 'operator' })
const effective = async (rig: Rig, id: string) =>
  must(
    (await effectiveGrants(rig.x, newest, 100)).find((one) => one.id === id),
    'the grant',
  )

describe('a permission for a directory', () => {
  acceptance('A3', 'answers for what lies below it without a question, and for nothing else', async () => {
    const rig = rigOf(fresh.db, [])
    const root = await rootInTurn(rig, 'keep notes')
    const id = await given(rig, notes(root.conversation))
    const a = await asking(rig, root)
    await a.ask(writes('/srv/notes/a', '/srv/notes/week/b'))
    expect(a.heard).toEqual(['allow-once'])
    expect(await effective(rig, id)).toMatchObject({
      effective: 'standing',
      used: 1,
      lastUses: [{ request: root.request }],
    })
    for (const use of [
      writes('/srv/notes2/a'),
      writes('/srv/notes/a', '/etc/passwd'),
      writes('/srv/notes/../a'),
      writes(null),
      null,
      [{ effect: 'read', resource: { kind: 'path', host: HOST, path: '/srv/notes/a' } }] as OperationUse,
      [{ effect: 'write', resource: { kind: 'path', host: 'other', path: '/srv/notes/a' } }] as OperationUse,
    ]) {
      await a.ask(use)
    }
    expect(a.heard).toEqual(['allow-once'])
    const gaps = (await noticesOf(root.request, 'approval')).map(({ gap }) => (gap as { kind: string }).kind)
    expect(gaps.toSorted()).toEqual([
      'not-named',
      'other-effect',
      'outside',
      'outside',
      'outside',
      'outside',
      'unresolved',
    ])
    a.approvals.leave()
  })

  acceptance('A3', 'that is revoked while the work waits is refused before it is done, with the reason', async () => {
    const rig = rigOf(fresh.db, [])
    const root = await rootInTurn(rig, 'keep notes')
    const id = await given(rig, notes(root.conversation))
    const a = await asking(rig, root, 0)
    await a.ask(writes('/srv/notes/a'))
    expect((await end(rig, id)).outcome).toBe('accepted')
    await a.ask(writes('/srv/notes/b'), 'write b')
    expect(a.heard).toEqual(['allow-once', 'reject-once'])
    expect(await a.approvals.close()).toEqual(['write b'])
    expect(await noticesOf(root.request, 'permission-ended')).toMatchObject([{ gap: { kind: 'revoked', grant: id } }])
    expect((await effective(rig, id)).effective).toBe('revoked')
  })

  test('ends by itself with its time', async () => {
    const rig = rigOf(fresh.db, [])
    const root = await rootInTurn(rig, 'keep notes')
    const id = await given(rig, notes(root.conversation, { days: 1 }))
    rig.clock.add(DAY)
    const a = await asking(rig, root, 0)
    await a.ask(writes('/srv/notes/b'))
    expect(a.heard).toEqual(['reject-once'])
    expect(await noticesOf(root.request, 'permission-ended')).toMatchObject([{ gap: { kind: 'expired', grant: id } }])
    expect((await effective(rig, id)).effective).toBe('expired')
  })

  test('allows nothing in the name of somebody who is no owner any more', async () => {
    const rig = rigOf(fresh.db, [])
    const root = await rootInTurn(rig, 'keep notes')
    const id = await given(rig, notes(root.conversation))
    const gone = { ...rig, x: { ...rig.x, settings: { ...rig.x.settings, ownerOpenIds: new Set<string>() } } }
    const a = await asking(gone, root, 0)
    await a.ask(writes('/srv/notes/b'))
    expect(a.heard).toEqual(['reject-once'])
    expect((await effective(gone, id)).effective).toBe('principal-removed')
  })

  acceptance('A3', 'is not used by what another person wrote, also only in part', async () => {
    const rig = rigOf(fresh.db, [])
    const theirs = await rootInTurn(rig, 'keep mine as well', `oc_${randomUUID()}`, 'ou_somebody')
    await given(rig, notes(theirs.conversation))
    const a = await asking(rig, theirs, 0)
    await a.ask(writes('/srv/notes/a'))
    expect(a.heard).toEqual(['reject-once'])
  })

  test('for all private chats counts in the direct one of its owner, and in no other', async () => {
    const rig = rigOf(fresh.db, [])
    const [mine, other] = [await rootInTurn(rig, 'mine', `oc_${randomUUID()}`), await rootInTurn(rig, 'not mine')]
    const chat = (await fresh.db.sql`select chat_id from collab.conversations where id = ${mine.conversation}`)[0]
    await bindOwner(
      fresh.db.sql,
      { bot, openId: 'ou_test_owner', directChat: String(chat?.['chat_id']) },
      rig.clock.now(),
    )
    await given(rig, notes(mine.conversation, { audience: { kind: 'owner-private' } }))
    const [here, there] = [await asking(rig, mine, 0), await asking(rig, other, 0)]
    await here.ask(writes('/srv/notes/a'))
    await there.ask(writes('/srv/notes/a'))
    expect([here.heard, there.heard]).toEqual([['allow-once'], ['reject-once']])
  })

  test('and one beside it allow together what neither allows alone, and both are on record', async () => {
    const rig = rigOf(fresh.db, [])
    const root = await rootInTurn(rig, 'two places')
    const first = await given(rig, notes(root.conversation))
    const second = await given(
      rig,
      notes(root.conversation, { scope: { kind: 'path', host: HOST, prefix: '/srv/log' } }),
    )
    const a = await asking(rig, root, 0)
    await a.ask(writes('/srv/notes/a', '/srv/log/b'))
    expect(a.heard).toEqual(['allow-once'])
    expect([(await effective(rig, first)).used, (await effective(rig, second)).used]).toEqual([1, 1])
  })
})

describe('what a card offers beside exactly this', () => {
  test('stands for that directory and that effect, with an end, from the press on', async () => {
    const rig = rigOf(fresh.db, [])
    const root = await rootInTurn(rig, 'keep notes')
    const a = await asking(rig, root)
    await a.ask(writes('/srv/notes/a'))
    const [card] = await noticesOf(root.request, 'approval')
    expect(card).toMatchObject({
      offer: { scope: { prefix: '/srv/notes' }, effects: ['write'] },
    })
    const press = { act: 'allow-offered', request: root.request, approval: String(card?.['approval']) } as const
    const told = await answerApproval(a.x, press, { actor: owner })
    expect(told).toMatchObject({ kind: 'approval-given', scope: { scope: { prefix: '/srv/notes' }, days: 30 } })
    await a.look()
    await a.ask(writes('/srv/notes/b'))
    expect(a.heard).toEqual(['allow-once', 'allow-once'])
    const [row] = await fresh.db.sql`
      select id, scope, effects, operation, issued_by, expires_at - issued_at as lasts from collab.grants
      where conversation = ${root.conversation}`
    expect(row).toMatchObject({ operation: null, effects: ['write'], issued_by: 'ou_test_owner on a card' })
    expect(Number(row?.['lasts'])).toBe(30 * DAY)
    const audited = await fresh.db.sql`select who, act from collab.audit_lines where subject = ${String(row?.['id'])}`
    expect([...audited]).toEqual([{ who: 'ou_test_owner', act: 'grant add' }])
    a.approvals.leave()
  })

  test('is read from what was asked: a press that names an offer where there was none allows this once', async () => {
    const rig = rigOf(fresh.db, [])
    const root = await rootInTurn(rig, 'run it')
    const a = await asking(rig, root)
    await a.ask(null)
    const [card] = await noticesOf(root.request, 'approval')
    const press = { act: 'allow-offered', request: root.request, approval: String(card?.['approval']) } as const
    expect(await answerApproval(a.x, press, { actor: owner })).toEqual({ kind: 'approval-given', standing: false })
    expect(await fresh.db.sql`select 1 from collab.grants where conversation = ${root.conversation}`).toHaveLength(0)
    a.approvals.leave()
  })
})

describe('a permission that an operator gives', () => {
  test('is given once by one command, is audited, and another one under the same key is a conflict', async () => {
    const rig = rigOf(fresh.db, [])
    const { conversation } = await rootInTurn(rig, 'x')
    const key = randomUUID()
    const first = await add(rig, notes(conversation), key)
    expect(first.outcome).toBe('accepted')
    expect(await add(rig, notes(conversation), key)).toEqual({ ...first, outcome: 'already-applied' })
    expect((await add(rig, notes(conversation, { effects: ['read'] }), key)).outcome).toBe('conflict')
    const lines = await fresh.db.sql`select who from collab.audit_lines where id = ${key}`
    expect([...lines]).toEqual([{ who: 'admin-token' }])
  })

  test.each<[string, Partial<GrantWanted>, string]>([
    ['somebody who is no owner', { openId: 'ou_of_another_app' }, 'not-an-owner'],
    ['an agent that nobody registered', { agent: 'nobody' }, 'agent-unknown'],
    [
      'a chat that nobody knows',
      { audience: { kind: 'conversation', conversation: 'none' as ConversationId } },
      'conversation-unknown',
    ],
    ['no reason', { reason: ' ' }, 'reason-unsound'],
    ['the root', { scope: { kind: 'path', host: HOST, prefix: '/' } }, 'scope-unsound'],
    ['a way up', { scope: { kind: 'path', host: HOST, prefix: '/srv/../etc' } }, 'scope-unsound'],
    ['every host', { scope: { kind: 'network', host: '*' }, effects: ['network'] }, 'scope-unsound'],
    [
      'commands on the network',
      { scope: { kind: 'network', host: 'x.test' }, effects: ['execute'] },
      'effect-not-possible',
    ],
    ['a parent that is not there', { parent: 'none' }, 'grant-unknown'],
  ])('is not given for %s, and leaves no row', async (_name, over, reason) => {
    const rig = rigOf(fresh.db, [])
    const { conversation } = await rootInTurn(rig, 'x')
    expect(await add(rig, notes(conversation, over))).toEqual({ outcome: 'refused', reason })
    expect(await fresh.db.sql`select 1 from collab.grants where conversation = ${conversation}`).toHaveLength(0)
  })

  acceptance(
    'A3',
    'made of a wider one is over when that is, and stops the running turn that relied on it',
    async () => {
      const rig = rigOf(fresh.db, [registered('worker')])
      const root = await rootInTurn(rig, 'keep notes')
      const wide = await given(rig, notes(root.conversation, { agent: agent('worker'), effects: ['read', 'write'] }))
      expect(await add(rig, notes(root.conversation, { parent: wide, days: 31 }))).toMatchObject({
        reason: 'ends-later',
      })
      const narrow = await given(
        rig,
        notes(root.conversation, { parent: wide, scope: { kind: 'path', host: HOST, prefix: '/srv/notes/week' } }),
      )
      const a = await asking(rig, root, 0)
      await a.ask(writes('/srv/notes/week/a'))
      await a.ask(writes('/srv/notes/a'))
      expect(a.heard).toEqual(['allow-once', 'reject-once'])
      await end(rig, wide)
      const [turn] = await fresh.db
        .sql`select stopped_by from collab.turns where id = ${must(root.manager.turn, 'the turn')}`
      expect(turn?.['stopped_by']).toBe(`grant-${wide}`)
      expect((await effective(rig, narrow)).effective).toBe('parent-ended')
      await a.ask(writes('/srv/notes/week/b'))
      expect(a.heard.at(-1)).toBe('reject-once')
      expect(await noticesOf(root.request, 'permission-ended')).toMatchObject([{ gap: { kind: 'parent-ended' } }])
      expect((await add(rig, notes(root.conversation, { parent: wide }))).outcome).toBe('refused')
    },
  )
})
