import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { decideAssign } from '../../src/collab/decide/assign.js'
import type { AskId, Instant, RequestId, Revision } from '../../src/collab/refs.js'
import { decideAndCommit } from '../../src/exchange/exchange.js'
import { attemptIdOf } from '../../src/exchange/ids.js'
import {
  agent,
  asksOf,
  attached,
  event,
  handOn,
  registered,
  rigOf,
  rootInTurn,
  stateOf,
  word,
  wakesLike,
  type Rig,
} from './agents-kit.js'

let fresh: FreshDb
let rig: Rig

beforeAll(async () => {
  fresh = await freshDb()
  rig = rigOf(fresh.db, [registered('anna'), registered('ben'), registered('carla')])
})
afterAll(async () => {
  await fresh.drop()
})

/** The manager hands a consultation to `name`; the child stands in that agent's inbox. */
async function asked(name: string, over: { question?: string; brief?: string } = {}) {
  const root = await rootInTurn(rig, 'Is the release ready? Please check the changelog.')
  const child = await handOn(rig, root.manager, root.request, name, {
    intent: 'consultation',
    asks: await asksOf(rig, root.request),
    question: 'Is the changelog complete?',
    brief: 'The owner wants to release today.',
    refs: ['repo@1234abcd'],
    reason: 'writes changelogs',
    ...over,
  })
  const [ask] = (await asksOf(rig, child)) as [AskId]
  return { root, child, ask }
}

/** A second consultation of the same request: non-effectful attempts may run beside one another. */
async function alsoAssigned(request: RequestId, name: string) {
  const receipt = await decideAndCommit(
    rig.x,
    {
      kind: 'assign-attempt',
      eventId: event(),
      requestId: request,
      at: rig.clock.now() as Instant,
      actor: { kind: 'host' },
      attempt: {
        id: attemptIdOf(request, 1 as Revision, 2),
        request,
        revision: 1 as Revision,
        target: agent(name),
        intent: 'consultation',
        effectful: false,
        supersedes: null,
      },
    } as const,
    decideAssign,
  )
  expect(word(receipt)).toBe('accepted')
}

const accepting = (request: RequestId, ask: AskId, revision = 1) => ({
  eventId: event(),
  request,
  onRevision: revision as Revision,
  asks: [{ ask, judgment: 'accepted' as const, reason: 'within my work' }],
})

const reporting = (request: RequestId, ask: AskId, text = 'It is complete.') => ({
  eventId: event(),
  request,
  covers: [ask],
  text,
  conclusion: null,
  artifacts: [],
  supersedes: null,
})

describe('the inbox', () => {
  test('shows the question, the verbatim origin message with its author, and the brief as evidence', async () => {
    const { child } = await asked('anna')
    const { items } = await rig.tools.inboxRead(attached('anna'), { cursor: null, limit: 50 })
    const item = items.find((one) => one.request === child)
    expect(item).toMatchObject({ from: 'agent:manager', intent: 'consultation', revision: 1 })
    expect(item?.brief).toContain('Is the release ready? Please check the changelog.')
    expect(item?.brief).toContain('written by ou_test_owner, verbatim')
    expect(item?.brief).toContain('Brief by agent:manager (evidence')
    expect(item?.brief).toContain('- repo@1234abcd')
    expect(item?.asks).toEqual([{ id: expect.any(String), text: 'Is the changelog complete?', state: 'owed' }])
  })

  test('shows nothing of others, and reading is recorded as provided once, never as presented', async () => {
    const { child } = await asked('ben')
    const seen = async (name: string) =>
      (await rig.tools.inboxRead(attached(name), { cursor: null, limit: 50 })).items.map((item) => item.request)
    expect(await seen('carla')).not.toContain(child)
    expect(await seen('ben')).toContain(child)
    const before = await stateOf(rig, child)
    expect(await seen('ben')).toContain(child)
    const after = await stateOf(rig, child)
    expect(after.seq).toBe(before.seq)
    expect([...after.provided]).toEqual(['ben@1'])
    expect(after.turns.size).toBe(0)
  })

  test('is read page by page, each entry once', async () => {
    const mine = new Set<string>()
    for (let n = 0; n < 5; n++) mine.add((await asked('carla')).child)
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<typeof rig.tools.inboxRead>> = await rig.tools.inboxRead(attached('carla'), {
        cursor,
        limit: 2,
      })
      expect(page.items.length).toBeLessThanOrEqual(2)
      seen.push(...page.items.map((item) => item.request))
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(new Set(seen)).toEqual(mine)
    expect(seen).toHaveLength(5)
  })
})

