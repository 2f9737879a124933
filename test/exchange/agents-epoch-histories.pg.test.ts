import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { ToolCaller } from '../../src/collab/agent-tools.js'
import { MANAGER, type AskId, type LaneId, type RequestId, type Revision } from '../../src/collab/refs.js'
import { laneOf } from '../../src/exchange/ids.js'
import { callerOf, standingToken, toolAccess } from '../../src/exchange/tokens.js'
import { revokeToken } from '../../src/stores/tokens/tokens.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { boundedRuns } from '../kit/runs.js'
import { agent, asksOf, event, handOn, registered, rigOf, rootInTurn, stateOf, word, type Rig } from './agents-kit.js'

let fresh: FreshDb
let rig: Rig
beforeAll(async () => {
  fresh = await freshDb({ max: 6 })
  const made = rigOf(fresh.db, [registered('anna')])
  rig = { ...made, x: { ...made.x, toolsUrl: 'http://127.0.0.1:3000/mcp' } }
})
afterAll(() => fresh.drop())

/** `seat` and `token` choose among what there is; `token` counts back from the newest. */
interface Step {
  readonly do: 'replace' | 'stop' | 'use' | 'use-as-let-in' | 'use-while-replaced'
  readonly seat: number
  readonly token: number
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    do: fc.constantFrom<Step['do']>(
      'replace',
      'stop',
      'use',
      'use',
      'use-as-let-in',
      'use-as-let-in',
      'use-while-replaced',
    ),
    seat: fc.nat({ max: 2 }),
    token: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.nat({ max: 4 })),
  }),
  { minLength: 6, maxLength: 24 },
)

interface Seat {
  readonly request: RequestId
  readonly ask: AskId
  readonly name: string
  issue(): Promise<string>
  /** Oldest first; the one of epoch n is at n - 1. `letIn`: as the door proved it while it was current. */
  readonly tokens: { readonly token: string; readonly letIn: ToolCaller; revoked: boolean }[]
}

async function seatOf(request: RequestId, name: string, issue: () => Promise<string>): Promise<Seat> {
  const [ask] = (await asksOf(rig, request)) as [AskId]
  const seat: Seat = { request, ask, name, issue, tokens: [] }
  await replace(seat)
  return seat
}

async function replace(seat: Seat): Promise<void> {
  const token = await seat.issue()
  const letIn = await callerOf(rig.x, token)
  if ('refused' in letIn) throw new Error(`a new token is refused: ${letIn.refused}`)
  expect(letIn.epoch).toBe(seat.tokens.length + 1)
  seat.tokens.push({ token, letIn, revoked: false })
}

/** Two lanes of the manager, and an agent that pulls by itself. */
async function begin(n: number): Promise<readonly Seat[]> {
  const lanes = await Promise.all(
    [0, 1].map(async () => {
      const { request, conversation, manager } = await rootInTurn(rig, 'Please see to it.')
      return { request, manager, lane: laneOf(conversation) as LaneId }
    }),
  )
  const [first] = lanes
  if (first === undefined) throw new Error('no lane')
  const child = await handOn(rig, first.manager, first.request, 'anna', { intent: 'consultation' })
  const seats = lanes.map(({ request, lane }) =>
    seatOf(request, `lane ${lane}`, async () => (await toolAccess(rig.x, { agent: MANAGER, lane })).token),
  )
  const session = `laptop-${n}`
  const anna = seatOf(child, `agent anna ${session}`, async () => {
    return (await standingToken(rig.x, { agent: agent('anna'), session })).token
  })
  const all = await Promise.all([...seats, anna])
  // A judgment needs that it was read.
  await rig.tools.inboxRead(all[2]?.tokens[0]?.letIn as ToolCaller, { cursor: null, limit: 50 })
  return all
}

const judge = ({ request, ask }: Seat, caller: ToolCaller) =>
  rig.tools.assess(caller, {
    eventId: event(),
    request,
    onRevision: 1 as Revision,
    asks: [{ ask, judgment: 'accepted', reason: 'mine' }],
  })
const seqOf = async ({ request }: Seat) => (await stateOf(rig, request)).seq

let worlds = 0
describe('tokens with epochs, at the door and in the ledger', () => {
  acceptance(
    'A18',
    '10: of all tokens of a seat only the newest acts, until it is stopped, whatever was let in before',
    async () => {
      await fc.assert(
        fc.asyncProperty(steps, async (history) => {
          const seats = await begin((worlds += 1))
          for (const step of history) {
            const seat = seats[step.seat] as Seat
            const place = Math.max(0, seat.tokens.length - 1 - step.token)
            const one = seat.tokens[place] as Seat['tokens'][number]
            const newest = place === seat.tokens.length - 1
            const acts = newest && !one.revoked
            const others = await Promise.all(seats.map(seqOf))
            let left = 0
            if (step.do === 'replace') await replace(seat)
            if (step.do === 'stop') {
              expect(await revokeToken(fresh.db.sql, seat.name, place + 1, rig.clock.now())).toBe(!one.revoked)
              one.revoked = true
            }
            if (step.do === 'use') {
              const caller = await callerOf(rig.x, one.token)
              if ('refused' in caller)
                expect([caller.refused, acts]).toEqual([one.revoked ? 'revoked' : 'stale-epoch', false])
              else {
                expect([acts, caller]).toEqual([true, one.letIn])
                expect(word(await judge(seat, caller))).toBe('accepted')
                left = 1
              }
            }
            if (step.do === 'use-as-let-in') {
              expect(word(await judge(seat, one.letIn))).toBe(acts ? 'accepted' : 'stale-epoch')
              left = acts ? 1 : 0
            }
            if (step.do === 'use-while-replaced') {
              const [receipt] = await Promise.all([judge(seat, one.letIn), replace(seat)])
              expect(acts ? ['accepted', 'stale-epoch'] : ['stale-epoch']).toContain(word(receipt))
              left = word(receipt) === 'accepted' ? 1 : 0
              expect(word(await judge(seat, one.letIn))).toBe('stale-epoch')
            }
            // What was refused left nothing, and nobody else's request was touched.
            expect(await Promise.all(seats.map(seqOf))).toEqual(
              others.map((seq, n) => seq + (n === step.seat ? left : 0)),
            )
          }
        }),
        boundedRuns(30),
      )
    },
  )
})
