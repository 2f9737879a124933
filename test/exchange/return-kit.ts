import { expect } from 'vitest'
import { decideEndTurn } from '../../src/collab/decide/record.js'
import { decideConclude } from '../../src/collab/decide/resolve.js'
import type { DeliverySource } from '../../src/collab/delivery.js'
import type { ResultRecord } from '../../src/collab/observation.js'
import {
  MANAGER,
  type AskId,
  type Instant,
  type RequestId,
  type ResultId,
  type TextDigest,
  type TurnId,
} from '../../src/collab/refs.js'
import { decideAndCommit } from '../../src/exchange/exchange.js'
import { laneOf } from '../../src/exchange/ids.js'
import { reviseRequest } from '../../src/exchange/revise.js'
import { turn as runLane } from '../../src/exchange/turn.js'
import type { Db } from '../../src/stores/db.js'
import { endTurnRow } from '../../src/stores/turns/turns.js'
import {
  agent,
  asksOf,
  attached,
  event,
  handOn,
  registered,
  rev,
  rigOf,
  rootInTurn,
  stateOf,
  word,
  type Root,
} from './agents-kit.js'

/* A root of the manager and what `anna`, who pulls by herself, does for it. */

const anna = attached('anna')

export interface Sent {
  readonly cause: string
  readonly ordinal: number
  readonly source: Extract<DeliverySource, { kind: 'answer' }>
}

export type Desk = ReturnType<typeof deskOf>

export function deskOf(db: Db) {
  const rig = rigOf(db, [registered('anna'), registered('ben')])
  const root = () => rootInTurn(rig, 'How many chairs are there?')

  /** Hands the owed asks of a root on. */
  async function handedOn({ request, manager }: Root, over: { direct?: boolean; asks?: readonly AskId[] } = {}) {
    return await handOn(rig, manager, request, 'anna', {
      asks: over.asks ?? (await asksOf(rig, request)),
      question: 'Count the chairs.',
      reason: 'counts',
      direct: over.direct ?? false,
    })
  }

  /** The receiver answers one ask at a revision. */
  async function answered(child: RequestId, n: number, text: string, supersedes: ResultId | null = null) {
    const ask = (await asksOf(rig, child))[n - 1] as AskId
    await rig.tools.inboxRead(anna, { cursor: null, limit: 50 })
    const { head } = await stateOf(rig, child)
    if (supersedes === null) {
      const asks = [{ ask, judgment: 'accepted' as const, reason: 'mine' }]
      expect(word(await rig.tools.assess(anna, { eventId: event(), request: child, onRevision: head, asks }))).toBe(
        'accepted',
      )
    }
    const said = { eventId: event(), request: child, covers: [ask], text, conclusion: null, artifacts: [], supersedes }
    expect(word(await rig.tools.report(anna, said))).toBe('accepted')
    return (await stateOf(rig, child)).results.at(-1)?.id as ResultId
  }

  /** As the lane of an agent that pulls by itself would run. */
  const lane = async (child: RequestId) => {
    const { request } = await stateOf(rig, child)
    if (request === null) throw new Error('there is no such child')
    const hold = { fence: 1, signal: new AbortController().signal, replayed: false }
    await runLane(rig.x, laneOf(request.conversation, agent('anna')), hold)
  }

  const revise = ({ manager }: Root, child: RequestId, onRevision: number, asks: readonly AskId[] = []) =>
    rig.tools.revise(manager, {
      eventId: event(),
      request: child,
      onRevision: rev(onRevision),
      text: 'Tables too.',
      asks,
    })

  /** The owner corrects the root, as its page does. */
  async function corrected({ request }: Root): Promise<AskId> {
    const { head } = await stateOf(rig, request)
    const receipt = await reviseRequest(rig.x, {
      requestId: request,
      kind: 'correction',
      text: 'And the tables.',
      onRevision: head,
      eventId: event(),
      actor: { kind: 'operator', session: 's' },
    })
    expect(word(receipt)).toBe('accepted')
    return (await asksOf(rig, request)).at(-1) as AskId
  }

  /** The answers on their way to the place of a root, in their order. */
  const sent = ({ request }: Root) => db.sql<Sent[]>`
    select cause_id as cause, ordinal, source from collab.deliveries
    where request = ${request} and cause_kind in ('result', 'interim') order by ordinal`
  const stands = async ({ request }: Root) => [...(await stateOf(rig, request)).asks.values()].map(({ is }) => is)
  const waiting = async ({ request }: Root) => {
    const [row] = await db.sql<{ state: string }[]>`select state from collab.turn_inputs where request = ${request}`
    return row?.state === 'waiting'
  }

  /** The turn of the manager ends without another word. */
  async function ended({ request }: Root): Promise<void> {
    const { running, turns } = await stateOf(rig, request)
    const turn = running === null ? undefined : turns.get(running)
    if (turn === undefined) throw new Error('no turn runs')
    const base = { eventId: event(), requestId: request, at: rig.x.clock.now() as Instant }
    const command = { ...base, kind: 'end-turn', turn: turn.id, attempt: turn.attempt, tries: 2 } as const
    await decideAndCommit(rig.x, { ...command, ending: { ended: 'completed' } } as const, decideEndTurn)
    await endTurnRow(db.sql, turn.id, 'completed', null, rig.x.clock.now())
  }

  /** The turn of the manager ends with these words; what they committed. */
  async function concluded({ request }: Root, turn: TurnId, text: string): Promise<ResultRecord> {
    const base = { eventId: event(), requestId: request, at: rig.x.clock.now() as Instant }
    const actor = { kind: 'agent', agent: MANAGER, turn } as const
    const said = { textDigest: text as TextDigest, conclusionDigest: null, accessScope: 's', files: [] }
    const command = {
      ...base,
      ...said,
      kind: 'conclude-turn',
      actor,
      turn,
      result: event() as string as ResultId,
    } as const
    expect(word(await decideAndCommit(rig.x, command, decideConclude))).toBe('accepted')
    return (await stateOf(rig, request)).results.at(-1) as ResultRecord
  }
  return { rig, root, handedOn, answered, lane, revise, corrected, sent, stands, waiting, ended, concluded }
}
