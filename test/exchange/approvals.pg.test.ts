import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Verdict } from '../../src/collab/ports.js'
import { MANAGER, type TurnId } from '../../src/collab/refs.js'
import { approvalsOf } from '../../src/exchange/approval.js'
import { answerApproval } from '../../src/exchange/answer-approval.js'
import { endGrant } from '../../src/exchange/revoke-grant.js'
import type { Notice } from '../../src/collab/notice.js'
import { must } from '../../src/lib/assert.js'
import { sha256 } from '../../src/lib/digest.js'
import type { Db } from '../../src/stores/db.js'
import { endTurnRow } from '../../src/stores/turns/turns.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { openRoot, rigOf, rootInTurn, stateOf, type Rig } from './agents-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

const owner = { kind: 'person', bot: 'cli_test_app', openId: 'ou_test_owner' } as never
const WAIT = 60_000

/** The permissions of one running turn, with what its runtime hears; the looks are made by hand. */
async function asking(rig: Rig, request: Parameters<typeof stateOf>[1], turn: TurnId, db: Db = fresh.db) {
  const heard: (readonly [string, Verdict])[] = []
  const looks = new Set<() => Promise<void>>()
  const x = {
    ...rig.x,
    db,
    settings: { ...rig.x.settings, approvalWaitMs: WAIT },
    every: (_ms: number, look: () => Promise<void>) => {
      looks.add(look)
      return () => void looks.delete(look)
    },
  }
  const of = must((await stateOf(rig, request)).request, 'the request')
  const approvals = approvalsOf(x, { request: of, agent: MANAGER }, turn, {
    answer: async (approval, verdict) => void heard.push([approval, verdict]),
  })
  return { x, approvals, heard, looks, look: () => Promise.all([...looks].map((one) => one())) }
}

const cards = async (request: string) =>
  await fresh.db.sql`select source -> 'notice' ->> 'approval' as approval from collab.deliveries
    where request = ${request} and source -> 'notice' ->> 'kind' = 'approval' order by created_at, id`
const notices = async (request: string) =>
  (
    await fresh.db.sql<{ notice: Extract<Notice, { kind: 'approval' }> }[]>`
      select source -> 'notice' as notice from collab.deliveries
      where request = ${request} and source -> 'notice' ->> 'kind' = 'approval' order by created_at, id`
  ).map((row) => row.notice)
const ends = async (request: string) =>
  (
    await fresh.db.sql`select payload ->> 'as' as as from collab.observations
      where request = ${request} and kind = 'approval-settled' order by seq`
  ).map((row) => row['as'] as string)

