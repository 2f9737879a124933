import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MANAGER, type ActorRef, type ConversationId, type LaneId, type RequestId } from '../../src/collab/refs.js'
import { laneOf } from '../../src/exchange/ids.js'
import type { Said } from '../../src/exchange/marks.js'
import { openRequest } from '../../src/exchange/open.js'
import { settleStop, stopConversation } from '../../src/exchange/stop.js'
import { turn } from '../../src/exchange/turn.js'
import { must } from '../../src/lib/assert.js'
import type { Db } from '../../src/stores/db.js'
import { conversationOf } from '../../src/stores/conversations/conversations.js'
import { turnsStoppedBy } from '../../src/stores/turns/stops.js'
import { inputOf, startTurn } from '../../src/stores/turns/turns.js'
import { freshDb } from '../kit/pg.js'
import {
  agent,
  asksOf,
  beginTurn,
  event,
  messageIn,
  openRoot,
  registered,
  rigOf,
  rootInTurn,
  stateOf,
  wakesLike,
  type Rig,
} from './agents-kit.js'
import { bot } from './outgoing-kit.js'
import { byOwner } from '../kit/exchange.js'

let db: Db
let drop: () => Promise<void>
let rig: Rig
beforeAll(async () => {
  const fresh = await freshDb()
  db = fresh.db
  drop = fresh.drop
  rig = rigOf(db, [registered('mina', { endpoint: { kind: 'managed', runtime: 'rehearsal', command: null } })])
})
afterAll(() => drop())

const owner: ActorRef = { kind: 'person', bot, openId: 'ou_test_owner' }

/** A stop in a conversation, said now and after everything that stands. */
async function stopIn(conversation: ConversationId, cause: string = randomUUID()): Promise<string> {
  const known = must(await conversationOf(db.sql, conversation), 'the conversation')
  rig.clock.add(1)
  const position = Number.MAX_SAFE_INTEGER - 1
  const said: Said = { ingress: 'none', cause, conversation: known, position, writtenAt: 0, actor: owner }
  await stopConversation(rig.x, said, async () => {})
  const [wake] = await wakesLike(rig, 'stop-')
  const marks = await db.sql<{ id: string }[]>`
    select id from collab.conversation_marks where conversation = ${conversation} order by marked_at desc limit 1`
  expect(wake).toBeDefined()
  return must(marks[0], 'the mark').id
}
const held = async (request: RequestId) => (await inputOf(db.sql, request))?.because ?? null

