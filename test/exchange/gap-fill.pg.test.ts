import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../src/lib/time.js'
import { intakeOf } from '../../src/stores/presence/gaps.js'
import { hear, refusedPlaces } from '../../src/stores/presence/places.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { colleague, dm, gaps, group, historyRig, inputs, otherBot, owner, type HistoryRig } from './history-kit.js'
import { bot } from './outgoing-kit.js'

let fresh: FreshDb
let rig: HistoryRig
beforeEach(async () => {
  fresh = await freshDb()
  rig = await historyRig(fresh.db)
})
afterEach(() => fresh.drop())

const states = async () => (await inputs(fresh.db)).map((one) => [one.message, one.because ?? one.state])
const sightings = () => fresh.db.sql<{ count: number }[]>`select count(*)::int as count from collab.ingress_duplicates`

/** Both places are known from here on. */
async function known(): Promise<void> {
  for (const chatId of [dm, group]) await rig.bring(rig.write(chatId, 'hello'))
  await rig.pass(2 * MINUTE)
}

describe('what was written while nobody was there', () => {
  test('is found in the order of writing and runs by itself; the push that comes after all is no second message', async () => {
    await known()
    const before = await inputs(fresh.db)
    const written = [1, 2, 3].map((n) => rig.write(dm, `missed ${n}`, { at: rig.clock.now() + n * MINUTE }))
    await rig.away(10 * MINUTE)
    await rig.fill()
    const after = (await inputs(fresh.db)).slice(before.length)
    expect(after).toEqual(written.map((one) => ({ message: one.id, state: 'waiting', because: null })))
    expect(await gaps(fresh.db)).toEqual(written.map((one) => ({ id: one.id, because: 'away' })))
    const [first] = written
    if (first === undefined) throw new Error('nothing written')
    await rig.bring(first)
    expect(await inputs(fresh.db)).toHaveLength(before.length + 3)
    expect((await sightings())[0]?.count).toBe(1)
    // Reading once more finds nothing new, and leaves no trace.
    rig.clock.add(MINUTE)
    expect((await rig.fill()).note).toContain('0 found')
    expect((await sightings())[0]?.count).toBe(1)
  })

  test('is held when somebody wrote in that place since; another place does not matter', async () => {
    await known()
    const inDm = rig.write(dm, 'missed', { at: rig.clock.now() + MINUTE })
    const inGroup = rig.write(group, 'missed too', { at: rig.clock.now() + MINUTE })
    await rig.away(10 * MINUTE)
    rig.clock.add(10 * SECOND)
    // The next one comes by its door before the history is read.
    const since = rig.write(dm, 'and now?')
    await rig.bring(since)
    await rig.fill()
    expect(await states()).toEqual(
      expect.arrayContaining([
        [inDm.id, 'late'],
        [since.id, 'waiting'],
        [inGroup.id, 'waiting'],
      ]),
    )
  })

  test('is held when it is older than the owner allows', async () => {
    await known()
    const old = rig.write(dm, 'long ago', { at: rig.clock.now() + MINUTE })
    const young = rig.write(group, 'just before', { at: rig.clock.now() + 150 * MINUTE })
    await rig.away(3 * HOUR)
    await rig.fill()
    expect(await states()).toEqual(
      expect.arrayContaining([
        [old.id, 'late'],
        [young.id, 'waiting'],
      ]),
    )
  })

  test('always is with a limit of 0, and so is an order, however young', async () => {
    await fresh.drop()
    fresh = await freshDb()
    rig = await historyRig(fresh.db, { lateRunWithinMs: 0 })
    await known()
    const said = rig.write(dm, 'missed', { at: rig.clock.now() + MINUTE })
    await rig.away(5 * MINUTE)
    await rig.fill()
    expect(await states()).toContainEqual([said.id, 'late'])
  })

  test('an order never runs: a known word is told stale, an unknown one waits', async () => {
    await known()
    const known_ = rig.write(dm, '/run', { at: rig.clock.now() + MINUTE })
    const unknown = rig.write(dm, '/restart', { at: rig.clock.now() + 2 * MINUTE })
    await rig.away(3 * MINUTE)
    await rig.fill()
    const rows = await fresh.db.sql<{ key: string; disposition: string }[]>`
      select key, disposition from collab.ingress_events where key in (${known_.id}, ${unknown.id}) order by position`
    expect(rows).toEqual([
      { key: known_.id, disposition: 'late-control' },
      { key: unknown.id, disposition: 'held' },
    ])
    const [notice] = await fresh.db.sql<{ source: { notice: object } }[]>`
      select source from collab.deliveries where cause_id = ${`late-control-${known_.id}`}`
    expect(notice?.source.notice).toMatchObject({ kind: 'late-control', word: '/run' })
  })

  test('a stop and a start of one second leave nothing out', async () => {
    await known()
    const said = rig.write(dm, 'in between', { at: rig.clock.now() + 500 })
    await rig.away(SECOND)
    await rig.fill()
    expect(await states()).toContainEqual([said.id, 'waiting'])
  })

  test('a message that was withdrawn meanwhile cancels what still waited, as its event would', async () => {
    const said = rig.write(dm, 'never mind')
    await rig.bring(said)
    expect(await states()).toEqual([[said.id, 'waiting']])
    rig.clock.add(MINUTE)
    rig.sandbox.world.recall(said.id, owner)
    await rig.away(MINUTE)
    await rig.fill()
    expect(await states()).toEqual([[said.id, 'recalled']])
  })
})

