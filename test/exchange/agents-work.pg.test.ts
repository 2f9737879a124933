import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { WorkAuthority, WorkCommand, WorkOutcome } from '../../src/collab/ports.js'
import { digestOf } from '../../src/lib/digest.js'
import { attachedInbox, laneInbox } from '../../src/stores/turns/inbox.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import {
  asksOf,
  attached,
  event,
  handOn,
  registered,
  rigOf,
  rootInTurn,
  stateOf,
  word,
  type Rig,
} from './agents-kit.js'

/** An owner of work that commits each operation once, and can be made to lose its answer. */
class OwnerInMemory implements WorkAuthority {
  readonly committed = new Map<string, { readonly digest: string; readonly outcome: WorkOutcome }>()
  mood: 'well' | 'answer-lost' | 'away' = 'well'

  async apply(command: WorkCommand): Promise<WorkOutcome> {
    if (this.mood === 'away') return { outcome: 'unavailable', because: 'the owner is away' }
    const known = this.committed.get(command.operation)
    if (known !== undefined) {
      if (known.digest !== digestOf(command)) return { outcome: 'conflict', because: 'said otherwise' }
      return 'receipt' in known.outcome ? { ...known.outcome, outcome: 'already' } : known.outcome
    }
    const refs = [{ ref: `todo-${this.committed.size + 1}`, revision: '1' }]
    const outcome = {
      outcome: 'committed',
      receipt: { owner: 'canonical', operation: command.operation, refs },
    } as const
    this.committed.set(command.operation, { digest: digestOf(command), outcome })
    return this.mood === 'answer-lost' ? { outcome: 'ambiguous', because: 'the answer was lost' } : outcome
  }
  async todos() {
    return []
  }
  async vision(goal: string) {
    return { goal, direction: 'north', acceptance: 'arrived', revision: 1 }
  }
}

let fresh: FreshDb
let rig: Rig
const owner = new OwnerInMemory()

beforeAll(async () => {
  fresh = await freshDb()
  rig = rigOf(fresh.db, [registered('anna', { goal: 'goal-one' }), registered('ben', { goal: 'goal-two' })], owner)
})
afterAll(async () => {
  await fresh.drop()
})

const writing = (over: Record<string, unknown> = {}) => ({
  eventId: event(),
  goal: 'goal-one',
  todo: null,
  title: 'Check the source',
  state: 'open' as const,
  onRevision: null,
  ...over,
})

async function childOf(name: string) {
  const { request, manager } = await rootInTurn(rig, 'Please see to it.')
  return { child: await handOn(rig, manager, request, name, { asks: await asksOf(rig, request) }), manager }
}

describe('work of another owner', () => {
  acceptance('A15', 'a command whose answer was lost is asked again, and its original receipt is linked', async () => {
    const { child } = await childOf('anna')
    const anna = attached('anna')
    const call = writing()
    owner.mood = 'answer-lost'
    expect(await rig.tools.todoWrite(anna, call)).toMatchObject({ outcome: 'ambiguous' })
    owner.mood = 'well'
    const before = owner.committed.size
    const again = await rig.tools.todoWrite(anna, call)
    expect(again.outcome).toBe('already')
    if (again.outcome !== 'already') throw new Error('the owner knows the operation')
    const { operation } = again.receipt
    const link = { eventId: event(), request: child, operation }
    expect(word(await rig.tools.linkWork(anna, link))).toBe('accepted')
    expect(word(await rig.tools.linkWork(anna, link))).toBe('already-applied')
    expect(owner.committed.size).toBe(before)
    expect((await stateOf(rig, child)).work).toEqual([again.receipt])
    expect(word(await rig.tools.linkWork(anna, { ...link, eventId: event() }))).toBe('nothing-owed')
  })

  test('the same event id with other words is a conflict, also when the owner is away', async () => {
    const call = writing()
    owner.mood = 'away'
    expect((await rig.tools.todoWrite(attached('anna'), call)).outcome).toBe('unavailable')
    expect((await rig.tools.todoWrite(attached('anna'), { ...call, title: 'Another' })).outcome).toBe('conflict')
    owner.mood = 'well'
    expect((await rig.tools.todoWrite(attached('anna'), call)).outcome).toBe('committed')
  })

  test('an operation of somebody else, or of nobody, is not linked; an owner that is away is said so', async () => {
    const { child } = await childOf('anna')
    const written = await rig.tools.todoWrite(attached('ben'), writing({ goal: 'goal-two' }))
    if (written.outcome !== 'committed') throw new Error('the owner commits')
    const link = { eventId: event(), request: child, operation: written.receipt.operation }
    expect(word(await rig.tools.linkWork(attached('anna'), link))).toBe('bad-reference')
    expect(word(await rig.tools.linkWork(attached('anna'), { ...link, operation: 'never' }))).toBe('bad-reference')
    const own = await rig.tools.todoWrite(attached('anna'), writing())
    if (own.outcome !== 'committed') throw new Error('the owner commits')
    owner.mood = 'away'
    const mine = { ...link, operation: own.receipt.operation }
    expect(await rig.tools.linkWork(attached('anna'), mine)).toMatchObject({
      refusal: { reason: 'not-admitted', because: ['unavailable: the owner is away'] },
    })
    owner.mood = 'well'
    expect(word(await rig.tools.linkWork(attached('anna'), mine))).toBe('accepted')
  })

  test('a worker knows its own goal only; the manager reads all', async () => {
    const { manager } = await childOf('anna')
    expect(await rig.tools.todoList(attached('anna'), 'goal-two')).toBeNull()
    expect(await rig.tools.todoList(attached('anna'), 'goal-one')).toEqual([])
    expect(await rig.tools.visionRead(attached('anna'), 'goal-two')).toBeNull()
    expect(await rig.tools.visionRead(manager, 'goal-two')).toMatchObject({ goal: 'goal-two' })
    const foreign = await rig.tools.todoWrite(attached('anna'), writing({ goal: 'goal-two' }))
    expect(foreign).toEqual({ outcome: 'rejected', because: 'goal-unknown' })
    const claim = { eventId: event(), goal: 'goal-two', todo: 't', leaseMs: 60_000 }
    expect((await rig.tools.todoClaim(attached('anna'), claim)).outcome).toBe('rejected')
    const replan = { eventId: event(), goal: 'goal-one', direction: 'a\u0000', acceptance: 'b', onRevision: 1 }
    expect((await rig.tools.visionReplan(attached('anna'), replan)).outcome).toBe('rejected')
  })
})

