import type { AgentTools, ToolCaller } from '../../collab/agent-tools.js'
import type { RecallAnswer } from '../../collab/recall.js'
import { liveAttemptOf } from '../../collab/exchange-state.js'
import { errorLabel } from '../../lib/log.js'
import { SECOND } from '../../lib/time.js'
import type { Exchange } from '../deps.js'
import { checkText, SENTENCE_BYTES } from './check.js'
import { refuse } from './act.js'
import { reach } from './scope.js'

/** Hits of one question. */
const MOST = 5
/** A provider that takes longer is gone on without, in ms. */
const PATIENCE_MS = 2 * SECOND

/**
 * Asks what was before, for one named gap of a request that the caller works on. What a provider answers is evidence of
 * then: whatever of it the caller may not see is left out and counted, and a provider that is off, late, stale or broken
 * is a typed answer, never a failure of the work.
 *
 * @returns rejected with `request-unknown` | `not-receiver`, or for the words of the gap
 * @source RFC §5.7.4; A19
 */
export async function recallGap(
  x: Exchange,
  caller: ToolCaller,
  said: Parameters<AgentTools['recallGap']>[1],
): ReturnType<AgentTools['recallGap']> {
  const wrong = checkText('gap', said.gap, SENTENCE_BYTES)
  if (wrong !== null) return refuse(wrong)
  const reached = await reach(x, caller, said.request)
  if (reached === null) return refuse({ reason: 'request-unknown' })
  const { state, request } = reached
  if (liveAttemptOf(state, caller.agent) === null) return refuse({ reason: 'not-receiver', receiver: request.target })
  const query = { agent: caller.agent, conversation: request.conversation, request: request.id, gap: said.gap }
  const answer = await patiently(x, (signal) => x.recall.recall({ ...query, most: MOST }, signal))
  const told = answer.answer === 'found' ? await inScope(x, caller, answer) : answer
  x.meter.count(
    'context_coverage',
    told.answer === 'not-available' ? `recall-${told.because}` : `recall-${told.answer}`,
  )
  return told
}

/** Checked here, whatever the provider has checked: another agent's words never come in as hits. */
async function inScope(
  x: Exchange,
  caller: ToolCaller,
  answer: Extract<RecallAnswer, { answer: 'found' }>,
): Promise<RecallAnswer> {
  const hits = []
  for (const hit of answer.hits.slice(0, MOST)) {
    const reached = await reach(x, caller, hit.request)
    const own = reached !== null && [...reached.state.attempts.values()].some(({ target }) => target === caller.agent)
    if (own) hits.push(hit)
  }
  const omitted = answer.coverage.omitted + answer.hits.length - hits.length
  const coverage = { ...answer.coverage, omitted }
  return hits.length === 0 ? { answer: 'nothing-found', coverage } : { answer: 'found', hits, coverage }
}

async function patiently(x: Exchange, ask: (signal: AbortSignal) => Promise<RecallAnswer>): Promise<RecallAnswer> {
  const late = new AbortController()
  let stop: () => void = () => {}
  const tooLate = new Promise<RecallAnswer>((resolve) => {
    stop = x.every(PATIENCE_MS, async () => {
      late.abort()
      resolve({ answer: 'not-available', because: 'timeout' })
    })
  })
  try {
    return await Promise.race([ask(late.signal), tooLate])
  } catch (error) {
    x.log.warn('recall failed', { reason: x.recall.name, error: errorLabel(error) })
    return { answer: 'not-available', because: 'failed' }
  } finally {
    stop()
  }
}