describe('what was written while a door was open and no event brought it', () => {
  test('is held, told of as a gap with its id, and counted until a door brings it after all', async () => {
    await known()
    const lost = rig.write(dm, 'lost')
    await rig.pass(MINUTE)
    await rig.fill()
    expect(await states()).toContainEqual([lost.id, 'late'])
    expect(await gaps(fresh.db)).toEqual([{ id: lost.id, because: 'connected' }])
    expect(await intakeOf(fresh.db.sql, bot, rig.clock.now())).toMatchObject({ messages: 2, missed: 1, missedAway: 0 })
    await rig.bring(lost)
    expect(await intakeOf(fresh.db.sql, bot, rig.clock.now())).toMatchObject({ missed: 0 })
    expect((await fresh.db.sql`select missed_at from collab.presence`)[0]).toEqual({ missed_at: lost.createTime })
  })

  test('what was just written is left to its own push', async () => {
    await known()
    const said = rig.write(dm, 'on its way')
    await rig.pass(5 * SECOND)
    await rig.fill()
    expect(await gaps(fresh.db)).toEqual([])
    await rig.bring(said)
    expect(await states()).toContainEqual([said.id, 'waiting'])
  })
})

describe('what is read of a history', () => {
  test('several pages, each message once, also when the platform makes us wait', async () => {
    await known()
    const written = Array.from({ length: 120 }, (_, n) => rig.write(dm, `n ${n}`, { at: rig.clock.now() + n * SECOND }))
    await rig.away(10 * MINUTE)
    const { faults } = rig.sandbox
    faults.add({ api: 'message.list', when: { nth: 2 }, do: { kind: 'rate-limit', resetSeconds: 7 } })
    faults.add({ api: 'message.list', when: { nth: 4 }, do: { kind: 'status', status: 502 } })
    const { waits } = await rig.fill()
    expect(waits).toBe(2)
    expect((await gaps(fresh.db)).map((gap) => gap.id)).toEqual(written.map((one) => one.id))
    expect((await sightings())[0]?.count).toBe(0)
  })

  test('topics of an ordinary group too: those that were known, and one that began meanwhile', async () => {
    await known()
    const root = rig.write(group, 'topic one')
    await rig.bring(root)
    const first = rig.write(group, 'in it', { threadOf: root.id })
    await rig.bring(first)
    await rig.pass(MINUTE)
    const at = rig.clock.now() + MINUTE
    const reply = rig.write(group, 'in the old topic', { threadOf: root.id, at })
    const newRoot = rig.write(group, 'topic two', { at })
    const newReply = rig.write(group, 'in the new topic', { threadOf: newRoot.id, at: at + SECOND })
    await rig.away(5 * MINUTE)
    await rig.fill()
    const found = (await gaps(fresh.db)).map((gap) => gap.id)
    expect(new Set(found)).toEqual(new Set([reply.id, newRoot.id, newReply.id]))
    const threads = await fresh.db.sql<{ id: string; thread: string }[]>`
      select key as id, event -> 'message' ->> 'threadId' as thread from collab.ingress_events where key = any(${found})`
    const threadOf = new Map(threads.map((one) => [one.id, one.thread]))
    expect(threadOf.get(reply.id)).toBe(first.threadId)
    expect(threadOf.get(newReply.id)).toBe(newReply.threadId)
  })

  test("a colleague's words become context; what bots and the platform write is nobody's loss", async () => {
    await known()
    const at = rig.clock.now() + MINUTE
    const said = rig.write(group, 'the build is red', { from: colleague, at })
    rig.write(group, 'beep', { from: otherBot, at })
    const { world } = rig.sandbox
    const raw = { msgType: 'system', content: JSON.stringify({ template: 'somebody joined' }) }
    world.say({ chatId: group, from: colleague, raw, silent: true, createTime: at })
    await rig.away(5 * MINUTE)
    await rig.fill()
    expect(await gaps(fresh.db)).toEqual([{ id: said.id, because: 'away' }])
    const rows = await fresh.db.sql`select 1 from collab.context_items where message_id = ${said.id}`
    expect(rows).toHaveLength(1)
  })

  test('nothing from before the bot heard anything in a place, and nothing of a place that it left', async () => {
    rig.write(dm, 'from before')
    await rig.pass(2 * MINUTE)
    await rig.bring(rig.write(dm, 'the first one heard'))
    await rig.pass(MINUTE)
    await rig.fill()
    expect(await gaps(fresh.db)).toEqual([])
  })

  test('a history that is refused is remembered as such, and does not stop the others', async () => {
    await known()
    const place = { id: 'p-gone', bot, chatId: 'oc_nowhere', chatType: 'group', threadId: '' } as const
    await hear(fresh.db.sql, place, { heardAt: rig.clock.now(), readUntil: rig.clock.now() })
    const said = rig.write(dm, 'missed', { at: rig.clock.now() + MINUTE })
    await rig.away(5 * MINUTE)
    await rig.fill()
    expect(await refusedPlaces(fresh.db.sql, bot)).toBe(1)
    expect(await gaps(fresh.db)).toEqual([{ id: said.id, because: 'away' }])
  })
})

