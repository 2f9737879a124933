import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AskId } from '../../src/collab/refs.js'
import { returnToParent } from '../../src/exchange/returns.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { event, rev, stateOf, wakesLike, word } from './agents-kit.js'
import { deskOf, type Desk } from './return-kit.js'

let fresh: FreshDb
let d: Desk
beforeAll(async () => {
  fresh = await freshDb()
  d = deskOf(fresh.db)
})
afterAll(() => fresh.drop())

describe('a direct return', () => {
  acceptance('A8', 'sends on each result of a corrected child in order, in its own words', async () => {
    const at = await d.root()
    const child = await d.handedOn(at, { direct: true })
    await d.revise(at, child, 1)
    const first = await d.answered(child, 1, 'Forty chairs.')
    const second = await d.answered(child, 2, 'And nine tables.')
    await returnToParent(d.rig.x, child)
    await returnToParent(d.rig.x, child)
    const deliveries = await d.sent(at)
    expect(deliveries.map(({ cause, ordinal }) => [cause, ordinal])).toEqual([
      [first, 1],
      [second, 2],
    ])
    expect(deliveries.map(({ source }) => [source.from, source.bearing])).toEqual([
      ['anna', undefined],
      ['anna', 'updates'],
    ])
    // The receipt of the message goes with the last one.
    expect(deliveries.map(({ source }) => source.endsReceipt === null)).toEqual([true, false])
    expect(await d.stands(at)).toEqual(['covered'])
  })

  acceptance('A8', 'of a mended result says that it replaces the one that was sent before', async () => {
    const at = await d.root()
    const child = await d.handedOn(at, { direct: true })
    const first = await d.answered(child, 1, 'Forty chairs.')
    await returnToParent(d.rig.x, child)
    const second = await d.answered(child, 1, 'Forty-one chairs.', first)
    await returnToParent(d.rig.x, child)
    expect((await d.sent(at)).map(({ cause, source }) => [cause, source.bearing])).toEqual([
      [first, undefined],
      [second, 'replaces'],
    ])
    expect([...(await stateOf(d.rig, at.request)).asks.values()]).toEqual([{ is: 'covered', by: second }])
  })

  test('of a result that was mended before anything was sent speaks of no earlier one', async () => {
    const at = await d.root()
    const child = await d.handedOn(at, { direct: true })
    const first = await d.answered(child, 1, 'Forty chairs.')
    const second = await d.answered(child, 1, 'Forty-one chairs.', first)
    await returnToParent(d.rig.x, child)
    expect((await d.sent(at)).map(({ cause, source }) => [cause, source.bearing])).toEqual([[second, undefined]])
  })
})

describe('a correction that is passed on', () => {
  acceptance('A5', 'with its asks is answered by what comes back, and by nothing else', async () => {
    const at = await d.root()
    const child = await d.handedOn(at, { direct: true })
    const ask = await d.corrected(at)
    const other = await d.corrected(at)
    expect(await d.revise(at, child, 1, [ask])).toMatchObject({ outcome: 'accepted', revision: 2 })
    const parent = await stateOf(d.rig, at.request)
    expect(parent.children.get(child)?.asks).toContain(ask)
    expect(parent.children.get(child)?.asks).not.toContain(other)
    await d.answered(child, 1, 'Forty chairs.')
    await d.answered(child, 2, 'And nine tables.')
    await returnToParent(d.rig.x, child)
    expect(await d.stands(at)).toEqual(['covered', 'covered', 'owed'])
  })

  test('names only asks that its asker owes, and a refused one changes nothing', async () => {
    const at = await d.root()
    const child = await d.handedOn(at)
    const before = (await stateOf(d.rig, child)).seq
    expect(word(await d.revise(at, child, 1, ['no-such-ask' as AskId]))).toBe('ask-unknown')
    expect((await stateOf(d.rig, child)).seq).toBe(before)
    expect((await stateOf(d.rig, at.request)).children.get(child)?.revision).toBe(1)
  })

  acceptance(
    'A7',
    'to a child that is back makes it work again: it comes back once more, and its cancellation reaches it',
    async () => {
      const at = await d.root()
      const child = await d.handedOn(at)
      await d.answered(child, 1, 'Forty chairs.')
      await returnToParent(d.rig.x, child)
      expect(word(await d.revise(at, child, 1))).toBe('accepted')
      const open = await stateOf(d.rig, at.request)
      expect(open.children.get(child)).toMatchObject({ reopened: true, revision: 2, returned: { ended: 'resolved' } })
      // A return that had read the child before it was corrected is not taken for its answer to that.
      await returnToParent(d.rig.x, child)
      expect((await stateOf(d.rig, at.request)).children.get(child)?.reopened).toBe(true)
      await d.lane(child)
      await d.answered(child, 2, 'And nine tables.')
      await returnToParent(d.rig.x, child)
      const back = (await stateOf(d.rig, at.request)).children.get(child)
      expect(back).toMatchObject({ reopened: false, integrated: false })
      await d.revise(at, child, 2)
      expect(
        word(await d.rig.tools.cancel(at.manager, { eventId: event(), request: at.request, onRevision: rev(1) })),
      ).toBe('accepted')
      expect(await wakesLike(d.rig, `cancel-${child}`)).toHaveLength(1)
    },
  )

  acceptance('A7', 'that races the return of the child is answered in every order, once', async () => {
    for (let round = 0; round < 10; round++) {
      const at = await d.root()
      const child = await d.handedOn(at)
      await d.answered(child, 1, 'Forty chairs.')
      const [receipt] = await Promise.all([
        d.revise(at, child, 1),
        returnToParent(d.rig.x, child),
        returnToParent(d.rig.x, child),
      ])
      expect(word(receipt)).toBe('accepted')
      expect((await stateOf(d.rig, at.request)).children.get(child)?.revision).toBe(2)
      await d.lane(child)
      await d.answered(child, 2, 'And nine tables.')
      await returnToParent(d.rig.x, child)
      const known = (await stateOf(d.rig, at.request)).children.get(child)
      expect(known).toMatchObject({ reopened: false, integrated: false, returned: { ended: 'resolved' } })
      expect(known?.returned?.result).toBe((await stateOf(d.rig, child)).results.at(-1)?.id)
    }
  })
})
