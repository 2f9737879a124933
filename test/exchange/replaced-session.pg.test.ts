import { afterAll, beforeAll, expect } from 'vitest'
import type { AgentRuntime, SessionRef } from '../../src/collab/ports.js'
import { laneOf } from '../../src/exchange/ids.js'
import { replaceSession } from '../../src/exchange/sessions.js'
import { turn } from '../../src/exchange/turn.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { event, openRoot, rigOf, stateOf } from './agents-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

const profile = { runtime: 'test', version: null, model: null, effort: null, realModel: true }

acceptance('A18', 'a session that is replaced while its next turn begins runs nothing more', async () => {
  const rig = rigOf(fresh.db, [])
  const ran: string[] = []
  let whileOpening: () => Promise<void> = async () => {}
  let sessions = 0
  const runtime: AgentRuntime = {
    name: 'test',
    abilities: new Set(),
    available: async () => ({ available: true }),
    async open({ resume }) {
      await whileOpening()
      const ref: SessionRef = resume ?? { runtime: 'test', id: `s${++sessions}` }
      return {
        outcome: 'opened',
        session: {
          ref,
          opened: resume === null ? 'new' : 'resumed',
          effective: profile,
          async *turn({ turn: id }) {
            ran.push(ref.id)
            yield { kind: 'started', hostTurn: `host-${id}` }
            yield { kind: 'ended', ended: 'completed', final: `said by ${ref.id}`, conclusion: null }
          },
          lookUp: async () => ({ known: 'unknown' }) as const,
          steer: async () => 'unsupported',
          stop: async () => 'stopped',
          answer: async () => {},
          close: async () => ({ executor: 'gone' }),
        },
      }
    },
  }
  const x = {
    ...rig.x,
    runtimeFor: async () => runtime,
    workspaces: { ensure: async () => '/nowhere', place: async () => '/nowhere' },
  }
  const hold = { fence: 1, signal: new AbortController().signal, replayed: false }
  const chat = 'oc_replaced'
  const first = await openRoot(rig, 'one', chat)
  const lane = laneOf(first.conversation)
  expect(await turn(x, lane, hold)).toEqual({ outcome: 'done', note: 'answered' })
  const second = await openRoot(rig, 'two', chat)
  const [bound] = await fresh.db.sql`select id from collab.session_bindings where lane = ${lane}`
  whileOpening = async () => {
    whileOpening = async () => {}
    const said = { session: String(bound?.['id']), eventId: event(), who: 'operator' }
    expect(await replaceSession(x, said)).toEqual({ outcome: 'accepted' })
  }
  expect(await turn(x, lane, hold)).toMatchObject({ outcome: 'later' })
  expect(ran).toEqual(['s1'])
  expect(await turn(x, lane, hold)).toEqual({ outcome: 'done', note: 'answered' })
  expect(ran).toEqual(['s1', 's2'])
  expect((await stateOf(rig, second.request)).closed).toBe('resolved')
})
