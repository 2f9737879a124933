import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DeliverySource } from '../../src/collab/delivery.js'
import type { Notice } from '../../src/collab/notice.js'
import { cancellationOf } from '../../src/collab/project/cancellation.js'
import { MANAGER, type AskId, type EffectId, type RequestId } from '../../src/collab/refs.js'
import { endWithoutAnswer } from '../../src/exchange/end-turn.js'
import { laneOf } from '../../src/exchange/ids.js'
import { cancelChild, returnToParent } from '../../src/exchange/returns.js'
import { reviseRequest } from '../../src/exchange/revise.js'
import type { TurnRun } from '../../src/exchange/run-turn.js'
import { tellBelow } from '../../src/exchange/tell-cancel.js'
import { inputOf } from '../../src/stores/turns/turns.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import {
  asksOf,
  attached,
  event,
  handOn,
  openRoot,
  registered,
  rev,
  rigOf,
  rootInTurn,
  stateOf,
  word,
  type Rig,
  type Root,
} from './agents-kit.js'

let fresh: FreshDb
let rig: Rig
beforeAll(async () => {
  fresh = await freshDb()
  rig = rigOf(fresh.db, [registered('anna'), registered('ben')])
})
afterAll(() => fresh.drop())

const root = () => rootInTurn(rig, 'Deploy it.')

const cancel = (request: RequestId, key = event()) =>
  reviseRequest(rig.x, {
    requestId: request,
    kind: 'cancellation',
    onRevision: rev(1),
    eventId: key,
    actor: { kind: 'operator', session: 's' },
  })

/** What the place of a request was told, oldest first. */
async function told(request: RequestId): Promise<readonly Notice[]> {
  const rows = await fresh.db.sql<{ source: Extract<DeliverySource, { kind: 'notice' }> }[]>`
    select source from collab.deliveries where request = ${request} and cause_kind = 'notice' order by created_at, id`
  return rows.map(({ source }) => source.notice)
}
const kinds = async (request: RequestId) => (await told(request)).map(({ kind }) => kind)
const stands = async (request: RequestId) => cancellationOf(await stateOf(rig, request))?.stands ?? null

async function takeOn({ request, manager }: Root): Promise<AskId> {
  const [ask] = (await asksOf(rig, request)) as [AskId]
  const asks = [{ ask, judgment: 'accepted' as const, reason: 'mine' }]
  expect(word(await rig.tools.assess(manager, { eventId: event(), request, onRevision: rev(1), asks }))).toBe(
    'accepted',
  )
  return ask
}

const declare = async (from: Root['manager'], request: RequestId): Promise<EffectId> => {
  const said = { eventId: event(), request, effectKind: 'deploy', target: 'prod', input: 'v2' }
  const receipt = await rig.tools.declareEffect(from, { ...said, doubt: { by: 'look-up' } })
  expect(word(receipt)).toBe('accepted')
  return receipt.effect as EffectId
}
const settle = (from: Root['manager'], request: RequestId, effect: EffectId, became: 'confirmed' | 'failed') =>
  rig.tools.settleEffect(from, { eventId: event(), request, effect, became, evidence: 'seen' })

/** The turn of the manager ends as its lane ends it: stopped, or without a word after its tools have spoken. */
async function end({ request, conversation }: Root, how: 'interrupted' | 'completed' = 'interrupted'): Promise<void> {
  rig.clock.add(1)
  const state = await stateOf(rig, request)
  const turn = state.running === null ? undefined : state.turns.get(state.running)
  const input = await inputOf(fresh.db.sql, request)
  if (turn === undefined || state.request === null || input === null) throw new Error('no turn runs')
  const run = {
    lane: laneOf(conversation),
    input: { request, state: 'waiting', because: null, position: input.position },
    request: state.request,
    sources: state.sources,
    attempt: turn.attempt,
    agent: MANAGER,
    hold: { fence: 1, signal: new AbortController().signal, replayed: false },
  } as Partial<TurnRun> as TurnRun
  const said = how === 'interrupted' ? { ended: how } : { ended: how, final: '', conclusion: null }
  await endWithoutAnswer(
    rig.x,
    run,
    { kind: 'ended', ...said },
    { turn: turn.id },
    { cancelled: true, stoppedBy: null },
  )
}

