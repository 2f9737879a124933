import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ToolCaller } from '../../src/collab/agent-tools.js'
import { decideEndTurn } from '../../src/collab/decide/record.js'
import { type AskId, type EffectId, type Instant, type RequestId } from '../../src/collab/refs.js'
import { decideAndCommit } from '../../src/exchange/exchange.js'
import { cancelChild } from '../../src/exchange/returns.js'
import { eventIdOf, laneOf } from '../../src/exchange/ids.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import {
  agent,
  asksOf,
  attached,
  beginTurn,
  event,
  handOn,
  rev,
  registered,
  rigOf,
  rootInTurn,
  stateOf,
  wakesLike,
  word,
  type Rig,
} from './agents-kit.js'

let fresh: FreshDb
let rig: Rig

beforeAll(async () => {
  fresh = await freshDb()
  rig = rigOf(fresh.db, [
    registered('anna'),
    registered('ben'),
    registered('mina', { endpoint: { kind: 'managed', runtime: 'rehearsal', command: null } }),
  ])
})
afterAll(async () => {
  await fresh.drop()
})

const handed = (
  from: ToolCaller,
  request: RequestId,
  receiver: string,
  intent: 'consultation' | 'delegation' = 'delegation',
) => handOn(rig, from, request, receiver, { intent })

/** The child in the receiver's hands: provided and accepted. */
async function takenOn(name: string, child: RequestId): Promise<AskId> {
  const [ask] = (await asksOf(rig, child)) as [AskId]
  await rig.tools.inboxRead(attached(name), { cursor: null, limit: 50 })
  const receipt = await rig.tools.assess(attached(name), {
    eventId: event(),
    request: child,
    onRevision: rev(1),
    asks: [{ ask, judgment: 'accepted', reason: 'mine' }],
  })
  expect(word(receipt)).toBe('accepted')
  return ask
}

const root = () => rootInTurn(rig, 'Please see to it.')

describe('revising and cancelling', () => {
  test('only whoever asked revises, on the revision that it saw', async () => {
    const { request, manager } = await root()
    const child = await handed(manager, request, 'anna')
    const said = { eventId: event(), request: child, onRevision: rev(1), text: 'And by noon.' }
    expect(word(await rig.tools.revise(attached('anna'), said))).toBe('not-receiver')
    expect(word(await rig.tools.revise(manager, { ...said, onRevision: rev(4) }))).toBe('stale-revision')
    expect(await rig.tools.revise(manager, said)).toMatchObject({ outcome: 'accepted', revision: 2 })
    expect(word(await rig.tools.revise(manager, said))).toBe('already-applied')
    const state = await stateOf(rig, child)
    expect(state).toMatchObject({ head: 2, request: { target: 'anna', parent: request } })
    const { items } = await rig.tools.inboxRead(attached('anna'), { cursor: null, limit: 50 })
    const item = items.find((one) => one.request === child)
    expect(item?.asks.map((one) => one.text)).toEqual(['Please do it.', 'And by noon.'])
    expect(item?.brief).toContain('Corrected by agent:manager:')
  })

  test('a cancellation ends the request, tells its asker, and goes on to what came of it', async () => {
    const { request, manager } = await root()
    const child = await handed(manager, request, 'anna')
    const below = await handed(attached('anna'), child, 'ben')
    const sibling = await handed(manager, request, 'ben')
    const said = { eventId: event(), request: child, onRevision: rev(1) }
    expect(word(await rig.tools.cancel(attached('ben'), said))).toBe('request-unknown')
    expect(word(await rig.tools.cancel(attached('anna'), said))).toBe('not-receiver')
    expect(word(await rig.tools.cancel(manager, said))).toBe('accepted')
    expect((await stateOf(rig, child)).closed).toBe('cancelled')
    expect(await wakesLike(rig, `return-${child}`)).toHaveLength(1)
    expect(await wakesLike(rig, `cancel-${below}`)).toHaveLength(1)
    await cancelChild(rig.x, below)
    await cancelChild(rig.x, below)
    expect((await stateOf(rig, below)).closed).toBe('cancelled')
    expect((await stateOf(rig, sibling)).closed).toBeNull()
    const { items } = await rig.tools.inboxRead(attached('anna'), { cursor: null, limit: 50 })
    expect(items.map((item) => item.request)).not.toContain(child)
    // A result that comes now is too late, and says so.
    const [ask] = (await asksOf(rig, child)) as [AskId]
    const late = { eventId: event(), request: child, covers: [ask], text: 'Done.', conclusion: null }
    expect(word(await rig.tools.report(attached('anna'), { ...late, artifacts: [], supersedes: null }))).toBe(
      'request-closed',
    )
  })
})

