import type { AgentTools, ToolCaller } from '../../collab/agent-tools.js'
import { decideIntendEffect, decideSettleEffect } from '../../collab/decide/effects.js'
import { reject, type Receipt, type Refusal } from '../../collab/decision.js'
import { liveAttemptOf } from '../../collab/exchange-state.js'
import type { EffectId } from '../../collab/refs.js'
import { uuidFrom } from '../../lib/digest.js'
import { DAY } from '../../lib/time.js'
import { inputOf } from '../../stores/turns/turns.js'
import type { Exchange } from '../deps.js'
import { digestOfText } from '../ids.js'
import { scopeOf } from '../open.js'
import { act, toolEventOf } from './act.js'
import { afterCancel, languageOf } from './cancel.js'
import { inputAfter } from './input.js'
import { checkName, checkText, firstOf, SENTENCE_BYTES } from './check.js'

/** The exact input of one effect, in UTF-8 bytes. */
const INPUT_BYTES = 98_304

/**
 * Declares an outside effect before it is caused, with the key under which its provider knows a repeated call.
 *
 * @returns the receipt with the effect's id and that key; refusals are those of `decideIntendEffect`, and those of its
 *   words
 * @source RFC §5.10 (effect intents), ledger invariants 4, 17 — A7
 */
export async function declareEffect(
  x: Exchange,
  caller: ToolCaller,
  said: Parameters<AgentTools['declareEffect']>[1],
): ReturnType<AgentTools['declareEffect']> {
  const wrong = firstOf(
    checkName('effectKind', said.effectKind),
    checkText('target', said.target, SENTENCE_BYTES),
    checkText('input', said.input, INPUT_BYTES, 'be-empty'),
    checkDoubt(said.doubt),
  )
  const effect = uuidFrom('effect', toolEventOf(caller, said.eventId)) as EffectId
  const providerKey = uuidFrom('provider-key', effect)
  const receipt = await act(x, caller, 'declare-effect', said, wrong, ({ request }, base) => {
    const input = digestOfText(said.input)
    const { effectKind, target, doubt } = said
    return {
      decide: (state) => {
        const attempt = liveAttemptOf(state, caller.agent)
        if (attempt === null) return reject({ reason: 'not-receiver', receiver: request.target })
        const intent = { effect, effectKind, target, providerKey, doubt, input }
        return decideIntendEffect(state, { ...base, kind: 'intend-effect', attempt: attempt.id, ...intent })
      },
      also: () => ({ texts: [{ digest: input, accessScope: scopeOf(request.conversation), body: said.input }] }),
    }
  })
  const taken = receipt.outcome === 'accepted' || receipt.outcome === 'already-applied'
  return taken ? { ...receipt, effect, providerKey } : receipt
}

function checkDoubt(doubt: Parameters<AgentTools['declareEffect']>[1]['doubt']): Refusal | null {
  if (doubt.by !== 'resubmit') return null
  const { windowMs } = doubt
  const sound = Number.isSafeInteger(windowMs) && windowMs > 0 && windowMs <= 30 * DAY
  return sound ? null : { reason: 'bad-reference', field: 'doubt' }
}

/**
 * Says what became of an effect of the caller's own. A confirmation names where it can be seen.
 *
 * @returns refusals are those of `decideSettleEffect`, and `text-empty` for a confirmation without evidence
 * @source RFC §5.10, ledger invariants 3, 8 — A7
 */
export async function settleEffect(
  x: Exchange,
  caller: ToolCaller,
  said: Parameters<AgentTools['settleEffect']>[1],
): Promise<Receipt> {
  const { effect, became, evidence } = said
  const wrong =
    evidence === null
      ? became === 'confirmed'
        ? ({ reason: 'text-empty' } as const)
        : null
      : checkText('evidence', evidence, SENTENCE_BYTES)
  return await act(x, caller, 'settle-effect', said, wrong, async ({ request }, base) => {
    const input = await inputOf(x.db.sql, request.id)
    const language = await languageOf(x, request.conversation)
    return {
      decide: (state) => {
        const attempt = state.effects.get(effect)?.attempt
        const own = attempt !== undefined && state.attempts.get(attempt)?.target === caller.agent
        if (!own) return reject({ reason: 'effect-unknown' })
        return decideSettleEffect(state, { ...base, kind: 'settle-effect', effect, became, evidence })
      },
      also: (facts, state) => {
        const ended = facts.some((fact) => fact.kind === 'cancel-acknowledged')
        if (ended) return afterCancel(input, facts, state, language, base.at)
        const known = became === 'confirmed' || became === 'failed'
        // The turn that declared it ended without an answer because of it: the next one may now.
        if (!known || input?.because !== 'effect-open') return {}
        return {
          ...inputAfter(input, 'waiting', null),
          wakes: [{ kind: 'turn', subject: input.lane, dueAt: base.at }],
        }
      },
    }
  })
}
