import type { AgentTools, ToolCaller } from '../../collab/agent-tools.js'
import { decideOpenChild } from '../../collab/decide/children.js'
import { decideRecordSelection } from '../../collab/decide/inbox.js'
import { waitCircle } from '../../collab/decide/take-child.js'
import { accept, reject, type Decision } from '../../collab/decision.js'
import type { ExchangeState } from '../../collab/exchange-state.js'
import { BRIEF_BYTES } from '../../collab/project/brief.js'
import { candidatesOf } from '../../collab/project/select.js'
import type { RequestId } from '../../collab/refs.js'
import { canonicalJson, uuidV7From } from '../../lib/digest.js'
import type { Exchange } from '../deps.js'
import { digestOfText } from '../ids.js'
import { scopeOf } from '../open.js'
import { act, toolEventOf, type Base } from './act.js'
import { checkName, checkRefs, checkText, firstOf, SENTENCE_BYTES } from './check.js'
import { openChild, type ChildSpec } from './child.js'
import { candidatesFor, waitersOf } from './discover.js'

type Said = Parameters<AgentTools['ask']>[1]

/**
 * Hands work on: the parent says so with the choice of the receiver, then the child is opened, two commits with ids
 * that follow from the call. A crash between them leaves a wake that opens the child from the parent's own commit.
 *
 * @returns the parent's receipt with the child's id; refusals are those of `decideOpenChild` and
 *   `decideRecordSelection`, `wait-cycle` | `agent-unknown` | `too-large` | `bad-reference` | `text-empty`
 * @source RFC §5.5, §5.8, §5.10, ledger invariants 9, 15, 16 — A6
 */
export async function ask(
  x: Exchange,
  caller: ToolCaller,
  said: Said,
): Promise<Awaited<ReturnType<AgentTools['ask']>>> {
  const wrong = firstOf(
    checkName('receiver', said.receiver),
    checkText('question', said.question, BRIEF_BYTES),
    checkText('brief', said.brief, BRIEF_BYTES, 'be-empty'),
    checkText('reason', said.reason, SENTENCE_BYTES),
    checkRefs(said.refs),
  )
  let child: RequestId | null = null
  const receipt = await act(x, caller, 'ask', said, wrong, async ({ state, request }, base) => {
    child = uuidV7From(request.openedAt, 'child', base.eventId) as RequestId
    const spec = canonicalJson(specOf(caller, said))
    const found = await candidatesFor(x, caller, state, said.receiver, said.question)
    const chain = await waitersOf(x, caller, state)
    const digest = digestOfText(spec)
    const opened = { ...base, child, spec: digest }
    return {
      decide: (now) => {
        const handed = decideOpenChild(now, {
          ...opened,
          kind: 'open-child',
          agent: caller.agent,
          target: said.receiver,
          intent: said.intent,
          asks: said.asks,
        })
        if (handed.outcome === 'rejected') return handed
        const through = waitCircle(chain, said.receiver)
        if (through !== null) return reject({ reason: 'wait-cycle', through })
        return withChoice(now, base, handed, found, said)
      },
      also: () => ({
        texts: [{ digest, accessScope: scopeOf(request.conversation), body: spec }],
        wakes: [{ kind: 'upkeep', subject: `child-${opened.child}`, dueAt: base.at }],
      }),
    }
  })
  if (child === null || (receipt.outcome !== 'accepted' && receipt.outcome !== 'already-applied')) return receipt
  await openChild(x, said.request, child)
  return { ...receipt, child }
}

/** The origin is the call itself: a second round about the same work is another call and another request. */
function specOf(caller: ToolCaller, said: Said): ChildSpec {
  const { intent, question, brief, refs, direct } = said
  return { origin: toolEventOf(caller, said.eventId), intent, question, brief, refs, direct }
}

/** Why this receiver, kept with the hand-over itself. */
function withChoice(
  state: ExchangeState,
  base: Base,
  handed: Extract<Decision, { outcome: 'accepted' }>,
  found: Awaited<ReturnType<typeof candidatesFor>>,
  said: Said,
): Decision {
  if (!found.some((one) => one.agent === said.receiver)) return reject({ reason: 'agent-unknown' })
  const chosen = decideRecordSelection(state, {
    ...base,
    kind: 'record-selection',
    candidates: candidatesOf(found, said.receiver),
    chosen: said.receiver,
    reason: said.reason,
  })
  return chosen.outcome === 'rejected' ? chosen : accept(...handed.facts, ...chosen.facts)
}
