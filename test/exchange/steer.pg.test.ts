import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ToolCaller } from '../../src/collab/agent-tools.js'
import type { Instant, RequestId } from '../../src/collab/refs.js'
import { laneOf } from '../../src/exchange/ids.js'
import { openRequest } from '../../src/exchange/open.js'
import { wakeDeferred } from '../../src/exchange/returns.js'
import { statusOf } from '../../src/exchange/status.js'
import { stopConversation } from '../../src/exchange/stop.js'
import { must } from '../../src/lib/assert.js'
import { factsOf, stateOfRequest } from '../../src/stores/ledger/read.js'
import { conversationOf } from '../../src/stores/conversations/conversations.js'
import { putMark } from '../../src/stores/marks/marks.js'
import { inputOf } from '../../src/stores/turns/turns.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { event, messageIn, openRoot, rev, word } from './agents-kit.js'
import { answers, fails, finish, processOn, ScriptedRuntime, type Process } from './steer-kit.js'
import { byOwner } from '../kit/exchange.js'

let fresh: FreshDb
let p: Process
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())
beforeEach(() => {
  p = processOn(fresh.db)
})

/** A turn that runs for a first message, and a second one that waits behind it. */
async function followedUp(on: Process = p, chat = `oc_${randomUUID()}`) {
  const { request, conversation } = await openRoot(on, 'Count the herons.', chat)
  const lane = laneOf(conversation)
  const { running, caller } = await on.begin(lane, request)
  const { request: later } = await openRoot(on, 'And the storks, please.', chat)
  return { request, later, lane, running, caller, conversation, chat }
}

const relating = (earlier: RequestId, later: RequestId, as: 'correction' | 'addition' | 'context' = 'addition') => ({
  eventId: event(),
  earlier,
  later,
  onRevision: rev(1),
  as,
})
const relate = async (caller: ToolCaller, said: ReturnType<typeof relating>) => word(await p.tools.relate(caller, said))
const stateOf = (request: RequestId) => stateOfRequest(fresh.db.sql, request)
const kindsOf = async (request: RequestId) => (await factsOf(fresh.db.sql, request)).map((fact) => fact.kind)
const asksOf = async (request: RequestId) => [...(await stateOf(request)).asks.values()].map((ask) => ask.is)

