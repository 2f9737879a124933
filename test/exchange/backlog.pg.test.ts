import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ConversationId, LaneId, RequestId } from '../../src/collab/refs.js'
import { tellBacklog } from '../../src/exchange/backlog.js'
import { runHeld, runNewest, skipHeld } from '../../src/exchange/held.js'
import { laneOf } from '../../src/exchange/ids.js'
import type { Said } from '../../src/exchange/marks.js'
import { must } from '../../src/lib/assert.js'
import { conversationOf } from '../../src/stores/conversations/conversations.js'
import { stateOfRequest } from '../../src/stores/ledger/read.js'
import { inputOf } from '../../src/stores/turns/turns.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { openRoot } from './agents-kit.js'
import { answers, finish, processOn, ScriptedRuntime, type Process } from './steer-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

interface Place {
  readonly p: Process
  readonly chat: string
  readonly lane: LaneId
  readonly conversation: ConversationId
  readonly running: Promise<unknown>
  write(count: number): Promise<readonly RequestId[]>
  said(): Promise<Said>
}

/** A turn that runs on a runtime that cannot be told, and what is written meanwhile. */
async function busy(able = false): Promise<Place> {
  const p = processOn(fresh.db, new ScriptedRuntime(able))
  const chat = `oc_${randomUUID()}`
  const { request, conversation } = await openRoot(p, 'Count the herons.', chat)
  const lane = laneOf(conversation)
  const { running } = await p.begin(lane, request)
  return {
    p,
    chat,
    lane,
    conversation,
    running,
    async write(count) {
      const written: RequestId[] = []
      for (let n = 0; n < count; n += 1) written.push((await openRoot(p, `And ${n}.`, chat)).request)
      return written
    },
    said: async () => ({
      ingress: randomUUID(),
      cause: randomUUID(),
      conversation: must((await conversationOf(fresh.db.sql, conversation)) ?? undefined, 'a conversation'),
      position: Number.MAX_SAFE_INTEGER,
      writtenAt: p.clock.now(),
      actor: { kind: 'person', bot: 'cli_test' as never, openId: 'ou_test_owner' },
    }),
  }
}

const standing = async (requests: readonly RequestId[]) =>
  await Promise.all(
    requests.map(async (id) => {
      const { state, because } = must((await inputOf(fresh.db.sql, id)) ?? undefined, 'an input')
      return because === null ? state : `${state} ${because}`
    }),
  )
const cards = async (conversation: string) =>
  (
    await fresh.db.sql<{ notice: { count: number } }[]>`
      select source -> 'notice' as notice from collab.deliveries
      where source #>> '{notice,kind}' = 'backlog-held' and source #>> '{notice,conversation}' = ${conversation}
      order by created_at, id`
  ).map((row) => row.notice.count)
const tell = async ({ p, conversation }: Place) => {
  p.clock.add(20_000)
  return await tellBacklog(p.x, conversation)
}

