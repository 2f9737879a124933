import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decideConclude } from '../../src/collab/decide/resolve.js'
import type { IncomingMessage } from '../../src/collab/message.js'
import {
  MANAGER,
  type AskId,
  type Instant,
  type LaneId,
  type RequestId,
  type ResultId,
  type Revision,
  type TextDigest,
  type TurnId,
} from '../../src/collab/refs.js'
import { decideAndCommit } from '../../src/exchange/exchange.js'
import { conversationIdOf, ingressIdOf, laneOf, threadKeyOf } from '../../src/exchange/ids.js'
import { openRequest } from '../../src/exchange/open.js'
import { prepareTurn } from '../../src/exchange/prepare.js'
import { reviseRequest } from '../../src/exchange/revise.js'
import { turn as runLane } from '../../src/exchange/turn.js'
import { bindOwner } from '../../src/stores/principals/principals.js'
import { ensureConversation } from '../../src/stores/conversations/conversations.js'
import { remember } from '../../src/stores/ingress/ingress.js'
import { factsOf } from '../../src/stores/ledger/read.js'
import { endTurnRow, inputOf } from '../../src/stores/turns/turns.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { asksOf, beginTurn, event, messageIn, rigOf, stateOf, wakesLike, word, type Rig } from './agents-kit.js'
import { bot } from './outgoing-kit.js'
import { byOwner } from '../kit/exchange.js'

let fresh: FreshDb
let rig: Rig
beforeAll(async () => {
  fresh = await freshDb()
  rig = rigOf(fresh.db, [])
})
afterAll(() => fresh.drop())

interface Written {
  readonly request: RequestId
  readonly lane: LaneId
  readonly message: IncomingMessage
}

/** An owner's message, stored as it came and accepted. */
async function written(chat: string, text: string, over: Partial<IncomingMessage> = {}): Promise<Written> {
  const { x, clock } = rig
  clock.add(1)
  const message = { ...messageIn(chat, text, clock.now()), ...over }
  const stored = { bot, key: message.messageId, eventId: `e-${message.messageId}`, eventType: 'message' }
  await remember(x.db.sql, [
    {
      id: ingressIdOf(bot, message.messageId),
      event: {
        ...stored,
        kind: 'message',
        message,
        turnAuthority: { verdict: 'addressed', because: 'direct-message' },
      },
      door: 'test',
      receivedAt: clock.now(),
      receipt: null,
      judged: true,
    },
  ])
  const threadKey = threadKeyOf(message)
  const id = conversationIdOf(bot, chat, threadKey)
  const place = { id, bot, chatId: chat, threadKey, chatType: message.chatType }
  const conversation = await ensureConversation(x.db.sql, place, 'en', clock.now())
  await bindOwner(x.db.sql, { bot, openId: message.sender.openId, directChat: null }, 1)
  const request = await openRequest(x, {
    message,
    conversation,
    receivedAt: clock.now(),
    late: false,
    ...byOwner(message),
  })
  return { request, lane: laneOf(id), message }
}

/** The manager asks back: it puts the question off until the owner says more, and its turn ends with these words. */
async function askedBack({ request, lane }: Written, when: 'answer-from-owner' | 'at' = 'answer-from-owner') {
  const turn = await beginTurn(rig, request, MANAGER)
  const caller = { agent: MANAGER, session: 's', epoch: 1, lane, turn }
  const [ask] = (await asksOf(rig, request)) as [AskId]
  const until = { owner: 'ou_test_owner', condition: { when }, recheckAt: (rig.clock.now() + 900_000) as Instant }
  const asks = [{ ask, judgment: 'deferred' as const, reason: 'which colour?', until }]
  const judged = { eventId: event(), request, onRevision: 1 as Revision, asks }
  expect(word(await rig.tools.assess(caller, judged))).toBe('accepted')
  const input = await inputOf(fresh.db.sql, request)
  const concluded = await decideAndCommit(
    rig.x,
    {
      kind: 'conclude-turn',
      eventId: event(),
      requestId: request,
      at: rig.clock.now() as Instant,
      actor: { kind: 'agent', agent: MANAGER, turn },
      turn,
      result: randomUUID() as ResultId,
      textDigest: 'asked' as TextDigest,
      conclusionDigest: null,
      accessScope: 's',
      files: [],
    } as const,
    decideConclude,
    () => ({ input: { lane, state: 'held', because: 'deferred', position: input?.position ?? 0 } }),
  )
  expect(word(concluded)).toBe('accepted')
  await endTurnRow(fresh.db.sql, turn, 'completed', null, rig.clock.now())
  return ask
}

/** What the lane does when it is woken; nobody has a runtime here, so it stops where a turn would begin. */
const woken = ({ lane }: Written) =>
  runLane(rig.x, lane, { fence: 1, signal: new AbortController().signal, replayed: false })
const stands = async ({ request }: Written) => [...(await stateOf(rig, request)).asks.values()].map(({ is }) => is)
const dueIn = async ({ request }: Written) =>
  (await factsOf(fresh.db.sql, request)).flatMap((fact) => (fact.kind === 'deferral-due' ? [fact.because] : []))
const chat = () => `oc_${randomUUID()}`

async function promptOf({ request: id, lane }: Written, turn: TurnId): Promise<string> {
  const state = await stateOf(rig, id)
  if (state.request === null) throw new Error('there is no such request')
  const x = { ...rig.x, toolsUrl: 'http://127.0.0.1:3000/mcp' }
  const how = { shownBefore: null, context: { since: null, workspaceLane: lane, sessionLane: lane, otherSessions: [] } }
  return (await prepareTurn(x, state, state.request, lane, turn, how)).input.text
}