describe('a stop', () => {
  test('asks the turn of its conversation to end, and holds what waits behind it', async () => {
    const root = await rootInTurn(rig, 'work', 'oc_stop_1')
    const behind = await openRoot(rig, 'later', 'oc_stop_1')
    const elsewhere = await rootInTurn(rig, 'other work', 'oc_stop_2')
    const mark = await stopIn(root.conversation)
    expect((await turnsStoppedBy(db.sql, mark)).map((one) => one.id)).toEqual([root.manager.turn])
    expect(await held(behind.request)).toBe('stopped')
    expect((await stateOf(rig, behind.request)).held).toBe('stopped')
    // The one that runs is held by its own end.
    expect((await stateOf(rig, root.request)).held).toBeNull()
    expect((await stateOf(rig, elsewhere.request)).held).toBeNull()
    expect(await settleStop(rig.x, mark)).toMatchObject({ outcome: 'later', because: 'turn-running' })
  })

  test('said once more it is the same stop: nothing else is chosen or held', async () => {
    const root = await rootInTurn(rig, 'work', 'oc_stop_3')
    const mark = await stopIn(root.conversation, 'the same')
    const later = await openRoot(rig, 'written after it', 'oc_stop_3')
    expect(await stopIn(root.conversation, 'the same')).toBe(mark)
    expect(await turnsStoppedBy(db.sql, mark)).toHaveLength(1)
    expect(await held(later.request)).toBeNull()
  })

  test('of a turn whose process died is carried out by the next run of its lane: it ends as stopped, and nothing starts', async () => {
    const root = await rootInTurn(rig, 'work', 'oc_stop_4')
    const mark = await stopIn(root.conversation)
    const lane = laneOf(root.conversation)
    await turn(rig.x, lane, { fence: 2, signal: new AbortController().signal, replayed: false })
    const state = await stateOf(rig, root.request)
    expect(state.held).toBe('stopped')
    expect([...state.turns.values()].map((one) => one.ending)).toEqual([{ ended: 'interrupted', because: 'stop' }])
    expect(await held(root.request)).toBe('stopped')
    expect(await db.sql`select 1 from collab.turns where lane = ${lane}`).toHaveLength(1)
    expect(await settleStop(rig.x, mark)).toMatchObject({ outcome: 'done' })
    expect(await wakesLike(rig, `receipts-${root.request}`)).toHaveLength(1)
  })

  test('work that an agent handed on is stopped only when no turn of a person runs', async () => {
    const root = await rootInTurn(rig, 'work', 'oc_stop_5')
    const [ask] = await asksOf(rig, root.request)
    const handed = await rig.tools.ask(root.manager, {
      eventId: event(),
      request: root.request,
      receiver: agent('mina'),
      intent: 'delegation',
      asks: [must(ask, 'the ask')],
      question: 'Do it.',
      brief: '',
      refs: [],
      reason: 'hers',
      direct: false,
    })
    const child = must(handed.child, 'the child')
    await beginTurn(rig, child, agent('mina'))
    const first = await stopIn(root.conversation)
    expect((await turnsStoppedBy(db.sql, first)).map((one) => one.request)).toEqual([root.request])
    await db.sql`update collab.turns set ended_at = 1, ended = 'interrupted' where id = ${root.manager.turn}`
    const second = await stopIn(root.conversation)
    expect((await turnsStoppedBy(db.sql, second)).map((one) => one.request)).toEqual([child])
  })

  test('a message from before it that is accepted after it is held from the first', async () => {
    const { conversation } = await openRoot(rig, 'first', 'oc_stop_6')
    await stopIn(conversation)
    const known = must(await conversationOf(db.sql, conversation), 'the conversation')
    const open = (position: number) => {
      rig.clock.add(1)
      const message = messageIn('oc_stop_6', 'on its way', rig.clock.now())
      return openRequest(rig.x, {
        message,
        conversation: known,
        receivedAt: rig.clock.now(),
        late: false,
        position,
        ...byOwner(message),
      })
    }
    expect(await held(await open(7))).toBe('stopped')
    expect(await held(await open(Number.MAX_SAFE_INTEGER))).toBeNull()
  })

  test('against turns that begin at the same moment: each is asked to end, or finds that it was held', async () => {
    const outcomes = new Map<string, number>()
    for (let round = 0; round < 100; round++) {
      const chat = `oc_race_${round}`
      const { request, conversation } = await openRoot(rig, 'work', chat)
      const lane: LaneId = laneOf(conversation, MANAGER)
      const id = randomUUID()
      // As a lane does it: the row first, then a look at the input.
      const begin = async () => {
        const row = { id, lane, request, attempt: id, revision: 1, runtime: 'test', holder: 'test', fence: 1 }
        await startTurn(db.sql, { ...row, startedAt: rig.clock.now() })
        return (await inputOf(db.sql, request))?.state === 'waiting'
      }
      const stop = () => stopIn(conversation)
      // One after the other in either order, and at once: how a real race ends is up to the machine.
      const [runs, mark] = await [
        async () => [await begin(), await stop()] as const,
        async () => [await stop(), await begin()].toReversed(),
        () => Promise.all([begin(), stop()]),
        async () => (await Promise.all([stop(), begin()])).toReversed(),
      ][round % 4]!()
      const asked = (await turnsStoppedBy(db.sql, String(mark))).length === 1
      if (runs === true) expect(asked).toBe(true)
      expect(await held(request)).toBe('stopped')
      const name = `${runs === true ? 'runs' : 'held'}, ${asked ? 'asked' : 'not asked'}`
      outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
    }
    // Both ends were seen.
    expect(outcomes.size).toBeGreaterThan(1)
  })
})