describe('more follow-ups than wait by themselves', () => {
  acceptance(
    'A23',
    'the first twenty are queued, the others held until their owner’s word; none is dropped',
    async () => {
      const place = await busy()
      const written = await place.write(23)
      await place.p.look()
      expect(await standing(written)).toEqual([
        ...Array.from({ length: 20 }, () => 'waiting'),
        ...Array.from({ length: 3 }, () => 'held backlog'),
      ])
      for (const id of written.slice(20)) {
        expect(await stateOfRequest(fresh.db.sql, id)).toMatchObject({ held: 'backlog', closed: null })
      }
      finish(place.p.agent.last, answers('Seven.'))
      await place.running
    },
  )

  test('one card asks for all of them, and stands for those that come after it', async () => {
    const place = await busy()
    const written = await place.write(22)
    await place.p.look()
    expect(await tellBacklog(place.p.x, place.conversation)).toMatchObject({ outcome: 'later' })
    expect(await tell(place)).toMatchObject({ note: 'told' })
    const more = await place.write(4)
    await place.p.look()
    await tell(place)
    expect(await cards(place.conversation)).toEqual([2])
    expect(await standing([...written.slice(20), ...more])).toEqual(Array.from({ length: 6 }, () => 'held backlog'))
    finish(place.p.agent.last, answers('Seven.'))
    await place.running
  })

  test('run lets all of them run, in order, and none of them is held again', async () => {
    const place = await busy()
    const written = await place.write(23)
    await place.p.look()
    await tell(place)
    expect(await runHeld(place.p.x, await place.said())).toMatchObject({ kind: 'late-released', count: 3 })
    await place.p.look()
    expect(await standing(written)).toEqual(Array.from({ length: 23 }, () => 'waiting'))
    // What comes after that is asked about anew.
    await place.write(1)
    await place.p.look()
    await tell(place)
    expect(await cards(place.conversation)).toEqual([3, 1])
    finish(place.p.agent.last, answers('Seven.'))
    await place.running
    for (const words of ['The first twenty.', 'The rest.']) {
      const begun = place.p.agent.turns.length
      const next = place.p.run(place.lane)
      await expect.poll(() => place.p.agent.turns.length, { timeout: 30_000 }).toBe(begun + 1)
      finish(place.p.agent.last, answers(words))
      await next
    }
    const states = await Promise.all(written.map((id) => stateOfRequest(fresh.db.sql, id)))
    expect(states.map((state) => state.closed).filter((closed) => closed === null)).toEqual([])
  })

  test('only the newest: it runs, and the others are let go, each with its reason; said again it is the same', async () => {
    const place = await busy()
    const written = await place.write(24)
    await place.p.look()
    const said = await place.said()
    expect(await runNewest(place.p.x, said)).toEqual({ kind: 'newest-released', skipped: 3 })
    expect(await runNewest(place.p.x, said)).toEqual({ kind: 'newest-released', skipped: 3 })
    expect(await standing(written.slice(20))).toEqual([
      ...Array.from({ length: 3 }, () => 'settled skipped'),
      'waiting',
    ])
    expect(await runNewest(place.p.x, await place.said())).toEqual({ kind: 'nothing-held' })
    finish(place.p.agent.last, answers('Seven.'))
    await place.running
  })

  test('skip lets them go and leaves the queue as it is', async () => {
    const place = await busy()
    const written = await place.write(21)
    await place.p.look()
    expect(await skipHeld(place.p.x, await place.said())).toMatchObject({ kind: 'late-skipped', count: 1 })
    expect(await standing(written)).toEqual([...Array.from({ length: 20 }, () => 'waiting'), 'settled skipped'])
    finish(place.p.agent.last, answers('Seven.'))
    await place.running
  })

  test('what the running turn was told does not count among those that wait', async () => {
    const place = await busy(true)
    const written = await place.write(25)
    await place.p.look()
    expect(place.p.agent.last.steered).toHaveLength(25)
    expect(new Set(await standing(written))).toEqual(new Set(['waiting']))
    finish(place.p.agent.last, answers('Seven.'))
    await place.running
  })
})

describe('a follow-up that waits for long', () => {
  acceptance(
    'A23',
    'after an hour behind a turn it is held with a choice, and one that is younger is not',
    async () => {
      const place = await busy()
      const [old] = await place.write(1)
      place.p.clock.add(3_599_000)
      const [young] = await place.write(1)
      await place.p.look()
      const both = [old, young].flatMap((id) => id ?? [])
      expect(await standing(both)).toEqual(['waiting', 'waiting'])
      place.p.clock.add(2_000)
      await place.p.look()
      expect(await standing(both)).toEqual(['held backlog', 'waiting'])
      expect(await tell(place)).toMatchObject({ note: 'told' })
      expect(await cards(place.conversation)).toEqual([1])
      finish(place.p.agent.last, answers('Seven.'))
      await place.running
    },
  )
})
