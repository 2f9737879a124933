import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ToolCaller } from '../../src/collab/agent-tools.js'
import type { AskId, EffectId, LaneId, RequestId, Revision } from '../../src/collab/refs.js'
import { MANAGER } from '../../src/collab/refs.js'
import { laneOf } from '../../src/exchange/ids.js'
import { callerOf, standingToken, toolAccess } from '../../src/exchange/tokens.js'
import { issueToken, revokeToken } from '../../src/stores/tokens/tokens.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { until } from '../kit/platform.js'
import { agent, asksOf, event, openRoot, registered, rigOf, rootInTurn, stateOf, word, type Rig } from './agents-kit.js'

let fresh: FreshDb
let rig: Rig

beforeAll(async () => {
  fresh = await freshDb()
  const made = rigOf(fresh.db, [registered('anna'), registered('ben')])
  rig = { ...made, x: { ...made.x, toolsUrl: 'http://127.0.0.1:3000/mcp' } }
})
afterAll(async () => {
  await fresh.drop()
})

/** The caller behind a token, as the door has just proved it. */
async function proved(token: string): Promise<ToolCaller> {
  const caller = await callerOf(rig.x, token)
  if ('refused' in caller) throw new Error(`turned away: ${caller.refused}`)
  return caller
}

/** A request in the manager's running turn, and the manager as its own token proves it. */
async function inTurn() {
  const { request, conversation } = await rootInTurn(rig, 'Please see to it.')
  const lane = laneOf(conversation)
  const { token } = await toolAccess(rig.x, { agent: MANAGER, lane })
  const [ask] = (await asksOf(rig, request)) as [AskId]
  return { request, conversation, lane, ask, manager: await proved(token) }
}

const replace = (lane: LaneId) => toolAccess(rig.x, { agent: MANAGER, lane })
const accepting = (request: RequestId, ask: AskId) => ({
  eventId: event(),
  request,
  onRevision: 1 as Revision,
  asks: [{ ask, judgment: 'accepted' as const, reason: 'mine' }],
})
const asking = (request: RequestId) => ({
  eventId: event(),
  request,
  receiver: agent('anna'),
  intent: 'consultation' as const,
  asks: [],
  question: 'Is it so?',
  brief: '',
  refs: [],
  reason: 'knows it',
  direct: false,
})

/** Everything that a call could leave. */
async function ledger() {
  const [row] = await fresh.db.sql`
    select (select count(*) from collab.observations) as facts, (select count(*) from collab.texts) as texts,
      (select count(*) from collab.work_commands) as commands, (select count(*) from collab.deliveries) as deliveries,
      (select sum(generation) from collab.wakes) as wakes`
  return row
}

