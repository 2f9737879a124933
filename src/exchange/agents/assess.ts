import type { AgentTools, ToolCaller } from '../../collab/agent-tools.js'
import { decideAssess, verdictOf } from '../../collab/decide/assess.js'
import { reject, type Refusal } from '../../collab/decision.js'
import type { AskState, ExchangeState } from '../../collab/exchange-state.js'
import type { AskJudgment, Fact } from '../../collab/observation.js'
import type { WorkRequest } from '../../collab/request.js'
import { SECOND } from '../../lib/time.js'
import type { Also } from '../../stores/ledger/commit.js'
import { inputOf } from '../../stores/turns/turns.js'
import type { Exchange } from '../deps.js'
import { nextLook } from '../returns.js'
import { act } from './act.js'
import { checkText, firstOf, SENTENCE_BYTES } from './check.js'
import { inputAfter, type Input } from './input.js'

type Said = Parameters<AgentTools['assess']>[1]

/**
 * The receiver's own judgment, ask by ask. A deferral names who owes it, its condition and its next recheck, and puts
 * the wake for that time.
 *
 * @returns the receipt with the verdict; refusals are those of `decideAssess`, and `bad-reference` | `too-large` |
 *   `text-empty` for its words
 * @source RFC §5.5 — A5, A6
 */
export async function assess(x: Exchange, caller: ToolCaller, said: Said): ReturnType<AgentTools['assess']> {
  const judged = judgmentsOf(said)
  const wrong = 'reason' in judged ? judged : null
  const asks = 'reason' in judged ? [] : judged
  const receipt = await act(x, caller, 'assess', said, wrong, async ({ request }, base) => {
    const input = await inputOf(x.db.sql, request.id)
    return {
      decide: (state) => {
        const [first, ...rest] = asks
        if (first === undefined) return reject({ reason: 'nothing-owed' })
        return decideAssess(state, {
          ...base,
          kind: 'assess-request',
          agent: caller.agent,
          onRevision: said.onRevision,
          asks: [first, ...rest],
        })
      },
      also: (facts, state) => {
        const [shown] = [...state.turns.values()].filter((turn) => turn.revision === state.head)
        if (state.assessment === null && shown !== undefined) {
          x.meter.observe('assessment_seconds', (base.at - shown.presentedAt) / SECOND)
        }
        return afterAssessment(request, input, facts, state.asks, base.at)
      },
    }
  })
  const taken = receipt.outcome === 'accepted' || receipt.outcome === 'already-applied'
  return taken ? { ...receipt, verdict: verdictOf(asks) } : receipt
}

function judgmentsOf(said: Said): readonly AskJudgment[] | Refusal {
  const judged: AskJudgment[] = []
  for (const one of said.asks) {
    const wrong = checkText('reason', one.reason, SENTENCE_BYTES)
    if (wrong !== null) return wrong
    if (one.judgment !== 'deferred') {
      judged.push({ ask: one.ask, judgment: one.judgment, reason: one.reason })
      continue
    }
    const { until } = one
    if (until === undefined || !Number.isSafeInteger(until.recheckAt) || until.recheckAt < 0) {
      return { reason: 'bad-reference', field: 'until' }
    }
    const note = until.condition.when === 'note' ? until.condition.note : until.condition.when
    const vague = firstOf(
      checkText('until.owner', until.owner, SENTENCE_BYTES),
      checkText('until.condition', note, SENTENCE_BYTES),
    )
    if (vague !== null) return vague
    judged.push({ ask: one.ask, judgment: 'deferred', reason: one.reason, until })
  }
  return judged
}

/** The recheck of what was deferred, and the end of what was refused whole. */
function afterAssessment(
  request: WorkRequest,
  input: Input | null,
  facts: readonly Fact[],
  before: ExchangeState['asks'],
  now: number,
): Also {
  const judged = facts.flatMap((fact) => (fact.kind === 'assessed' ? fact.asks : []))
  const put = judged.flatMap((one) => (one.judgment === 'deferred' ? [one.until] : []))
  const wakes = put.length === 0 ? [] : [due(request, nextLook(put, now))]
  const stands = new Set(
    [...before].map(([id, ask]) =>
      judgedAs(
        judged.find((one) => one.ask === id),
        ask.is,
      ),
    ),
  )
  if (!stands.has('owed') && !stands.has('deferred')) {
    const back =
      request.parent === null ? [] : [{ kind: 'upkeep', subject: `return-${request.id}`, dueAt: now } as const]
    return { ...inputAfter(input, 'settled', 'rejected'), wakes: [...wakes, ...back] }
  }
  // All that is left waits for its condition: nothing starts by itself until then, and it stays in the inbox.
  if (!stands.has('owed') && input?.state === 'waiting') return { ...inputAfter(input, 'held', 'deferred'), wakes }
  // What was put off and is taken on after all runs again by itself.
  if (stands.has('owed') && input?.state === 'held' && input.because === 'deferred') {
    const turn = { kind: 'turn', subject: input.lane, dueAt: now } as const
    return { ...inputAfter(input, 'waiting', null), wakes: [...wakes, turn] }
  }
  return { wakes }
}

function judgedAs(judged: AskJudgment | undefined, before: AskState['is']): AskState['is'] {
  if (judged === undefined) return before
  return judged.judgment === 'rejected' || judged.judgment === 'deferred' ? judged.judgment : 'owed'
}

const due = (request: WorkRequest, at: number) => ({ kind: 'upkeep', subject: `due-${request.id}`, dueAt: at }) as const