describe('a follow-up behind a turn that can be told', () => {
  acceptance('A23', 'its words reach the running turn with their request, and it stays in its lane', async () => {
    const { request, later, running, conversation } = await followedUp()
    await p.look()
    const [told, ...more] = p.agent.last.steered
    expect(more).toEqual([])
    expect(must(told, 'words').text).toMatch(
      new RegExp(
        `request ${request} \\(now at revision 1\\)[^]*Request ${later}, revision 1[^]*And the storks, please.`,
      ),
    )
    expect(must(told, 'words').text).not.toContain('Count the herons')
    expect((await stateOf(later)).steers.get(p.agent.last.input.turn)).toEqual({ into: request, became: 'taken' })
    expect(await inputOf(fresh.db.sql, later)).toMatchObject({ state: 'waiting' })
    expect(await statusOf(p.x, conversation)).toMatchObject({ status: { told: 1, waiting: 0 } })
    finish(p.agent.last, answers('Seven herons.'))
    await running
    // That turn is over: now it waits like any other.
    expect(await statusOf(p.x, conversation)).toMatchObject({ status: { told: 0, waiting: 1 } })
  })

  acceptance('A23', 'related by the agent it is answered by that turn: one answer, and no second turn', async () => {
    const { request, later, lane, running, caller } = await followedUp()
    await p.look()
    expect(await relate(caller, relating(request, later, 'correction'))).toBe('accepted')
    expect((await stateOf(request)).turns.get(must(caller.turn, 'a turn'))).toMatchObject({ revision: 2 })
    finish(p.agent.last, answers('Seven herons and two storks.'))
    expect(await running).toMatchObject({ outcome: 'done', note: 'answered' })
    const state = await stateOf(request)
    expect(state).toMatchObject({ head: 2, closed: 'resolved', fence: null })
    expect(await asksOf(request)).toEqual(['covered', 'covered'])
    expect(await stateOf(later)).toMatchObject({ closed: 'continued' })
    expect(state.results).toHaveLength(1)
    const [delivery, ...others] = await fresh.db.sql<{ source: { alsoEnds: string[]; bearing?: string } }[]>`
      select source from collab.deliveries where request in (${request}, ${later})`
    expect(others).toEqual([])
    // The receipts of both messages end with it, and it says nothing of an older or newer answer.
    expect(must(delivery, 'a delivery').source.alsoEnds).toEqual(state.sources.slice(1))
    expect(must(delivery, 'a delivery').source.bearing).toBeUndefined()
    expect(await p.run(lane)).toMatchObject({ note: 'nothing owed' })
    expect(p.agent.turns).toHaveLength(1)
  })

  acceptance('A23', 'that the agent leaves gets its own turn, which says that it was told before', async () => {
    const { request, later, lane, running } = await followedUp()
    await p.look()
    finish(p.agent.last, answers('Seven herons.'))
    await running
    expect(await asksOf(later)).toEqual(['owed'])
    const next = p.run(lane)
    await expect.poll(() => p.agent.turns.length).toBe(2)
    expect(p.agent.last.input.text).toContain('And the storks, please.')
    expect(p.agent.last.input.text).toContain(`also told to the turn of ${request}`)
    finish(p.agent.last, answers('Two storks.'))
    await next
    expect(await asksOf(later)).toEqual(['covered'])
    expect((await stateOf(request)).results).toHaveLength(1)
    expect((await stateOf(later)).results).toHaveLength(1)
  })

  acceptance('A23', 'several are told in the order in which they were written, each once', async () => {
    const { request, later, running, caller, chat } = await followedUp()
    await p.look()
    const { request: third } = await openRoot(p, 'And the cranes.', chat)
    await p.look()
    await p.look()
    expect(p.agent.last.steered.map(({ text }) => /Request (\S+), revision/u.exec(text)?.[1])).toEqual([later, third])
    expect(await relate(caller, relating(request, later))).toBe('accepted')
    expect(await relate(caller, { ...relating(request, third), onRevision: rev(2) })).toBe('accepted')
    finish(p.agent.last, answers('All of them.'))
    await running
    expect(await asksOf(request)).toEqual(['covered', 'covered', 'covered'])
  })

  acceptance(
    'A23',
    'when the turn fails, what it had taken up is owed to the next one with everything else',
    async () => {
      const { request, later, lane, running, caller } = await followedUp()
      await p.look()
      expect(await relate(caller, relating(request, later))).toBe('accepted')
      finish(p.agent.last, fails)
      await expect(running).rejects.toThrow('exited')
      expect(await asksOf(request)).toEqual(['owed', 'owed'])
      const next = p.run(lane)
      await expect.poll(() => p.agent.turns.length).toBe(2)
      expect(p.agent.last.input.text).toContain('And the storks, please.')
      finish(p.agent.last, answers('Both.'))
      await next
      expect(await stateOf(request)).toMatchObject({ closed: 'resolved' })
      expect((await stateOf(request)).results).toHaveLength(1)
    },
  )

  acceptance('A23', 'when the turn fails, what it had only been told still runs', async () => {
    const { later, lane, running } = await followedUp()
    await p.look()
    finish(p.agent.last, fails)
    await expect(running).rejects.toThrow('exited')
    for (const words of ['Seven herons.', 'Two storks.']) {
      const begun = p.agent.turns.length
      const next = p.run(lane)
      await expect.poll(() => p.agent.turns.length).toBe(begun + 1)
      finish(p.agent.last, answers(words))
      await next
    }
    expect(await asksOf(later)).toEqual(['covered'])
  })

  acceptance('A23', 'a stop holds it like everything that waits, and nothing more is put into that turn', async () => {
    const { later, running, conversation, chat } = await followedUp()
    await p.look()
    const said = {
      ingress: randomUUID(),
      cause: randomUUID(),
      conversation: must((await conversationOf(fresh.db.sql, conversation)) ?? undefined, 'a conversation'),
      position: Number.MAX_SAFE_INTEGER,
      writtenAt: p.clock.now(),
      actor: { kind: 'host' },
    } as const
    p.clock.add(10)
    await stopConversation(p.x, said, async () => {})
    const { request: after } = await openRoot(p, 'After the stop.', chat)
    await p.look()
    expect(p.agent.last.steered).toHaveLength(1)
    finish(p.agent.last, { kind: 'ended', ended: 'interrupted' })
    await running
    expect(await stateOf(later)).toMatchObject({ held: 'stopped' })
    expect(await kindsOf(after)).not.toContain('steer-intended')
  })

  test('one that the turn refuses as too late is queued, and nothing more is tried', async () => {
    const { later, lane, running, chat } = await followedUp()
    p.agent.onSteer = async () => 'too-late'
    await p.look()
    await openRoot(p, 'And the cranes.', chat)
    await p.look()
    expect(p.agent.last.steered).toHaveLength(1)
    const turn = p.agent.last.input.turn
    expect((await stateOf(later)).steers.get(turn)).toMatchObject({ became: 'too-late' })
    finish(p.agent.last, answers('Seven herons.'))
    await running
    const next = p.run(lane)
    await expect.poll(() => p.agent.turns.length).toBe(2)
    expect(p.agent.last.input.text).not.toContain('also told')
    finish(p.agent.last, answers('The rest.'))
    await next
    expect(await asksOf(later)).toContain('covered')
  })

  test('a call whose outcome nobody knows counts as not told', async () => {
    const { request, later, running, caller } = await followedUp()
    p.agent.onSteer = async () => {
      throw new Error('the pipe broke')
    }
    await p.look()
    expect((await stateOf(later)).steers.get(p.agent.last.input.turn)).toMatchObject({ became: 'unknown' })
    expect(await relate(caller, relating(request, later))).toBe('accepted')
    finish(p.agent.last, answers('Seven herons.'))
    await running
    expect(await asksOf(request)).toEqual(['covered', 'owed'])
  })

  test('an agent that is faster than the record of it is heard after the record', async () => {
    const { request, later, running, caller } = await followedUp()
    let related: Promise<string> | undefined
    p.agent.onSteer = async () => {
      related = relate(caller, relating(request, later))
      await new Promise((resolve) => setImmediate(resolve))
      return 'taken'
    }
    await p.look()
    expect(await related).toBe('accepted')
    finish(p.agent.last, answers('Both.'))
    await running
    expect(await asksOf(request)).toEqual(['covered', 'covered'])
  })
})

