import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bearingOf } from '../../src/collab/bearing.js'
import { owesSynthesis } from '../../src/collab/exchange-state.js'
import type { ResultRecord } from '../../src/collab/observation.js'
import { MANAGER, type AskId } from '../../src/collab/refs.js'
import { returnToParent } from '../../src/exchange/returns.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { asksOf, beginTurn, event, rev, stateOf, word } from './agents-kit.js'
import { deskOf, type Desk } from './return-kit.js'

let fresh: FreshDb
let d: Desk
beforeAll(async () => {
  fresh = await freshDb()
  d = deskOf(fresh.db)
})
afterAll(() => fresh.drop())

describe('a conclusion that comes when its asker has answered', () => {
  acceptance('A8', 'is shown to it once more, and its words after that update what it had said', async () => {
    const at = await d.root()
    const [ask] = (await asksOf(d.rig, at.request)) as [AskId]
    const child = await d.handedOn(at, { asks: [] })
    const asks = [{ ask, judgment: 'accepted' as const, reason: 'mine' }]
    await d.rig.tools.assess(at.manager, { eventId: event(), request: at.request, onRevision: rev(1), asks })
    const said = { conclusion: null, artifacts: [], supersedes: null, covers: [ask], request: at.request }
    await d.rig.tools.report(at.manager, { ...said, eventId: event(), text: 'About forty.' })
    const [before] = (await stateOf(d.rig, at.request)).results
    await d.answered(child, 1, 'Forty-one, counted.')
    await returnToParent(d.rig.x, child)
    expect(await d.waiting(at)).toBe(true)
    await d.ended(at)
    const turn = await beginTurn(d.rig, at.request, MANAGER)
    const { turns, closed } = await stateOf(d.rig, at.request)
    expect([turns.get(turn)?.takenUp, closed]).toEqual([[child], 'resolved'])
    const interim = await d.concluded(at, turn, 'Forty-one after all.')
    expect(interim).toMatchObject({ kind: 'interim', covers: [], supersedes: before?.id })
    const after = await stateOf(d.rig, at.request)
    expect(bearingOf({ ...after, results: [before as ResultRecord] }, interim, rev(1))).toBe('updates')
    expect(after.children.get(child)?.integrated).toBe(true)
    // It is answered once: nothing is owed to it any more.
    expect(owesSynthesis(after)).toBe(false)
  })

  test('and one that ended without any is not', async () => {
    const at = await d.root()
    const [ask] = (await asksOf(d.rig, at.request)) as [AskId]
    const child = await d.handedOn(at, { asks: [] })
    const asks = [{ ask, judgment: 'accepted' as const, reason: 'mine' }]
    await d.rig.tools.assess(at.manager, { eventId: event(), request: at.request, onRevision: rev(1), asks })
    const said = { conclusion: null, artifacts: [], supersedes: null, covers: [ask], request: at.request }
    await d.rig.tools.report(at.manager, { ...said, eventId: event(), text: 'About forty.' })
    expect(word(await d.rig.tools.cancel(at.manager, { eventId: event(), request: child, onRevision: rev(1) }))).toBe(
      'accepted',
    )
    await returnToParent(d.rig.x, child)
    expect(await d.waiting(at)).toBe(false)
  })
})

describe('an answer after a correction', () => {
  acceptance('A5', 'says that it updates the earlier one; one from before says that another follows', async () => {
    const at = await d.root()
    const [first] = (await asksOf(d.rig, at.request)) as [AskId]
    const take = async (ask: AskId, on: number) => {
      const asks = [{ ask, judgment: 'accepted' as const, reason: 'mine' }]
      const { manager } = at
      expect(
        word(await d.rig.tools.assess(manager, { eventId: event(), request: at.request, onRevision: rev(on), asks })),
      ).toBe('accepted')
    }
    const say = async (ask: AskId, text: string) => {
      const said = { eventId: event(), request: at.request, covers: [ask], text, conclusion: null }
      expect(word(await d.rig.tools.report(at.manager, { ...said, artifacts: [], supersedes: null }))).toBe('accepted')
    }
    await take(first, 1)
    const second = await d.corrected(at)
    await say(first, 'Forty chairs.')
    expect((await d.sent(at)).map(({ source }) => source.bearing)).toEqual(['before-correction'])
    await d.rig.tools.inboxRead({ ...at.manager, turn: null }, { cursor: null, limit: 50 })
    await take(second, 2)
    await say(second, 'Nine tables as well.')
    expect((await d.sent(at)).map(({ source }) => source.bearing)).toEqual(['before-correction', 'updates'])
    const { results } = await stateOf(d.rig, at.request)
    expect(results.map(({ supersedes }) => supersedes)).toEqual([null, results[0]?.id])
  })
})