describe('a permission that is asked for', () => {
  test('by a turn that is not known to run is asked of nobody and refused at once', async () => {
    const rig = rigOf(fresh.db, [])
    const { request } = await openRoot(rig, 'before it began')
    const a = await asking(rig, request, 'no-such-turn' as TurnId)
    await a.approvals.asked({ approval: 'one', operation: 'rm -rf build', use: null })
    expect(a.heard).toEqual([['one', 'reject-once']])
    expect(a.looks.size).toBe(0)
    expect(await cards(request)).toEqual([])
    expect(await a.approvals.close()).toEqual(['rm -rf build'])
  })

  test('twice at once has two cards, and each answer reaches its own', async () => {
    const rig = rigOf(fresh.db, [])
    const { request, manager } = await rootInTurn(rig, 'two of them')
    const a = await asking(rig, request, must(manager.turn, 'the turn'))
    await Promise.all([
      a.approvals.asked({ approval: 'one', operation: 'git push', use: null }),
      a.approvals.asked({ approval: 'two', operation: 'git push', use: null }),
    ])
    const asked = (await cards(request)).map((row) => row['approval'] as string).toSorted()
    expect(asked).toHaveLength(2)
    const [first, second] = asked as [string, string]
    await answerApproval(a.x, { act: 'refuse', request, approval: first }, { actor: owner })
    await answerApproval(a.x, { act: 'allow-once', request, approval: second }, { actor: owner })
    await a.look()
    expect(a.heard.toSorted()).toEqual([
      ['one', 'reject-once'],
      ['two', 'allow-once'],
    ])
    expect(await a.approvals.close()).toEqual([])
  })

  test('is named once when its time and its turn end together', async () => {
    const rig = rigOf(fresh.db, [])
    const { request, manager } = await rootInTurn(rig, 'both at once')
    const a = await asking(rig, request, must(manager.turn, 'the turn'))
    await a.approvals.asked({ approval: 'one', operation: 'deploy it', use: null })
    rig.clock.add(WAIT)
    const looking = a.look()
    const notDone = await a.approvals.close()
    await looking
    expect(notDone).toEqual(['deploy it'])
    expect(await ends(request)).toEqual(['lapsed'])
  })

  test('is no longer looked at when its turn broke', async () => {
    const rig = rigOf(fresh.db, [])
    const { request, manager } = await rootInTurn(rig, 'broken')
    const a = await asking(rig, request, must(manager.turn, 'the turn'))
    await a.approvals.asked({ approval: 'one', operation: 'deploy it', use: null })
    expect(a.looks.size).toBe(1)
    a.approvals.leave()
    expect(a.looks.size).toBe(0)
  })

  test('and answered in the last moment is answered', async () => {
    const rig = rigOf(fresh.db, [])
    const { request, manager } = await rootInTurn(rig, 'just in time')
    const a = await asking(rig, request, must(manager.turn, 'the turn'))
    await a.approvals.asked({ approval: 'one', operation: 'deploy it', use: null })
    const [card] = await cards(request)
    rig.clock.add(WAIT)
    const said = { act: 'allow-once', request, approval: String(card?.['approval']) } as const
    expect(await answerApproval(a.x, said, { actor: owner })).toEqual({ kind: 'approval-given', standing: false })
    await a.look()
    expect(a.heard).toEqual([['one', 'allow-once']])
    expect(await a.approvals.close()).toEqual([])
  })

  test.each([
    ['at the limit of a card', 6_000, 6_000],
    ['longer than a card', 6_001, 5_000],
  ])('%s: %i characters, of which the card shows %i', async (_, length, shown) => {
    const rig = rigOf(fresh.db, [])
    const { request, manager } = await rootInTurn(rig, 'long')
    const a = await asking(rig, request, must(manager.turn, 'the turn'))
    await a.approvals.asked({ approval: 'one', operation: '"'.repeat(length), use: null })
    const [card] = await notices(request)
    expect(card?.operation).toHaveLength(shown)
    // What nobody has read whole is allowed once or not at all, by whatever press.
    const cut = shown === length ? undefined : { more: length - shown, digest: sha256('"'.repeat(length)) }
    expect(card?.cut).toEqual(cut)
    const said = { act: 'allow-always', request, approval: String(card?.approval) } as const
    const standing = cut === undefined
    expect(await answerApproval(a.x, said, { actor: owner })).toEqual({ kind: 'approval-given', standing })
    a.approvals.leave()
  })
})

acceptance('A3', 'a standing permission that is revoked between its look-up and its use allows nothing', async () => {
  const rig = rigOf(fresh.db, [])
  const chat = `oc_${randomUUID()}`
  const first = await rootInTurn(rig, 'for good', chat)
  const given = await asking(rig, first.request, must(first.manager.turn, 'the turn'))
  await given.approvals.asked({ approval: 'one', operation: 'git fetch', use: null })
  const [card] = await cards(first.request)
  const approval = String(card?.['approval'])
  await answerApproval(given.x, { act: 'allow-always', request: first.request, approval }, { actor: owner })
  given.approvals.leave()
  const [grant] = await fresh.db.sql`select id from collab.grants where conversation = ${first.conversation}`
  await endTurnRow(fresh.db.sql, must(first.manager.turn, 'the turn'), 'completed', null, rig.clock.now())
  const second = await rootInTurn(rig, 'again', chat)
  let raced = false
  // The first transaction of the asking is the use; the revocation commits right before it.
  const db: Db = {
    ...fresh.db,
    async tx(work) {
      if (!raced) {
        raced = true
        await endGrant(rig.x, { grant: String(grant?.['id']), eventId: randomUUID(), who: 'operator' })
      }
      return await fresh.db.tx(work)
    },
  }
  const a = await asking(rig, second.request, must(second.manager.turn, 'the turn'), db)
  await a.approvals.asked({ approval: 'two', operation: 'git fetch', use: null })
  expect(raced).toBe(true)
  expect(a.heard).toEqual([])
  expect(await cards(second.request)).toHaveLength(1)
  a.approvals.leave()
})
