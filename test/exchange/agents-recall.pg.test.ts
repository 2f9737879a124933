import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { RecallAnswer, RecallHit, RecallProvider, RecallQuery } from '../../src/collab/recall.js'
import { MANAGER, type Instant, type RequestId } from '../../src/collab/refs.js'
import { localRecall } from '../../src/exchange/agents/recall-local.js'
import { createAgentTools } from '../../src/exchange/agents/tools.js'
import { endTurnRow } from '../../src/stores/turns/turns.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { attached, event, handOn, registered, rev, rigOf, rootInTurn, type Rig, type Root } from './agents-kit.js'

let fresh: FreshDb
let rig: Rig
let root: Root
let past: Root
let childOfAnna: RequestId
beforeAll(async () => {
  fresh = await freshDb()
  rig = rigOf(fresh.db, [registered('anna'), registered('ben')])
  const chat = 'oc_recall'
  past = await rootInTurn(rig, 'And the archive of May?', chat)
  const empty = { constraints: [], decisions: [], inFlight: [], unverified: [], next: [] }
  const tried = ['the nightly dump: rejected, it lost the column of notes']
  const brief = { ...empty, tried }
  const saved = await rig.tools.saveBrief(past.manager, {
    eventId: event(),
    request: past.request,
    onRevision: rev(1),
    brief,
  })
  expect(saved.outcome).toBe('accepted')
  await endTurnRow(fresh.db.sql, past.manager.turn ?? '', 'completed', null, rig.clock.now())
  root = await rootInTurn(rig, 'Move the archive.', chat)
  childOfAnna = await handOn(rig, root.manager, root.request, 'anna', { question: 'Which way?' })
})
afterAll(() => fresh.drop())

const coverage = { searched: 3, omitted: 0, until: 7 as Instant }
const hit = (request: RequestId): RecallHit => ({
  request,
  source: 'result',
  at: 5 as Instant,
  text: 'it lost a column',
})
const asks: RecallQuery[] = []
/** The tools over a provider that answers so. */
function toolsWith(answer: RecallAnswer | (() => Promise<RecallAnswer>), over: Partial<Rig['x']> = {}) {
  const recall: RecallProvider = {
    name: 'test',
    recall: async (query) => {
      asks.push(query)
      return typeof answer === 'function' ? await answer() : answer
    },
  }
  return createAgentTools({ ...rig.x, ...over, recall })
}
const gap = 'Why was the nightly dump rejected?'
const ask = (tools: Rig['tools'], request: RequestId = root.request) => tools.recallGap(root.manager, { request, gap })

describe('what was before, asked for one named gap', () => {
  acceptance('A19', 'is not available unless it was switched on, and that is an answer, not a failure', async () => {
    expect(await rig.tools.recallGap(root.manager, { request: root.request, gap })).toEqual({
      answer: 'not-available',
      because: 'disabled',
    })
  })

  acceptance(
    'A19',
    'a stale index, a provider that breaks and one that finds nothing are answers of their own',
    async () => {
      const stale = { answer: 'not-available', because: 'stale' } as const
      expect(await ask(toolsWith(stale))).toEqual(stale)
      expect(await ask(toolsWith(() => Promise.reject(new Error('index gone'))))).toEqual({
        answer: 'not-available',
        because: 'failed',
      })
      const nothing = { answer: 'nothing-found', coverage } as const
      expect(await ask(toolsWith(nothing))).toEqual(nothing)
    },
  )

  acceptance('A19', 'one that takes too long is gone on without', async () => {
    // The clock of the rig: its timer fires as soon as it is set.
    const every: Rig['x']['every'] = (_ms, run) => {
      void run()
      return () => {}
    }
    const never = () => new Promise<RecallAnswer>(() => {})
    expect(await ask(toolsWith(never, { every }))).toEqual({ answer: 'not-available', because: 'timeout' })
  })

  acceptance(
    'A19',
    'what belongs to another agent, or to nobody here, never comes in as a hit, and is counted',
    async () => {
      const other = await rootInTurn(rig, 'Another conversation altogether.')
      const strange = '00000000-0000-4000-8000-000000000000' as RequestId
      const found = (hits: readonly RecallHit[]) => ({ answer: 'found', hits, coverage }) as const
      const mixed = found([hit(root.request), hit(childOfAnna), hit(other.request), hit(strange)])
      expect(await ask(toolsWith(mixed))).toEqual({
        answer: 'found',
        hits: [hit(root.request)],
        coverage: { ...coverage, omitted: 3 },
      })
      expect(await ask(toolsWith(found([hit(childOfAnna)])))).toEqual({
        answer: 'nothing-found',
        coverage: { ...coverage, omitted: 1 },
      })
    },
  )

  acceptance(
    'A19',
    'is refused for a request that is not the caller’s, and asked for once, bounded, in its own name',
    async () => {
      const tools = toolsWith({ answer: 'nothing-found', coverage })
      expect(await tools.recallGap(attached('ben'), { request: childOfAnna, gap })).toMatchObject({
        outcome: 'rejected',
        refusal: { reason: 'request-unknown' },
      })
      expect(await tools.recallGap(root.manager, { request: childOfAnna, gap })).toMatchObject({
        refusal: { reason: 'not-receiver' },
      })
      expect(await tools.recallGap(root.manager, { request: root.request, gap: ' ' })).toMatchObject({
        refusal: { reason: 'text-empty' },
      })
      asks.length = 0
      await ask(tools)
      expect(asks).toEqual([{ agent: 'manager', conversation: root.conversation, request: root.request, gap, most: 5 }])
    },
  )

  acceptance(
    'A19',
    'the ledger’s own finds what the same agent said in the same conversation, and nobody else’s words',
    async () => {
      const tools = createAgentTools({ ...rig.x, recall: localRecall(rig.x) })
      const answer = await ask(tools)
      expect(answer).toMatchObject({ answer: 'found', hits: [{ request: past.request, source: 'brief' }] })
      expect(JSON.stringify(answer)).toContain('lost the column of notes')
      const asAnna = await tools.recallGap(attached('anna'), { request: childOfAnna, gap })
      expect(asAnna).toMatchObject({ answer: 'nothing-found', coverage: { searched: 0 } })
      expect(await tools.recallGap(root.manager, { request: root.request, gap: 'unrelated zebra' })).toMatchObject({
        answer: 'nothing-found',
        coverage: { searched: 1 },
      })
    },
  )

  acceptance('A19', 'the search of our own records ends when nobody waits for it any longer', async () => {
    const query = { agent: MANAGER, conversation: root.conversation, request: root.request, gap, most: 5 }
    const search = (signal: AbortSignal) => localRecall(rig.x).recall(query, signal)
    expect(await search(new AbortController().signal)).toMatchObject({ answer: 'found' })
    expect(await search(AbortSignal.abort())).toEqual({ answer: 'not-available', because: 'timeout' })
  })
})
