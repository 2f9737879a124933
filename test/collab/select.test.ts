import { describe, expect, test } from 'vitest'
import type { RegisteredAgent } from '../../src/collab/ports.js'
import { candidatesOf, select, type Selection } from '../../src/collab/project/select.js'
import { overlap, weightsOf, wordsOf } from '../../src/collab/project/words.js'
import { MANAGER, type AgentId, type Instant } from '../../src/collab/refs.js'
import { DAY, HOUR } from '../../src/lib/time.js'
import { acceptance } from '../kit/acceptance.js'

const now = 100 * DAY
const agent = (name: string) => name as AgentId

function one(name: string, over: Partial<RegisteredAgent> = {}): RegisteredAgent {
  return {
    agent: agent(name),
    goal: `goal-${name}`,
    goalState: 'active',
    role: 'engineer',
    responsibility: '',
    host: 'h1',
    endpoint: { kind: 'managed', runtime: 'acp', command: null },
    abilities: [],
    capacity: 1,
    lastEvidenceAt: (now - HOUR) as Instant,
    reachable: true,
    ...over,
  }
}

const selection = (agents: readonly RegisteredAgent[], over: Partial<Selection> = {}): Selection => ({
  agents,
  caller: MANAGER,
  waiting: new Set(),
  need: 'Review the payment retry code',
  named: null,
  includeStopped: false,
  load: new Map(),
  reads: 'all',
  now,
  ...over,
})

const order = (agents: readonly RegisteredAgent[], over: Partial<Selection> = {}) =>
  select(selection(agents, over)).map((found) => found.agent)

const right = one('right', {
  responsibility: 'payment retry and settlement',
  abilities: ['code', 'review'],
})

describe('who may be asked', () => {
  acceptance('A4', 'an agent in no profile is found by its registered responsibility', () => {
    const others = [one('docs', { responsibility: 'user guide' }), one('ops', { responsibility: 'hosts and alarms' })]
    expect(order([...others, right])[0]).toBe('right')
  })

  acceptance('A4', 'a stopped goal is never chosen; it can be searched, and says so', () => {
    const stopped = { ...right, agent: agent('stopped'), goalState: 'stopped' as const }
    expect(order([stopped, right])).toEqual(['right'])
    const searched = select(selection([stopped, right], { includeStopped: true }))
    expect(searched.map((found) => [found.agent, found.admitted, found.rank])).toEqual([
      ['right', true, 1],
      ['stopped', false, null],
    ])
    expect(searched[1]?.reasons.join()).toContain('goal-right is stopped')
    expect(searched[1]).toMatchObject({ discoverable: true, executable: false })
  })

  test('neither the caller nor anybody who waits for it', () => {
    const found = select(
      selection([right, one('anna'), one('ben')], {
        caller: agent('anna'),
        waiting: new Set([agent('anna'), agent('ben')]),
      }),
    )
    expect(found.filter((each) => each.admitted).map((each) => each.agent)).toEqual(['right'])
    const reasons = Object.fromEntries(found.map((each) => [each.agent, each.reasons[0]]))
    expect(reasons).toMatchObject({ anna: 'it is the caller itself', ben: 'it waits for the caller already' })
  })

  test('unknown capacity and no reach are no refusal', () => {
    const found = select(selection([one('far', { reachable: false, endpoint: { kind: 'attached' } })]))
    expect(found[0]).toMatchObject({ admitted: true, rank: 1, deliverable: false, executable: false })
  })
})