describe('what is not put into a turn', () => {
  acceptance('A23', 'a follow-up on a runtime that cannot: it is queued, and answered once', async () => {
    p = processOn(fresh.db, new ScriptedRuntime(false))
    const { later, lane, running } = await followedUp()
    await p.look()
    expect(p.agent.last.steered).toEqual([])
    expect(await kindsOf(later)).toEqual(['request-opened'])
    finish(p.agent.last, answers('Seven herons.'))
    await running
    const next = p.run(lane)
    await expect.poll(() => p.agent.turns.length).toBe(2)
    finish(p.agent.last, answers('Two storks.'))
    await next
    expect((await stateOf(later)).results).toHaveLength(1)
  })

  test('words that the agent found by itself: related, they are owed, and the turn does not answer them', async () => {
    p = processOn(fresh.db, new ScriptedRuntime(false))
    const { request, later, running, caller } = await followedUp()
    expect(await relate(caller, relating(request, later))).toBe('accepted')
    expect((await stateOf(request)).turns.get(must(caller.turn, 'a turn'))).toMatchObject({ revision: 1 })
    finish(p.agent.last, answers('Seven herons.'))
    await running
    expect(await asksOf(request)).toEqual(['covered', 'owed'])
    expect(await kindsOf(request)).not.toContain('turn-steered')
  })

  test.each([
    ['of somebody else', { sender: 'ou_another_owner', writtenBefore: 0, fresh: false }],
    ['that came late', { sender: 'ou_test_owner', writtenBefore: 3_600_000, fresh: false }],
    ['for a fresh conversation', { sender: 'ou_test_owner', writtenBefore: 0, fresh: true }],
  ])('a message %s waits for a turn of its own', async (_what, { sender, writtenBefore, fresh: isFresh }) => {
    const chat = `oc_${randomUUID()}`
    const { request, conversation: id } = await openRoot(p, 'Count the herons.', chat)
    const conversation = must((await conversationOf(fresh.db.sql, id)) ?? undefined, 'a conversation')
    const { running } = await p.begin(laneOf(id), request)
    p.clock.add(10)
    const now = p.clock.now()
    if (isFresh) {
      const at = { ingress: null, position: now, writtenAt: now, markedAt: now }
      await putMark(fresh.db.sql, { id: randomUUID(), conversation: id, kind: 'new', ...at })
    }
    p.clock.add(10)
    const written = messageIn(chat, 'And the storks.', p.clock.now() - writtenBefore)
    const message = { ...written, sender: { ...written.sender, openId: sender } }
    const later = await openRequest(p.x, {
      message,
      conversation,
      receivedAt: p.clock.now(),
      late: false,
      ...byOwner(message),
    })
    await p.look()
    expect(p.agent.last.steered).toEqual([])
    expect(await kindsOf(later)).toEqual(['request-opened'])
    finish(p.agent.last, answers('Seven herons.'))
    await running
  })

  test('a message of an owner who was removed meanwhile', async () => {
    const { later, running } = await followedUp()
    Object.assign(p.x.settings, { ownerOpenIds: new Set(['ou_another_owner']) })
    await p.look()
    expect(p.agent.last.steered).toEqual([])
    expect(await kindsOf(later)).toEqual(['request-opened'])
    finish(p.agent.last, answers('Seven herons.'))
    await running
  })

  test('a follow-up behind a turn that no word of a person started', async () => {
    const chat = `oc_${randomUUID()}`
    const { request, conversation } = await openRoot(p, 'Tell me on Friday.', chat)
    const lane = laneOf(conversation)
    const first = await p.begin(lane, request)
    const [ask] = [...(await stateOf(request)).asks.keys()]
    const recheckAt = (p.clock.now() + 60_000) as Instant
    const until = { owner: 'manager', condition: { when: 'at' as const }, recheckAt }
    const judged = { ask: must(ask, 'an ask'), judgment: 'deferred' as const, reason: 'not yet', until }
    expect(
      word(await p.tools.assess(first.caller, { eventId: event(), request, onRevision: rev(1), asks: [judged] })),
    ).toBe('accepted')
    finish(p.agent.last, answers('On Friday, then.'))
    await first.running
    p.clock.add(60_000)
    await wakeDeferred(p.x, request)
    const second = await p.begin(lane, request)
    const { request: later } = await openRoot(p, 'And the storks.', chat)
    await p.look()
    expect(await kindsOf(later)).toEqual(['request-opened'])
    finish(p.agent.last, answers('It is Friday.'))
    await second.running
  })

  acceptance('A23', 'looked at three times at once its words are put in once', async () => {
    const agent = new ScriptedRuntime()
    p = processOn(fresh.db, agent)
    const { later, running } = await followedUp()
    await Promise.all([p.look(), p.look(), p.look()])
    expect(agent.last.steered).toHaveLength(1)
    expect((await kindsOf(later)).filter((kind) => kind === 'steer-intended')).toHaveLength(1)
    finish(agent.last, answers('Seven herons.'))
    await running
  })
})
