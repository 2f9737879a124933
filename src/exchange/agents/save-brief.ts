import type { AgentTools, ToolCaller } from '../../collab/agent-tools.js'
import { decideSaveBrief } from '../../collab/decide/save-brief.js'
import type { Receipt } from '../../collab/decision.js'
import { BRIEF_BYTES } from '../../collab/project/brief.js'
import { briefParts, writeBrief } from '../../collab/saved-brief.js'
import type { Exchange } from '../deps.js'
import { digestOfText } from '../ids.js'
import { scopeOf } from '../open.js'
import { act } from './act.js'
import { checkText, firstOf, SENTENCE_BYTES } from './check.js'

/**
 * Keeps the caller's own brief of a request that was given to it. It is on record before the receipt says so.
 *
 * @returns refusals are those of `decideSaveBrief`, `text-empty` for a brief that says nothing, and those of its words
 * @source RFC §5.7.2
 */
export async function saveBrief(
  x: Exchange,
  caller: ToolCaller,
  said: Parameters<AgentTools['saveBrief']>[1],
): Promise<Receipt> {
  const { brief, onRevision } = said
  const entries = briefParts.flatMap((part) => brief[part].map((text) => ({ part, text })))
  const body = writeBrief(brief)
  const wrong = firstOf(
    entries.length === 0 ? { reason: 'text-empty' } : null,
    ...entries.map(({ part, text }) => checkText(part, text, SENTENCE_BYTES)),
    checkText('brief', body, BRIEF_BYTES),
  )
  const digest = digestOfText(body)
  return await act(x, caller, 'save-brief', said, wrong, ({ request }, base) => ({
    decide: (state) =>
      decideSaveBrief(state, { ...base, kind: 'save-brief', agent: caller.agent, onRevision, brief: digest }),
    also: () => ({ texts: [{ digest, accessScope: scopeOf(request.conversation), body }] }),
  }))
}