describe('the owner is told', () => {
  acceptance('A7', 'that a cancellation took effect, when nothing ran: once', async () => {
    const { request } = await openRoot(rig, 'Deploy it.')
    const key = event()
    expect(word(await cancel(request, key))).toBe('accepted')
    expect(word(await cancel(request, key))).toBe('already-applied')
    expect(await kinds(request)).toEqual(['cancelled'])
    expect(await stands(request)).toBe('acknowledged')
  })

  acceptance('A7', 'that it was asked for while a turn runs, and then that it took effect', async () => {
    const at = await root()
    await cancel(at.request)
    expect(await told(at.request)).toEqual([{ kind: 'cancel-asked', waitsFor: 'turn' }])
    expect(await stands(at.request)).toBe('asked')
    await end(at)
    expect(await kinds(at.request)).toEqual(['cancel-asked', 'cancelled'])
    expect(await stands(at.request)).toBe('acknowledged')
  })

  acceptance('A7', 'that it came too late, when the answer was faster; the answer is not lost', async () => {
    const at = await root()
    const ask = await takeOn(at)
    await cancel(at.request)
    const said = { eventId: event(), request: at.request, covers: [ask], text: 'It is deployed.', conclusion: null }
    expect(word(await rig.tools.report(at.manager, { ...said, artifacts: [], supersedes: null }))).toBe('accepted')
    await end(at, 'completed')
    expect(await told(at.request)).toEqual([
      { kind: 'cancel-asked', waitsFor: 'turn' },
      { kind: 'cancel-too-late', happened: [{ what: 'answered' }], rest: false, by: null },
    ])
    const state = await stateOf(rig, at.request)
    expect([state.closed, state.results.length]).toEqual(['resolved', 1])
    const answers = await fresh.db.sql`
      select source from collab.deliveries where request = ${at.request} and cause_kind = 'result'`
    expect(answers).toHaveLength(1)
  })

  acceptance('A7', 'which outside act had happened before it, and that the rest will not run', async () => {
    const at = await root()
    await takeOn(at)
    const effect = await declare(at.manager, at.request)
    await cancel(at.request)
    await end(at)
    // Its outcome is not known: nobody may say that nothing happened.
    expect(await kinds(at.request)).toEqual(['cancel-asked'])
    rig.clock.add(1)
    expect(cancellationOf(await stateOf(rig, at.request))).toMatchObject({ stands: 'asked', waitsFor: 'effect' })
    expect(word(await settle({ ...at.manager, turn: null }, at.request, effect, 'confirmed'))).toBe('accepted')
    const happened = [{ what: 'effect', effectKind: 'deploy', target: 'prod' }]
    expect((await told(at.request)).at(-1)).toEqual({ kind: 'cancel-too-late', happened, rest: true, by: null })
  })

  acceptance('A7', 'that nothing happened, when the outside act had failed', async () => {
    const at = await root()
    await takeOn(at)
    const effect = await declare(at.manager, at.request)
    await cancel(at.request)
    await end(at)
    await settle({ ...at.manager, turn: null }, at.request, effect, 'failed')
    expect(await kinds(at.request)).toEqual(['cancel-asked', 'cancelled'])
  })

  acceptance('A7', 'what an agent below had already done, once, whether it was back or still at work', async () => {
    const at = await root()
    const children: RequestId[] = []
    for (const name of ['anna', 'ben']) {
      const child = await handOn(rig, at.manager, at.request, name)
      children.push(child)
      await rig.tools.inboxRead(attached(name), { cursor: null, limit: 50 })
      const [ask] = (await asksOf(rig, child)) as [AskId]
      const asks = [{ ask, judgment: 'accepted' as const, reason: 'mine' }]
      await rig.tools.assess(attached(name), { eventId: event(), request: child, onRevision: rev(1), asks })
      const effect = await declare(attached(name), child)
      expect(word(await settle(attached(name), child, effect, 'confirmed'))).toBe('accepted')
      if (name === 'anna') {
        const said = { eventId: event(), request: child, covers: [ask], text: 'Deployed.', conclusion: null }
        await rig.tools.report(attached(name), { ...said, artifacts: [], supersedes: null })
        await returnToParent(rig.x, child)
      }
    }
    await cancel(at.request)
    await end(at)
    for (const child of children) await cancelChild(rig.x, child)
    for (let again = 0; again < 2; again++) {
      await tellBelow(rig.x, at.request)
      for (const child of children) await returnToParent(rig.x, child)
    }
    const happened = [{ what: 'effect', effectKind: 'deploy', target: 'prod' }]
    const late = (await told(at.request)).filter(({ kind }) => kind === 'cancel-too-late')
    expect(late).toHaveLength(2)
    for (const by of ['anna', 'ben']) expect(late).toContainEqual({ kind: 'cancel-too-late', happened, rest: true, by })
  })

  test('nothing of what an agent asked of another one is cancelled: that is told to the asker', async () => {
    const at = await root()
    const child = await handOn(rig, at.manager, at.request, 'anna', { intent: 'consultation' })
    expect(word(await rig.tools.cancel(at.manager, { eventId: event(), request: child, onRevision: rev(1) }))).toBe(
      'accepted',
    )
    expect(await told(child)).toEqual([])
    expect(await told(at.request)).toEqual([])
    await returnToParent(rig.x, child)
    expect((await stateOf(rig, at.request)).children.get(child)?.returned).toMatchObject({ ended: 'cancelled' })
  })
})