/** A message that was sent for a request. */
async function sentFor({ request, message }: Written): Promise<string> {
  const [delivery, messageId] = [randomUUID(), `om_${randomUUID()}`]
  await fresh.db.sql`
    insert into collab.deliveries (id, cause_kind, cause_id, route_key, route, bot, request, source, created_at)
    values (${delivery}, 'interim', ${delivery}, 'r', ${fresh.db.sql.json({ chatId: message.chatId })}, ${bot},
      ${request}, '{}', 1)`
  await fresh.db.sql`
    insert into collab.delivery_parts
      (delivery, index, sub_index, key, msg_type, content, bytes, renderer, state, message_id)
    values (${delivery}, 0, 0, 'k', 'text', '{}', 2, 't', 'verified', ${messageId})`
  return messageId
}

describe('an owner who was asked back', () => {
  test('and replies to the question: the reply goes on in the request that waits, before it has a turn of its own', async () => {
    const place = chat()
    const first = await written(place, 'Paint the shed.')
    await askedBack(first)
    const question = await sentFor(first)
    const reply = await written(place, 'Green.', { parentId: question })
    await woken(reply)
    expect(await stands(first)).toEqual(['owed', 'owed'])
    expect(await dueIn(first)).toEqual(['condition'])
    expect(await stateOf(rig, first.request)).toMatchObject({
      head: 2,
      sources: [first.message.messageId, reply.message.messageId],
    })
    expect(await stateOf(rig, reply.request)).toMatchObject({ closed: 'continued', attempts: new Map() })
    expect(await inputOf(fresh.db.sql, reply.request)).toMatchObject({ state: 'settled', because: 'continued' })
    // Again by any old job: nothing more happens.
    const { seq } = await stateOf(rig, first.request)
    await woken(reply)
    expect((await stateOf(rig, first.request)).head).toBe(2)
    expect((await stateOf(rig, first.request)).seq).toBe(seq)
  })

  test('and replies to the own message, or to one that had gone on there, is heard there, too', async () => {
    const place = chat()
    const first = await written(place, 'Paint the shed.')
    await askedBack(first)
    const reply = await written(place, 'Green.', { parentId: first.message.messageId })
    await woken(reply)
    expect(await dueIn(first)).toEqual(['condition'])
    const second = await written(place, 'Paint the door.')
    await askedBack(second)
    const more = await written(place, 'Blue.', { parentId: second.message.messageId })
    await woken(more)
    expect(await dueIn(first)).toEqual(['condition'])
    expect(await dueIn(second)).toEqual(['condition'])
  })

  test('and writes anything in a topic where exactly one request waits has answered; where two wait, nobody guesses', async () => {
    const topic = { threadId: 'omt_1', rootId: 'om_root', parentId: 'om_root', chatType: 'group' as const }
    const place = chat()
    const first = await written(place, 'Paint the shed.', topic)
    await askedBack(first)
    const reply = await written(place, 'Green.', topic)
    await woken(reply)
    expect(await dueIn(first)).toEqual(['condition'])

    const crowded = chat()
    const [one, two] = [await written(crowded, 'Shed.', topic), await written(crowded, 'Door.', topic)]
    await askedBack(one)
    await askedBack(two)
    const either = await written(crowded, 'Green.', topic)
    await woken(either)
    expect([await dueIn(one), await dueIn(two)]).toEqual([[], []])
    expect((await stateOf(rig, either.request)).closed).toBeNull()
  })

  test('and writes something else in the chat has not answered: it is a request of its own until the manager relates it', async () => {
    const place = chat()
    const first = await written(place, 'Paint the shed.')
    await askedBack(first)
    const next = await written(place, 'Green, please.')
    await woken(next)
    expect([await stands(first), await stands(next)]).toEqual([['deferred'], ['owed']])
    const turn = await beginTurn(rig, next.request, MANAGER)
    // The turn is told what waits, or nobody could relate it.
    const told = await promptOf(next, turn)
    expect(told).toContain(`request ${first.request} at revision 1 waits for an answer of the owner`)
    const manager = { agent: MANAGER, session: 's', epoch: 1, lane: next.lane, turn }
    const said = { eventId: event(), earlier: first.request, later: next.request, onRevision: 1 as Revision }
    expect(word(await rig.tools.relate(manager, { ...said, as: 'context' }))).toBe('accepted')
    expect(word(await rig.tools.relate(manager, { ...said, as: 'context' }))).toBe('already-applied')
    expect([await stands(first), await dueIn(first)]).toEqual([['owed'], ['condition']])
    expect(await inputOf(fresh.db.sql, first.request)).toMatchObject({ state: 'waiting' })
    expect(await promptOf(next, turn)).not.toContain('waits for an answer')
    expect(await wakesLike(rig, first.lane)).toHaveLength(1)
  })

  test('and corrects the request on its page has answered; a reply to one that waits for its time has not', async () => {
    const place = chat()
    const [first, timed] = [await written(place, 'Paint the shed.'), await written(place, 'Paint the door.')]
    await askedBack(first)
    await askedBack(timed, 'at')
    const corrected = await reviseRequest(rig.x, {
      requestId: first.request,
      kind: 'correction',
      text: 'Green.',
      onRevision: 1 as Revision,
      eventId: event(),
      actor: { kind: 'operator', session: 's' },
    })
    expect(word(corrected)).toBe('accepted')
    expect([await stands(first), await dueIn(first)]).toEqual([['owed', 'owed'], ['condition']])
    const reply = await written(place, 'Blue.', { parentId: timed.message.messageId })
    await woken(reply)
    expect([await stands(timed), await dueIn(timed)]).toEqual([['deferred'], []])
    expect((await stateOf(rig, reply.request)).closed).toBeNull()
  })
})
