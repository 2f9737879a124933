import type { ExchangeState } from '../collab/exchange-state.js'
import { inLine } from '../collab/project/outside.js'
import { shortOf, type Told } from '../collab/project/told.js'
import type { ResultRecord } from '../collab/observation.js'
import { MANAGER } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { stateOfRequest, textsOf } from '../stores/ledger/read.js'
import { latestOf, ranElsewhere } from '../stores/turns/stops.js'
import type { Exchange } from './deps.js'
import type { Context } from './fresh.js'
import { scopeOf } from './open.js'

/**
 * What earlier turns of a request had before them or said themselves: conclusions of children that were taken up then,
 * and the request's own. A session that was replaced knows of them only by this.
 *
 * @param accessScope in which the texts were stored
 * @source RFC §5.7.2 (what is already done, with its receipts) — A8, A13
 */
export async function toldBefore(
  x: Exchange,
  state: ExchangeState,
  accessScope: string,
): Promise<{ readonly taken: readonly Told[]; readonly answered: readonly Told[] }> {
  const taken: Told[] = []
  for (const [id, child] of state.children) {
    if (child.returned === null || !child.integrated) continue
    const { ended, result } = child.returned
    const results = result === null ? [] : (await stateOfRequest(x.db.sql, id)).results
    const record = results.find((one) => one.id === result)
    const said = record === undefined ? null : await saidIn(x, record, accessScope)
    taken.push({ id, what: `from ${child.target}, request ${id} (${ended})`, said, digest: record?.textDigest ?? null })
  }
  const answered: Told[] = []
  for (const record of state.results) {
    if (record.kind !== 'result') continue
    const said = await saidIn(x, record, accessScope)
    answered.push({ id: record.id, what: `result ${record.id}`, said, digest: record.textDigest })
  }
  return { taken, answered }
}

/** The beginning of what a result says; its conclusion, where it has one. Null when the words were erased. */
async function saidIn(x: Exchange, record: ResultRecord, accessScope: string): Promise<string | null> {
  const digest = record.conclusionDigest ?? record.textDigest
  const body = (await textsOf(x.db.sql, [digest], accessScope)).get(digest)
  return body === undefined ? null : shortOf(inLine(body))
}

/** How far back a new session is told of its conversation. */
const EARLIER = 5
const LOOKED_AT = 20

/**
 * What was asked and answered before in a conversation, for a session that knows nothing of it yet: newest last, each
 * by its beginning, from the same context and for the same agent.
 *
 * What was said while its agent might learn of other goals than now is left out: it stays on the record of the
 * conversation, and is not told to a session that begins without them.
 *
 * @source RFC §5.7.1 (the same agent replaces a missing session)
 */
export async function earlierIn(
  x: Exchange,
  request: WorkRequest,
  context: Pick<Context, 'since' | 'sessionLane' | 'otherSessions'>,
): Promise<readonly { readonly title: string; readonly text: string }[]> {
  const agent = request.target ?? MANAGER
  const { since } = context
  const lines: string[] = []
  const latest = await latestOf(x.db.sql, request.conversation, LOOKED_AT)
  const elsewhere = await ranElsewhere(x.db.sql, latest, [context.sessionLane, ...context.otherSessions])
  for (const id of latest.filter((one) => !elsewhere.has(one))) {
    const state = id === request.id ? null : await stateOfRequest(x.db.sql, id)
    const before = state?.request ?? null
    if (state === null || before === null || (before.target ?? MANAGER) !== agent) continue
    if (since !== null && before.openedAt < since) break
    const record = state.results.at(-1)
    const scope = scopeOf(request.conversation)
    const [ask] = before.asks
    const asked = ask === undefined ? null : (await textsOf(x.db.sql, [ask.textDigest], scope)).get(ask.textDigest)
    const said = record === undefined ? null : await saidIn(x, record, scope)
    const stands = state.closed ?? (said === null ? 'open' : 'answered')
    lines.unshift(
      `- request ${id} (${stands}): ${shortOf(inLine(asked ?? ''))}${said === null ? '' : `\n  answered: ${said}`}`,
    )
    if (lines.length === EARLIER) break
  }
  if (lines.length === 0) return []
  const title = 'Before this, in the same conversation (your session is a new one; exchange_show has each whole)'
  return [{ title, text: lines.join('\n') }]
}