describe('an assessment', () => {
  test('of a revision that was neither presented nor provided is refused', async () => {
    const { child, ask } = await asked('anna')
    expect(word(await rig.tools.assess(attached('anna'), accepting(child, ask)))).toBe('not-presented')
  })

  test('of a passed revision is refused, and the new one must be provided first', async () => {
    const { child, ask, root } = await asked('anna')
    await rig.tools.inboxRead(attached('anna'), { cursor: null, limit: 50 })
    const revised = await rig.tools.revise(root.manager, {
      eventId: event(),
      request: child,
      onRevision: 1 as Revision,
      text: 'Only since the last tag.',
    })
    expect(revised).toMatchObject({ outcome: 'accepted', revision: 2 })
    expect(await rig.tools.assess(attached('anna'), accepting(child, ask))).toMatchObject({
      refusal: { reason: 'stale-revision', head: 2 },
    })
    expect(word(await rig.tools.assess(attached('anna'), accepting(child, ask, 2)))).toBe('not-presented')
    await rig.tools.inboxRead(attached('anna'), { cursor: null, limit: 50 })
    expect(word(await rig.tools.assess(attached('anna'), accepting(child, ask, 2)))).toBe('accepted')
  })

  test('tells its verdict, and the same call again is the same command', async () => {
    const { child, ask } = await asked('ben')
    await rig.tools.inboxRead(attached('ben'), { cursor: null, limit: 50 })
    const call = accepting(child, ask)
    const first = await rig.tools.assess(attached('ben'), call)
    expect(first).toMatchObject({ outcome: 'accepted', verdict: 'accepted', eventId: call.eventId })
    expect(await rig.tools.assess(attached('ben'), call)).toMatchObject({
      outcome: 'already-applied',
      seq: first.outcome === 'accepted' ? first.seq : 0,
    })
  })

  acceptance('A6', 'a changed payload under a known event id is a conflict', async () => {
    const { child, ask } = await asked('ben')
    await rig.tools.inboxRead(attached('ben'), { cursor: null, limit: 50 })
    const call = accepting(child, ask)
    expect(word(await rig.tools.assess(attached('ben'), call))).toBe('accepted')
    const other = { ...call, asks: [{ ask, judgment: 'rejected' as const, reason: 'not mine' }] }
    expect(word(await rig.tools.assess(attached('ben'), other))).toBe('conflict')
    expect((await stateOf(rig, child)).closed).toBeNull()
  })

  test('that defers names owner, condition and recheck, and puts the wake for it', async () => {
    const { child, ask } = await asked('ben')
    await rig.tools.inboxRead(attached('ben'), { cursor: null, limit: 50 })
    const deferring = { ask, judgment: 'deferred' as const, reason: 'the build runs' }
    const call = { eventId: event(), request: child, onRevision: 1 as Revision }
    expect(await rig.tools.assess(attached('ben'), { ...call, asks: [deferring] })).toMatchObject({
      refusal: { reason: 'bad-reference', field: 'until' },
    })
    const recheckAt = (rig.clock.now() + 60_000) as never
    const until = { owner: 'ben', condition: { when: 'at' as const }, recheckAt }
    const receipt = await rig.tools.assess(attached('ben'), { ...call, asks: [{ ...deferring, until }] })
    expect(receipt).toMatchObject({ outcome: 'accepted', verdict: 'deferred' })
    expect(await wakesLike(rig, `due-${child}`)).toEqual([{ subject: `due-${child}`, dueAt: recheckAt }])
    const { items } = await rig.tools.inboxRead(attached('ben'), { cursor: null, limit: 50 })
    expect(items.find((item) => item.request === child)?.asks[0]?.state).toBe('deferred')
  })

  test('that defers everything rests a managed input, and taking it on after all starts it again', async () => {
    const root = await rootInTurn(rig, 'When the build is done, tell me.')
    const [ask] = (await asksOf(rig, root.request)) as [AskId]
    const call = { request: root.request, onRevision: 1 as Revision }
    const until = { owner: 'manager', condition: { when: 'at' as const }, recheckAt: (rig.clock.now() + 1) as Instant }
    const judging = (judgment: 'deferred' | 'accepted') =>
      rig.tools.assess(root.manager, {
        ...call,
        eventId: event(),
        asks: [{ ask, judgment, reason: 'the build', ...(judgment === 'deferred' ? { until } : {}) }],
      })
    const input = async () => {
      const [row] = await fresh.db.sql`select state, because from collab.turn_inputs where request = ${root.request}`
      return row
    }
    expect(word(await judging('deferred'))).toBe('accepted')
    expect(await input()).toEqual({ state: 'held', because: 'deferred' })
    const { items } = await rig.tools.inboxRead(root.manager, { cursor: null, limit: 50 })
    expect(items.map((item) => item.request)).toEqual([root.request])
    expect(word(await judging('accepted'))).toBe('accepted')
    expect(await input()).toEqual({ state: 'waiting', because: null })
  })

  test('by somebody else is answered as if there were no such request', async () => {
    const { child, ask } = await asked('ben')
    expect(word(await rig.tools.assess(attached('carla'), accepting(child, ask)))).toBe('request-unknown')
  })

  test('that refuses everything closes the request and wakes its asker', async () => {
    const { child, ask } = await asked('ben')
    await rig.tools.inboxRead(attached('ben'), { cursor: null, limit: 50 })
    const call = accepting(child, ask)
    await rig.tools.assess(attached('ben'), {
      ...call,
      asks: [{ ask, judgment: 'rejected' as const, reason: 'not my goal' }],
    })
    expect((await stateOf(rig, child)).closed).toBe('rejected')
    expect(await wakesLike(rig, `return-${child}`)).toHaveLength(1)
    const { items } = await rig.tools.inboxRead(attached('ben'), { cursor: null, limit: 50 })
    expect(items.map((item) => item.request)).not.toContain(child)
  })
})

