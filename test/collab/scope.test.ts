import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ExchangeState } from '../../src/collab/exchange-state.js'
import type { Fact, Observation } from '../../src/collab/observation.js'
import { composeBrief } from '../../src/collab/project/brief.js'
import { materialOf, wordsOf as textsShown } from '../../src/collab/project/material.js'
import { hadIt, scopeFor, type Seat } from '../../src/collab/project/scope.js'
import { MANAGER, type AgentId, type RequestId } from '../../src/collab/refs.js'
import { often } from '../kit/runs.js'
import { agents, deeds, live, summaryOf, wordsOf, type World } from '../kit/world.js'
import { above, type States } from '../kit/world-checks.js'

/** Somebody who looks: from the lane of one of the two chats, or pulling by itself over both. */
interface Reader {
  readonly agent: AgentId
  readonly chat: string | null
}
const chats = ['c1', 'c2']
const readers: readonly Reader[] = [MANAGER, ...agents].flatMap((agent) => [
  ...chats.map((chat) => ({ agent, chat })),
  { agent, chat: null },
])

const seatOf = ({ chat }: Reader, state: ExchangeState): Seat =>
  chat === null ? 'none' : state.request?.conversation === chat ? 'its-lane' : 'another-lane'

/** As the exchange asks: the request itself, then what is above it. */
function sees(reader: Reader, states: States, state: ExchangeState): boolean {
  const scope = scopeFor(reader.agent, seatOf(reader, state), state)
  if (scope !== 'if-had-above') return scope === 'sees'
  return above(states, state.id).some((id) => hadIt(reader.agent, states.get(id) as ExchangeState))
}

/** The rule in the words of the facts: assigned to it, asked by it, or come of what was assigned to it; in its chat. */
function isTheirs({ agent, chat }: Reader, facts: ReadonlyMap<RequestId, readonly Fact[]>, id: RequestId): boolean {
  const own = facts.get(id) ?? []
  const opened = own.flatMap((fact) => (fact.kind === 'request-opened' ? [fact.opened] : []))[0]
  if (opened === undefined || (chat !== null && opened.conversation !== chat)) return false
  if (agent === MANAGER) return chat !== null
  const assigned = (of: RequestId): boolean =>
    (facts.get(of) ?? []).some((fact) => fact.kind === 'attempt-assigned' && fact.assigned.target === agent)
  const parents = (of: RequestId): readonly RequestId[] => {
    const [at = ''] = [of.slice(0, Math.max(0, of.lastIndexOf('.')))]
    return at === '' ? [] : [at as RequestId, ...parents(at as RequestId)]
  }
  const asked = opened.sender.kind === 'agent' && opened.sender.agent === agent
  return asked || [id, ...parents(id)].some(assigned)
}

function factsOf(world: World): ReadonlyMap<RequestId, readonly Fact[]> {
  const facts = new Map<RequestId, Fact[]>()
  for (const one of world.done) {
    for (const fact of one.facts) facts.set(fact.request, [...(facts.get(fact.request) ?? []), fact])
  }
  return facts
}

/** Every text in the scope in which it was stored; one in five is erased. */
function storeOf(facts: ReadonlyMap<RequestId, readonly Fact[]>, erased: number): ReadonlyMap<string, string> {
  const store = new Map<string, string>()
  for (const own of facts.values()) {
    const read = textsShown(own as readonly Observation[])
    for (const digest of read?.digests ?? []) store.set(`${read?.accessScope} ${digest}`, `~${digest}~`)
  }
  return new Map([...store].filter((_one, n) => n % 5 !== erased))
}

describe('13: what is shown to an agent, over random histories of several requests in two chats', () => {
  test('it sees exactly what is its own, and the rest as if there were none', () => {
    fc.assert(
      fc.property(deeds, (history) => {
        const world = live(history)
        const facts = factsOf(world)
        for (const reader of readers) {
          for (const [id, state] of world.requests) {
            expect([reader, id, sees(reader, world.requests, state)]).toEqual([reader, id, isTheirs(reader, facts, id)])
          }
        }
      }),
      often(300),
    )
  })

  test('no brief holds a word of a request that is not its reader’s, and each word that is missing is named', () => {
    const reached = { shown: 0, hidden: 0, gone: 0 }
    fc.assert(
      fc.property(deeds, fc.nat({ max: 4 }), (history, erased) => {
        const world = live(history)
        const facts = factsOf(world)
        const store = storeOf(facts, erased)
        for (const reader of readers) {
          const mine = new Set(
            [...world.requests.values()].filter((state) => sees(reader, world.requests, state)).map(({ id }) => id),
          )
          const read = new Set<RequestId>(mine)
          // An owner's message is attached to whatever came of it, and to where it goes on.
          for (const id of mine) read.add(above(world.requests, id).at(-1) ?? id)
          for (let grown = 0; grown !== read.size;) {
            grown = read.size
            for (const [id, { asks }] of world.requests) {
              for (const ask of asks.values()) if (ask.is === 'continued' && read.has(ask.into)) read.add(id)
            }
          }
          const strange = [...world.requests.keys()].filter((id) => !mine.has(id))
          for (const id of mine) {
            const own = facts.get(id) as readonly Observation[]
            const shown = textsShown(own)
            const beside = { returned: [], refs: [], omissions: [] }
            const material = materialOf(own, (digest) => store.get(`${shown?.accessScope} ${digest}`) ?? null, beside)
            if (material === null) throw new Error('a request has material')
            const { text, omissions } = composeBrief(material)
            for (const other of strange) {
              if (!read.has(other)) expect(text).not.toContain(`~${wordsOf(other)}~`)
              expect(text).not.toContain(`~${summaryOf(other)}~`)
            }
            const sources = [
              ...material.asked,
              ...material.origins,
              ...(material.summary === null ? [] : [material.summary]),
            ]
            const missing = sources.filter((one) => one.text === null).length
            expect(omissions.filter((one) => one.because === 'gone')).toHaveLength(missing)
            for (const one of sources) if (one.text !== null) expect(text).toContain(one.text)
            for (const { what, because } of omissions) expect(text).toContain(`- ${what}: ${because}`)
            reached.shown += 1
            reached.gone += missing
          }
          reached.hidden += strange.length
        }
      }),
      often(150),
    )
    expect(Math.min(...Object.values(reached))).toBeGreaterThan(0)
  })
})