describe('discovery', () => {
  acceptance('A24', 'names everybody with the reasons, the one that waits for the caller among them', async () => {
    const { child, manager } = await childOf('anna')
    const found = await rig.tools.discover(manager, { need: 'check a source', named: null, includeStopped: false })
    expect(found.map((one) => [one.agent, one.admitted])).toEqual(
      expect.arrayContaining([
        ['anna', true],
        ['ben', true],
      ]),
    )
    expect(found.every((one) => one.reasons.length > 0)).toBe(true)
    const before = (await stateOf(rig, child)).seq
    await rig.tools.discover(attached('anna'), { need: 'x'.repeat(20_000), named: null, includeStopped: true })
    expect((await stateOf(rig, child)).seq).toBe(before)
  })
})

describe('ten thousand entries', () => {
  test('are paged by index alone, whether pulled or in a lane', async () => {
    const { sql } = fresh.db
    await sql`
      insert into collab.work_requests (id, bot, conversation, parent, origin_channel, origin_message, opened_at)
      select '00000000-0000-7000-8000-' || lpad(n::text, 12, '0'), 'b', 'c', null, 'agent', 'big-' || n, n
      from generate_series(1, 10000) n`
    await sql`
      insert into collab.dispatch_attempts (id, request, revision, target, intent, effectful)
      select 'big-' || n, '00000000-0000-7000-8000-' || lpad(n::text, 12, '0'), 1, 'bulk', 'consultation', false
      from generate_series(1, 10000) n`
    await sql`
      insert into collab.turn_inputs (request, lane, position, state, because)
      select '00000000-0000-7000-8000-' || lpad(n::text, 12, '0'), 'bulk-lane', n, 'waiting', null
      from generate_series(1, 10000) n`
    await sql`analyze`
    const seen = new Set<string>()
    let after = ''
    for (let page = 0; page < 201; page++) {
      const places = await attachedInbox(sql, 'bulk', after, 50)
      if (places.length === 0) break
      for (const place of places) seen.add(place.request)
      after = places.at(-1)?.request ?? after
    }
    expect(seen.size).toBe(10_000)
    const middle = await laneInbox(sql, 'bulk-lane', { at: 5_000, id: '' }, 50)
    expect(middle.map((place) => place.at)).toEqual(Array.from({ length: 50 }, (_, n) => 5_000 + n))
    expect(
      await plan(sql`explain (format json) select distinct a.request, 0 as at from collab.dispatch_attempts a
      join collab.turn_inputs i on i.request = a.request and i.state <> 'settled'
      where a.target = 'bulk' and a.fence_released_at is null and a.request > '00000000-0000-7000-8000-000000005000'
      order by a.request limit 51`),
    ).not.toContain('Seq Scan')
  })
})

async function plan(explained: PromiseLike<readonly unknown[]>): Promise<string> {
  return JSON.stringify(await explained)
}