test('whatever is brought, lost and missed in any order: each message is stored once, and a loss is known as one', async () => {
  type Step = {
    readonly do: 'write' | 'lose' | 'away' | 'fill' | 'again'
    readonly in: 'dm' | 'group'
    readonly ms: number
  }
  const step: fc.Arbitrary<Step> = fc.record({
    do: fc.constantFrom('write', 'write', 'lose', 'away', 'fill', 'again'),
    in: fc.constantFrom('dm', 'group'),
    ms: fc.integer({ min: 0, max: 10 * MINUTE }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      await fresh.drop()
      fresh = await freshDb()
      rig = await historyRig(fresh.db)
      await known()
      const brought: Awaited<ReturnType<typeof rig.write>>[] = []
      const lost: typeof brought = []
      for (const one of steps) {
        const chatId = one.in === 'dm' ? dm : group
        rig.clock.add(1 + one.ms)
        if (one.do === 'write') {
          const said = rig.write(chatId, 'w')
          await rig.bring(said)
          brought.push(said)
        } else if (one.do === 'lose') lost.push(rig.write(chatId, 'l'))
        else if (one.do === 'away') {
          lost.push(rig.write(chatId, 'a', { at: rig.clock.now() + Math.floor(one.ms / 2) }))
          await rig.away(one.ms)
        } else if (one.do === 'fill') await rig.fill()
        else if (brought[0] !== undefined) await rig.bring(brought[0])
      }
      await rig.pass(MINUTE)
      await rig.fill()
      const stored = await fresh.db.sql<{ key: string; disposition: string | null }[]>`
        select key, disposition from collab.ingress_events where kind = 'message'`
      const hellos = 2
      expect(stored).toHaveLength(hellos + brought.length + lost.length)
      expect(stored.every((row) => row.disposition !== null)).toBe(true)
      const known_ = new Set((await gaps(fresh.db)).map((gap) => gap.id))
      expect(known_).toEqual(new Set(lost.map((one) => one.id)))
      expect(await inputs(fresh.db)).toHaveLength(hellos + brought.length + lost.length)
    }),
    { numRuns: 8 },
  )
}, 240_000)