/** Waits until a statement of this database waits for a lock. */
const untilBlocked = () =>
  until(async () => {
    const rows = await fresh.db.direct`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return rows.length > 0
  }, 'a statement that waits for a lock')

describe('an executor that is replaced after the door has let it in', () => {
  acceptance('A18', 'has every act refused inside the ledger, and leaves nothing', async () => {
    const { request, conversation, lane, ask, manager } = await inTurn()
    const { child } = await rig.tools.ask(manager, asking(request))
    const [chatId] = await fresh.db.sql<{ id: string }[]>`
      select chat_id as id from collab.conversations where id = ${conversation}`
    const later = await openRoot(rig, 'And by noon.', chatId?.id ?? '')
    expect(word(await rig.tools.assess(manager, accepting(request, ask)))).toBe('accepted')
    const on = { request, onRevision: 1 as Revision }
    const ofChild = { request: child as RequestId, onRevision: 1 as Revision }
    const effect = { effectKind: 'git-push', target: 'main', input: 'a..b', doubt: { by: 'look-up' as const } }
    const declared = await rig.tools.declareEffect(manager, { eventId: event(), request, ...effect })
    await replace(lane)
    const before = await ledger()
    const { tools } = rig
    const said = { eventId: event() }
    const receipts = [
      await tools.assess(manager, accepting(request, ask)),
      await tools.report(manager, {
        ...said,
        request,
        covers: [ask],
        text: 'Done.',
        conclusion: null,
        artifacts: [],
        supersedes: null,
      }),
      await tools.ask(manager, asking(request)),
      await tools.revise(manager, { ...said, ...ofChild, text: 'And by noon.' }),
      await tools.cancel(manager, { ...said, ...ofChild }),
      await tools.reassign(manager, { ...said, request: child as RequestId, receiver: agent('ben'), reason: 'free' }),
      await tools.relate(manager, {
        ...said,
        earlier: request,
        later: later.request,
        onRevision: 1 as Revision,
        as: 'addition',
      }),
      await tools.split(manager, { ...said, ...on, ask, into: ['one', 'two'] }),
      await tools.linkWork(manager, { ...said, request, operation: 'op-1' }),
      await tools.declareEffect(manager, { ...said, request, ...effect }),
      await tools.settleEffect(manager, {
        ...said,
        request,
        effect: declared.effect as EffectId,
        became: 'failed',
        evidence: null,
      }),
      await tools.todoWrite(manager, {
        ...said,
        goal: 'goal-one',
        todo: null,
        title: 'Mend it',
        state: 'open',
        onRevision: null,
      }),
    ]
    expect(receipts.map((one) => (one.outcome === 'rejected' && 'refusal' in one ? one.refusal.reason : one))).toEqual(
      receipts.map(() => 'stale-epoch'),
    )
    expect(await ledger()).toEqual(before)
  })

  test('and repeats a call that was done is not told so any more', async () => {
    const { request, lane, ask, manager } = await inTurn()
    const call = accepting(request, ask)
    expect(word(await rig.tools.assess(manager, call))).toBe('accepted')
    expect(word(await rig.tools.assess(manager, call))).toBe('already-applied')
    await replace(lane)
    expect(word(await rig.tools.assess(manager, call))).toBe('stale-epoch')
  })

  test('and reads its inbox is not recorded as having been provided with it', async () => {
    const { request, manager } = await inTurn()
    const { child } = await rig.tools.ask(manager, asking(request))
    const { token } = await standingToken(rig.x, { agent: agent('anna'), session: 'laptop' })
    const anna = await proved(token)
    await standingToken(rig.x, { agent: agent('anna'), session: 'laptop' })
    await rig.tools.inboxRead(anna, { cursor: null, limit: 50 })
    expect((await stateOf(rig, child as RequestId)).provided.size).toBe(0)
  })

  test('that holds another seat is another one: only its own is ended', async () => {
    const { request, manager } = await inTurn()
    const other = await inTurn()
    await replace(other.lane)
    expect(word(await rig.tools.ask(manager, asking(request)))).toBe('accepted')
  })

  test('a token that was revoked meanwhile acts no more', async () => {
    const { request, lane, ask, manager } = await inTurn()
    await revokeToken(fresh.db.sql, `lane ${lane}`, manager.epoch, rig.clock.now())
    expect(word(await rig.tools.assess(manager, accepting(request, ask)))).toBe('stale-epoch')
  })
})

describe('a replacement at the very moment of an act', () => {
  acceptance('A18', 'that has not committed yet is waited for by the act, which is refused', async () => {
    const { request, lane, ask, manager } = await inTurn()
    const before = (await stateOf(rig, request)).seq
    let act: ReturnType<Rig['tools']['assess']> | null = null
    await fresh.db.tx(async (tx) => {
      await issueToken(tx, {
        agent: MANAGER,
        seat: `lane ${lane}`,
        session: lane,
        lane,
        digest: `digest of ${lane}`,
        now: rig.clock.now(),
        expiresAt: null,
      })
      act = rig.tools.assess(manager, accepting(request, ask))
      await untilBlocked()
    })
    expect(await act).toEqual({ outcome: 'rejected', refusal: { reason: 'stale-epoch' } })
    expect((await stateOf(rig, request)).seq).toBe(before)
  })

  acceptance('A18', 'waits for an act that has begun, which is then done before it', async () => {
    const { request, lane, ask, manager } = await inTurn()
    let act: ReturnType<Rig['tools']['assess']> | null = null
    let replaced: Promise<unknown> = Promise.resolve()
    let done = false
    await fresh.db.tx(async (tx) => {
      await tx`select 1 from collab.request_heads where request = ${request} for update`
      act = rig.tools.assess(manager, accepting(request, ask))
      await untilBlocked()
      replaced = replace(lane).then(() => (done = true))
      await until(async () => {
        const [row] = await fresh.db.direct<{ count: number }[]>`
          select count(*)::int as count from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`
        return row?.count === 2
      }, 'both to wait')
      expect(done).toBe(false)
    })
    expect(await act).toMatchObject({ outcome: 'accepted' })
    await replaced
    expect(word(await rig.tools.assess(manager, accepting(request, ask)))).toBe('stale-epoch')
  })

  acceptance('A7', 'in 200 races, a refused act left nothing and nothing was done after the replacement', async () => {
    const { request, lane, ask } = await inTurn()
    for (let round = 0; round < 200; round++) {
      const manager = await proved((await replace(lane)).token)
      const { seq } = await stateOf(rig, request)
      const call = accepting(request, ask)
      const [receipt] = await (round % 2 === 0
        ? Promise.all([rig.tools.assess(manager, call), replace(lane)])
        : Promise.all([replace(lane), rig.tools.assess(manager, call)]).then(([, one]) => [one]))
      expect(['accepted', 'stale-epoch']).toContain(word(receipt))
      const left = (await stateOf(rig, request)).seq - seq
      expect(left).toBe(word(receipt) === 'accepted' ? 1 : 0)
      expect(word(await rig.tools.assess(manager, accepting(request, ask)))).toBe('stale-epoch')
    }
  })
})