describe('reassigning', () => {
  const move = (request: RequestId, to: string) => ({ eventId: event(), request, receiver: agent(to), reason: 'free' })

  acceptance('A7', 'a receiver that pulls by itself and has read the work keeps the fence', async () => {
    const { request, manager } = await root()
    const child = await handed(manager, request, 'anna')
    await rig.tools.inboxRead(attached('anna'), { cursor: null, limit: 50 })
    expect(word(await rig.tools.reassign(manager, move(child, 'ben')))).toBe('fence-held')
    expect((await stateOf(rig, child)).attempts.size).toBe(1)
  })

  test('one that never read it loses it: the new receiver has it, and the old one no more', async () => {
    const { request, manager } = await root()
    const child = await handed(manager, request, 'anna')
    expect(word(await rig.tools.reassign(attached('anna'), move(child, 'ben')))).toBe('not-receiver')
    expect(word(await rig.tools.reassign(manager, move(child, 'anna')))).toBe('not-admitted')
    expect(word(await rig.tools.reassign(manager, move(child, 'nobody')))).toBe('agent-unknown')
    expect(word(await rig.tools.reassign(manager, move(child, 'ben')))).toBe('accepted')
    const state = await stateOf(rig, child)
    expect([...state.attempts.values()]).toMatchObject([
      { target: 'anna', released: 'quiescent' },
      { target: 'ben', released: null, effectful: true },
    ])
    const inbox = async (name: string) =>
      (await rig.tools.inboxRead(attached(name), { cursor: null, limit: 50 })).items.map((item) => item.request)
    expect(await inbox('anna')).not.toContain(child)
    expect(await inbox('ben')).toContain(child)
    await takenOn('ben', child)
  })

  test('a running turn keeps it; when it has ended the lane moves with the receiver', async () => {
    const { request, manager, conversation } = await root()
    const child = await handed(manager, request, 'mina')
    const turn = await beginTurn(rig, child, agent('mina'))
    expect(word(await rig.tools.reassign(manager, move(child, 'ben')))).toBe('turn-running')
    const [attempt] = [...(await stateOf(rig, child)).attempts.keys()]
    if (attempt === undefined) throw new Error('the child has an attempt')
    await decideAndCommit(
      rig.x,
      {
        kind: 'end-turn',
        eventId: eventIdOf('ended', turn),
        requestId: child,
        at: rig.clock.now() as Instant,
        turn,
        attempt,
        ending: { ended: 'interrupted', because: 'stop' },
        tries: 3,
      } as const,
      decideEndTurn,
    )
    expect(word(await rig.tools.reassign(manager, move(child, 'ben')))).toBe('accepted')
    const [input] = await fresh.db.sql`select lane, state, because from collab.turn_inputs where request = ${child}`
    expect(input).toEqual({ lane: laneOf(conversation, agent('ben')), state: 'held', because: 'attached' })
    expect((await stateOf(rig, child)).request?.target).toBe('ben')
  })
})

describe('effects', () => {
  const declaring = (request: RequestId, over: Record<string, unknown> = {}) => ({
    eventId: event(),
    request,
    effectKind: 'http-post',
    target: 'https://example.test/items',
    input: '{"n":1}',
    doubt: { by: 'look-up' as const },
    ...over,
  })

  acceptance('A7', 'declared once with one provider key; a second waits until the first is known', async () => {
    const { request, manager } = await root()
    const child = await handed(manager, request, 'anna')
    await takenOn('anna', child)
    const anna = attached('anna')
    const call = declaring(child)
    const first = await rig.tools.declareEffect(anna, call)
    expect(first).toMatchObject({ outcome: 'accepted', providerKey: expect.any(String) })
    expect(await rig.tools.declareEffect(anna, call)).toMatchObject({
      outcome: 'already-applied',
      effect: first.effect,
      providerKey: first.providerKey,
    })
    expect(word(await rig.tools.declareEffect(anna, { ...call, input: '{"n":2}' }))).toBe('conflict')
    expect(word(await rig.tools.declareEffect(anna, declaring(child)))).toBe('effect-open')
    const effect = first.effect as EffectId
    const settling = { eventId: event(), request: child, effect, became: 'confirmed' as const, evidence: null }
    expect(word(await rig.tools.settleEffect(anna, settling))).toBe('text-empty')
    expect(word(await rig.tools.settleEffect(manager, { ...settling, evidence: 'item 7' }))).toBe('effect-unknown')
    expect(word(await rig.tools.settleEffect(anna, { ...settling, evidence: 'item 7' }))).toBe('accepted')
    expect(word(await rig.tools.declareEffect(anna, declaring(child)))).toBe('accepted')
    const rows = await fresh.db.sql`select provider_key from collab.effect_intents where request = ${child}`
    expect(rows).toHaveLength(2)
  })

  test('are not declared by a consultation, on an unassessed correction, or with a window that is none', async () => {
    const { request, manager } = await root()
    const looking = await handed(manager, request, 'anna', 'consultation')
    await takenOn('anna', looking)
    expect(word(await rig.tools.declareEffect(attached('anna'), declaring(looking)))).toBe('fence-held')
    const doing = await handed(manager, request, 'ben')
    await takenOn('ben', doing)
    const doubt = { by: 'resubmit' as const, windowMs: 0 }
    expect(word(await rig.tools.declareEffect(attached('ben'), declaring(doing, { doubt })))).toBe('bad-reference')
    await rig.tools.revise(manager, { eventId: event(), request: doing, onRevision: rev(1), text: 'Not this one.' })
    expect(word(await rig.tools.declareEffect(attached('ben'), declaring(doing)))).toBe('basis-unresolved')
  })

  acceptance('A7', 'a cancellation waits for the outcome of an effect and is acknowledged with it', async () => {
    const { request, manager } = await root()
    const child = await handed(manager, request, 'anna')
    await takenOn('anna', child)
    const { effect } = await rig.tools.declareEffect(attached('anna'), declaring(child))
    expect(word(await rig.tools.cancel(manager, { eventId: event(), request: child, onRevision: rev(1) }))).toBe(
      'accepted',
    )
    expect((await stateOf(rig, child)).closed).toBeNull()
    const settling = { eventId: event(), request: child, effect: effect as EffectId, became: 'failed' as const }
    expect(word(await rig.tools.settleEffect(attached('anna'), { ...settling, evidence: null }))).toBe('accepted')
    expect((await stateOf(rig, child)).closed).toBe('cancelled')
    expect(await wakesLike(rig, `return-${child}`)).toHaveLength(1)
  })
})