describe('a result', () => {
  test('without the own assessment of what it covers is refused', async () => {
    const { child, ask } = await asked('anna')
    await rig.tools.inboxRead(attached('anna'), { cursor: null, limit: 50 })
    expect(await rig.tools.report(attached('anna'), reporting(child, ask))).toMatchObject({
      refusal: { reason: 'not-assessed', ask },
    })
  })

  acceptance('A6', 'of a worker closes its request, wakes the one that asked, and leaves the inbox', async () => {
    const { child, ask, root } = await asked('anna')
    await rig.tools.inboxRead(attached('anna'), { cursor: null, limit: 50 })
    await rig.tools.assess(attached('anna'), accepting(child, ask))
    const receipt = await rig.tools.report(attached('anna'), reporting(child, ask))
    expect(receipt).toMatchObject({ outcome: 'accepted', revision: 1 })
    const state = await stateOf(rig, child)
    expect(state).toMatchObject({ closed: 'resolved', fence: null })
    expect(state.results).toMatchObject([{ kind: 'result', covers: [ask], remainder: [] }])
    expect([...state.attempts.values()][0]?.released).toBe('terminal-result')
    expect(await wakesLike(rig, `return-${child}`)).toHaveLength(1)
    const { items } = await rig.tools.inboxRead(attached('anna'), { cursor: null, limit: 50 })
    expect(items.map((item) => item.request)).not.toContain(child)
    // The parent keeps its duty until its own owner answers.
    expect((await stateOf(rig, root.request)).closed).toBeNull()
    const rows = await fresh.db.sql`select turn from collab.results where request = ${child}`
    expect(rows).toEqual([{ turn: null }])
  })

  acceptance('A24', 'two agents that report on the same ask at once give one accepted conclusion', async () => {
    const { child, ask } = await asked('anna')
    await alsoAssigned(child, 'ben')
    for (const name of ['anna', 'ben']) {
      await rig.tools.inboxRead(attached(name), { cursor: null, limit: 50 })
      expect(word(await rig.tools.assess(attached(name), accepting(child, ask)))).toBe('accepted')
    }
    const receipts = await Promise.all(
      ['anna', 'ben'].map((name) => rig.tools.report(attached(name), reporting(child, ask, `from ${name}`))),
    )
    expect(receipts.map(word).toSorted()).toEqual(['accepted', 'ask-not-owed'])
    expect((await stateOf(rig, child)).results).toHaveLength(1)
  })

  test('that replaces a former one says so; an unknown one cannot be replaced', async () => {
    const { child, ask } = await asked('anna')
    const anna = attached('anna')
    await rig.tools.inboxRead(anna, { cursor: null, limit: 50 })
    await rig.tools.assess(anna, accepting(child, ask))
    await rig.tools.report(anna, reporting(child, ask, 'It is complete.'))
    const [first] = (await stateOf(rig, child)).results
    const again = { ...reporting(child, ask, 'It lacks one entry.'), supersedes: 'no-such-result' }
    expect(word(await rig.tools.report(anna, again))).toBe('result-unknown')
    const replaced = await rig.tools.report(anna, { ...again, supersedes: first?.id ?? '' })
    expect(word(replaced)).toBe('accepted')
    const state = await stateOf(rig, child)
    expect(state.results.map((result) => result.supersedes)).toEqual([null, first?.id])
    expect(state.closed).toBe('resolved')
  })

  test('of the manager in its turn leaves as one delivery to the place that asked', async () => {
    const root = await rootInTurn(rig, 'What is 2 + 2?')
    const [ask] = (await asksOf(rig, root.request)) as [AskId]
    await rig.tools.assess(root.manager, accepting(root.request, ask))
    const call = reporting(root.request, ask, 'Four.')
    expect(word(await rig.tools.report(root.manager, call))).toBe('accepted')
    expect(word(await rig.tools.report(root.manager, call))).toBe('already-applied')
    const rows = await fresh.db.sql<{ state: string }[]>`
      select cause_kind as state from collab.deliveries where request = ${root.request}`
    expect(rows).toEqual([{ state: 'result' }])
    // The turn still runs: its end releases the fence.
    expect((await stateOf(rig, root.request)).fence).not.toBeNull()
    const [input] = await fresh.db.sql`select state, because from collab.turn_inputs where request = ${root.request}`
    expect(input).toEqual({ state: 'settled', because: 'answered' })
  })

  test('with files that may not be read there, without words, or with control characters is refused', async () => {
    const { child, ask } = await asked('anna')
    const anna = attached('anna')
    await rig.tools.inboxRead(anna, { cursor: null, limit: 50 })
    await rig.tools.assess(anna, accepting(child, ask))
    const call = reporting(child, ask)
    expect(
      await rig.tools.report(anna, { ...call, artifacts: ['00000000-0000-4000-8000-000000000000'] }),
    ).toMatchObject({ refusal: { reason: 'bad-reference', field: 'artifacts' } })
    expect(word(await rig.tools.report(anna, { ...call, text: ' \n' }))).toBe('text-empty')
    expect(word(await rig.tools.report(anna, { ...call, text: 'a\u0000b' }))).toBe('bad-reference')
    expect(word(await rig.tools.report(anna, { ...call, text: 'half \ud800' }))).toBe('bad-reference')
    expect(word(await rig.tools.report(anna, call))).toBe('accepted')
  })
})