describe('the order', () => {
  acceptance(
    'A24',
    'the right worker stands before stopped, registered-only, stale and unfit decoys, with the reasons',
    () => {
      const decoys = [
        one('stopped', { responsibility: 'payment retry code review', goalState: 'stopped' }),
        one('registered-only', { responsibility: 'payment retry code review', lastEvidenceAt: null, reachable: null }),
        one('stale', {
          responsibility: 'payment retry code review',
          lastEvidenceAt: (now - 30 * DAY) as Instant,
          reachable: null,
        }),
        one('unfit', { responsibility: 'payment retry', abilities: ['translation'] }),
      ]
      const found = select(selection([...decoys, right], { includeStopped: true }))
      expect(found[0]?.agent).toBe('right')
      expect(found.at(-1)?.agent).toBe('stopped')
      const said = (name: string) => found.find((each) => each.agent === name)?.reasons.join('; ')
      expect(said('registered-only')).toContain('last evidence: unknown, only registered')
      expect(said('stale')).toContain('stale: last evidence 30 d ago')
      expect(said('unfit')).toContain('none is named in the need')
      expect(said('right')).toMatch(
        /a weak sign.*reachable.*last evidence 1 h ago.*1 of 1 turns free.*declares code, review/,
      )
    },
  )

  acceptance('A24', 'words in common are a weak sign: more of them do not make up for an agent that is gone', () => {
    const echo = one('echo', {
      responsibility: 'review the payment retry code',
      reachable: false,
      lastEvidenceAt: (now - 30 * DAY) as Instant,
    })
    expect(order([echo, right])).toEqual(['right', 'echo'])
  })

  test('unknown stands between known-good and known-bad', () => {
    const reach = (name: string, reachable: boolean | null) => one(name, { reachable })
    expect(order([reach('no', false), reach('unknown', null), reach('yes', true)])).toEqual(['yes', 'unknown', 'no'])
    const seen = (name: string, age: number | null) =>
      one(name, { lastEvidenceAt: age === null ? null : ((now - age) as Instant) })
    expect(order([seen('old', 8 * DAY), seen('unknown', null), seen('fresh', HOUR)])).toEqual([
      'fresh',
      'unknown',
      'old',
    ])
    const load = new Map([['busy', { running: 1, waiting: 2 }]])
    const attached = one('attached', { endpoint: { kind: 'attached' } })
    expect(order([one('busy'), attached, one('free')], { load })).toEqual(['free', 'attached', 'busy'])
  })

  test('the named receiver comes first, whatever is known of it', () => {
    const named = one('named', { responsibility: 'user guide', reachable: null, lastEvidenceAt: null })
    const found = select(selection([right, named], { named: agent('named') }))
    expect(found.map((each) => each.agent)).toEqual(['named', 'right'])
    expect(found[0]?.reasons[0]).toBe('named by the caller')
  })

  test('or the list says exactly why it cannot be', () => {
    const stopped = one('named', { goalState: 'stopped' })
    const found = select(selection([right, stopped], { named: agent('named') }))
    expect(found.map((each) => [each.agent, each.rank])).toEqual([
      ['right', 1],
      ['named', null],
    ])
    expect(found[0]?.reasons[0]).toBe(
      'not the named named: its goal goal-named is stopped: it can be searched, not asked',
    )
    const missing = select(selection([right], { named: agent('ghost') }))
    expect(missing[0]?.reasons[0]).toBe('not the named ghost, which is not registered')
  })

  test('is the same for the same facts, in whatever order they are listed', () => {
    const all = [right, one('a'), one('b'), one('c', { reachable: null })]
    expect(order(all)).toEqual(order(all.toReversed()))
  })
})

describe('four facts', () => {
  test('are told apart, and none is guessed', () => {
    const attached = one('attached', { endpoint: { kind: 'attached' }, reachable: true })
    const unknown = one('unknown', { reachable: null })
    const found = select(selection([attached, unknown], { reads: new Set(['goal-unknown']) }))
    const facts = Object.fromEntries(
      found.map(({ agent: name, discoverable, readable, deliverable, executable }) => [
        name,
        { discoverable, readable, deliverable, executable },
      ]),
    )
    expect(facts).toEqual({
      attached: { discoverable: true, readable: false, deliverable: true, executable: null },
      unknown: { discoverable: true, readable: true, deliverable: null, executable: null },
    })
  })
})

describe('what is recorded of a choice', () => {
  test('the first candidates, and always the chosen one', () => {
    const many = Array.from({ length: 30 }, (_, n) => one(`w${String(n).padStart(2, '0')}`))
    const kept = candidatesOf(select(selection(many)), agent('w29'), 5)
    expect(kept.map((each) => each.agent)).toEqual(['w00', 'w01', 'w02', 'w03', 'w04', 'w29'])
  })
})

describe('words', () => {
  test('are taken without case and signs, and Han two by two', () => {
    expect([...wordsOf(['Payment-retry, v2!'])]).toEqual(['payment', 'retry', 'v', '2'])
    expect([...wordsOf(['支付重试'])]).toEqual(['支付', '付重', '重试'])
    expect([...wordsOf(['审'])]).toEqual(['审'])
  })

  test('that all share distinguish nobody much, and a need without any is unknown', () => {
    const all = [wordsOf(['the retry']), wordsOf(['the guide'])]
    expect(overlap(weightsOf(wordsOf(['the retry']), all), all[0] ?? new Set())).toBe(1)
    expect(overlap(weightsOf(wordsOf(['the retry']), all), all[1] ?? new Set())).toBeCloseTo(1 / 3)
    expect(overlap(weightsOf(wordsOf(['nothing else']), all), all[0] ?? new Set())).toBeNull()
    expect(overlap(weightsOf(wordsOf(['支付重试']), [wordsOf(['负责支付'])]), wordsOf(['负责支付']))).toBe(1)
  })

  test('of many candidates are looked up once for each of them and not for each pair', () => {
    let looked = 0
    class Counted extends Set<string> {
      override has(word: string): boolean {
        looked += 1
        return super.has(word)
      }
    }
    const need = wordsOf([Array.from({ length: 20 }, (_, n) => `w${n}x`).join(' ')])
    const all = Array.from({ length: 50 }, () => new Counted(need))
    const weights = weightsOf(need, all)
    for (const own of all) expect(overlap(weights, own)).toBeCloseTo(1)
    expect(looked).toBe(2 * need.size * all.length)
  })
})
