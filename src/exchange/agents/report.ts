import type { AgentTools, ToolCaller } from '../../collab/agent-tools.js'
import type { OutgoingFile } from '../../collab/channel.js'
import { bearingOf } from '../../collab/bearing.js'
import { decideReport } from '../../collab/decide/report.js'
import { keepIfRecalled } from '../../collab/decide/withheld.js'
import { reject, type Receipt } from '../../collab/decision.js'
import type { ResultId } from '../../collab/refs.js'
import { uuidFrom } from '../../lib/digest.js'
import { SECOND } from '../../lib/time.js'
import { artifactOf } from '../../stores/artifacts/artifacts.js'
import { conversationOf } from '../../stores/conversations/conversations.js'
import { inputOf, profileOfTurn } from '../../stores/turns/turns.js'
import type { Exchange } from '../deps.js'
import { digestOfText } from '../ids.js'
import { scopeOf } from '../open.js'
import { returning, standsAfter } from '../withheld.js'
import { act } from './act.js'
import { checkText, firstOf, SENTENCE_BYTES } from './check.js'
import { inputAfter } from './input.js'

/** An answer is delivered whole, in parts; in UTF-8 bytes. */
const ANSWER_BYTES = 1_000_000

/** Files of one answer. */
const FILES = 20

/**
 * Commits a receiver's conclusion together with its way back and their wake.
 *
 * @returns the loop's receipt; refusals are those of `decideReport`, and `text-empty` | `too-large` | `bad-reference`
 *   for its words and files
 * @source RFC §5.6, ledger invariants 6, 7 — A6, A8
 */
export async function report(
  x: Exchange,
  caller: ToolCaller,
  said: Parameters<AgentTools['report']>[1],
): Promise<Receipt> {
  const wrong = firstOf(
    checkText('text', said.text, ANSWER_BYTES),
    said.conclusion === null ? null : checkText('conclusion', said.conclusion, SENTENCE_BYTES),
    said.artifacts.length > FILES ? { reason: 'too-large', limit: FILES } : null,
  )
  return await act(x, caller, 'report', said, wrong, async ({ request }, base) => {
    const { sql } = x.db
    const accessScope = scopeOf(request.conversation)
    const files = await filesOf(x, said.artifacts, accessScope)
    const input = await inputOf(sql, request.id)
    const language = (await conversationOf(sql, request.conversation))?.language ?? 'en'
    const profile = caller.turn === null ? null : await profileOfTurn(sql, caller.turn)
    const textDigest = digestOfText(said.text)
    const conclusionDigest = said.conclusion === null ? null : digestOfText(said.conclusion)
    return {
      decide: (state) => {
        if (files === null) return reject({ reason: 'bad-reference', field: 'artifacts' })
        const decision = decideReport(state, {
          ...base,
          kind: 'report-result',
          agent: caller.agent,
          turn: caller.turn,
          covers: said.covers,
          result: uuidFrom('result', base.eventId) as ResultId,
          textDigest,
          conclusionDigest,
          accessScope,
          files,
          supersedes: said.supersedes as ResultId | null,
        })
        return keepIfRecalled(state, decision, x.settings.onRecall)
      },
      also: (facts, state) => {
        const [fact] = facts
        if (fact?.kind !== 'result-committed') return {}
        const { result } = fact
        if (state.results.length === 0) {
          x.meter.observe('first_answer_seconds', (base.at - request.openedAt) / SECOND)
        }
        const open = [...state.asks].some(
          ([id, ask]) => !result.covers.includes(id) && (ask.is === 'owed' || ask.is === 'deferred'),
        )
        const bearing = bearingOf(state, result, fact.revision)
        const label = profile?.realModel === false ? 'no-model' : null
        return {
          ...returning(facts, request, result, { language, label, refused: [], bearing, at: base.at }, state.sources),
          texts: [
            { digest: textDigest, accessScope, body: said.text },
            ...(conclusionDigest === null
              ? []
              : [{ digest: conclusionDigest, accessScope, body: said.conclusion ?? '' }]),
          ],
          ...(open ? {} : inputAfter(input, ...standsAfter(facts))),
        }
      },
    }
  })
}

/** The artifacts by their ids; null when one is unknown or may not be read where the answer goes. */
async function filesOf(
  x: Exchange,
  ids: readonly string[],
  accessScope: string,
): Promise<readonly OutgoingFile[] | null> {
  const files: OutgoingFile[] = []
  for (const id of ids) {
    const row = /^[0-9a-f-]{36}$/.test(id) ? await artifactOf(x.db.sql, id) : null
    if (row === null || row.accessScope !== accessScope) return null
    const { digest, fileName, mediaType, size } = row
    files.push({ digest, fileName, mediaType, size })
  }
  return files
}
