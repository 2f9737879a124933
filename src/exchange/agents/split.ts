import type { AgentTools, ToolCaller } from '../../collab/agent-tools.js'
import { decideSplit } from '../../collab/decide/asks.js'
import { reject } from '../../collab/decision.js'
import { liveAttemptOf } from '../../collab/exchange-state.js'
import type { AskId, EventId } from '../../collab/refs.js'
import type { Ask } from '../../collab/request.js'
import { uuidFrom } from '../../lib/digest.js'
import type { Exchange } from '../deps.js'
import { digestOfText } from '../ids.js'
import { scopeOf } from '../open.js'
import { act, toolEventOf } from './act.js'
import { checkText, firstOf, SENTENCE_BYTES } from './check.js'

/** Questions that one message is split into. */
const PARTS = 20

/**
 * The receiver names the substantive questions of one message; the verbatim text is kept where it stands.
 *
 * @returns the receipt with the ids of the parts; refusals are those of `decideSplit`, `not-receiver`, and those of its words: at least two parts
 * @source RFC §5.11
 */
export async function split(
  x: Exchange,
  caller: ToolCaller,
  said: Parameters<AgentTools['split']>[1],
): ReturnType<AgentTools['split']> {
  const wrong = firstOf(
    said.into.length < 2 ? { reason: 'bad-reference', field: 'into' } : null,
    said.into.length > PARTS ? { reason: 'too-large', limit: PARTS } : null,
    ...said.into.map((text) => checkText('into', text, SENTENCE_BYTES)),
  )
  const receipt = await act(x, caller, 'split', said, wrong, ({ request }, base) => {
    const parts = said.into.map((text, n): Ask & { readonly body: string } => ({
      id: partId(base.eventId, n),
      textDigest: digestOfText(text),
      body: text,
    }))
    return {
      decide: (state) => {
        if (liveAttemptOf(state, caller.agent) === null) {
          return reject({ reason: 'not-receiver', receiver: request.target })
        }
        const [first, second, ...rest] = parts.map(({ id, textDigest }) => ({ id, textDigest }))
        if (first === undefined || second === undefined) return reject({ reason: 'bad-reference', field: 'into' })
        const { onRevision, ask } = said
        return decideSplit(state, { ...base, kind: 'split-ask', onRevision, of: ask, into: [first, second, ...rest] })
      },
      also: () => ({
        texts: parts.map(({ textDigest, body }) => ({
          digest: textDigest,
          accessScope: scopeOf(request.conversation),
          body,
        })),
      }),
    }
  })
  const taken = receipt.outcome === 'accepted' || receipt.outcome === 'already-applied'
  const event = toolEventOf(caller, said.eventId)
  return taken ? { ...receipt, asks: said.into.map((_text, n) => partId(event, n)) } : receipt
}

const partId = (event: EventId, n: number): AskId => uuidFrom('ask', event, n) as AskId
