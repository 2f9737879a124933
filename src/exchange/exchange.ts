import type { Decision, Receipt, Refusal } from '../collab/decision.js'
import type { ExchangeState } from '../collab/exchange-state.js'
import type { Fact } from '../collab/observation.js'
import type { WakeRef } from '../collab/ports.js'
import type { EventId, Instant, RequestId, Revision, Seq } from '../collab/refs.js'
import { digestOf } from '../lib/digest.js'
import type { Tx } from '../stores/db.js'
import { append, type Also } from '../stores/ledger/commit.js'
import { foldWithPrior, lockHead } from '../stores/ledger/read.js'
import type { Exchange } from './deps.js'

/** What every command carries. `at` is when we heard it and is no part of what was said. */
export interface Command {
  readonly kind: string
  readonly eventId: EventId
  readonly requestId: RequestId
  readonly at: Instant
}

/**
 * Asked inside the transaction, before anything is decided: null, or why whoever gives the command may not act any
 * more. It locks what it looked at, so that its answer still holds when the facts commit.
 */
export type Stands = (tx: Tx) => Promise<Refusal | null>

/**
 * One command, one transaction, its facts. Every verb of the exchange goes through here: ask whether its giver still
 * stands, lock the head, fold, look for an earlier run of the same command, decide, append.
 *
 * The order must not change. The prior receipt is looked for before deciding: a repeated assign would otherwise be
 * refused by the fence that it took itself.
 *
 * @param also what belongs to the accepted facts in the same statement, made from them alone
 * @param said by what the same command is known again, when the command also carries what we found out about it: an
 *   agent that repeats its call in a later turn says the same
 * @param stands of a command that an executor gives which can be replaced meanwhile; absent: nobody can be
 * @returns accepted, already-applied (the same command was heard before), conflict (the same event id said something
 *   else) or rejected with the decision's refusal, which is not recorded
 * @source RFC §5.10, ledger invariants 1–4 — A7
 */
export async function decideAndCommit<C extends Command>(
  x: Pick<Exchange, 'db' | 'wake'>,
  command: C,
  decide: (state: ExchangeState, command: C) => Decision,
  also: (facts: readonly Fact[], state: ExchangeState) => Also = () => ({}),
  said: unknown = whatWasSaid(command),
  stands: Stands = nobodyReplaced,
): Promise<Receipt> {
  const digest = digestOf(said)
  const run = () => attempt(x, command, digest, decide, also, stands)
  const done = await run().catch((error: unknown) => {
    // Two first openings of one request have no head row to meet at; the loser reads what the winner wrote.
    if (isUniqueViolation(error)) return run()
    throw error
  })
  if (done.wakes.length > 0) x.wake.kick(done.wakes)
  return done.receipt
}

const nobodyReplaced: Stands = async () => null

function whatWasSaid(command: Command): unknown {
  const { at: _heard, ...said } = command
  return said
}

async function attempt<C extends Command>(
  x: Pick<Exchange, 'db'>,
  command: C,
  digest: string,
  decide: (state: ExchangeState, command: C) => Decision,
  also: (facts: readonly Fact[], state: ExchangeState) => Also,
  stands: Stands,
): Promise<{ readonly receipt: Receipt; readonly wakes: readonly WakeRef[] }> {
  return await x.db.tx(async (tx) => {
    // One round trip: the connection runs them in this order, and the fold sees what was committed before the lock.
    const [replaced, , { state, prior }] = await Promise.all([
      stands(tx),
      lockHead(tx, command.requestId),
      foldWithPrior(tx, command.requestId, command.eventId),
    ])
    if (replaced !== null) return { receipt: { outcome: 'rejected', refusal: replaced }, wakes: [] }
    if (prior !== null) {
      const receipt: Receipt =
        prior.digest === digest
          ? { outcome: 'already-applied', eventId: command.eventId, seq: prior.seq, revision: prior.revision }
          : { outcome: 'conflict', eventId: command.eventId }
      return { receipt, wakes: [] }
    }
    const decision = decide(state, command)
    if (decision.outcome === 'rejected') return { receipt: decision, wakes: [] }
    const wakes = await append(tx, {
      request: command.requestId,
      eventId: command.eventId,
      digest,
      facts: decision.facts,
      seen: state.seq,
      head: state.head,
      at: command.at,
      also: also(decision.facts, state),
    })
    const last = decision.facts[decision.facts.length - 1] ?? decision.facts[0]
    const receipt: Receipt = {
      outcome: 'accepted',
      eventId: command.eventId,
      seq: (state.seq + decision.facts.length) as Seq,
      revision: last.revision as Revision,
    }
    return { receipt, wakes }
  })
}

function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '23505'
}
