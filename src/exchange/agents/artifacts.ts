import type { AgentTools, ArtifactView, PutReceipt, ToolCaller } from '../../collab/agent-tools.js'
import { MANAGER } from '../../collab/refs.js'
import type { WorkRequest } from '../../collab/request.js'
import { uuidFrom } from '../../lib/digest.js'
import { artifactOf, putArtifact, type ArtifactRow } from '../../stores/artifacts/artifacts.js'
import { conversationOf } from '../../stores/conversations/conversations.js'
import { GRANT_USE } from '../../stores/grants/grants.js'
import { factsOf } from '../../stores/ledger/read.js'
import { writeAudit } from '../../stores/sessions/audit.js'
import type { Exchange } from '../deps.js'
import { standingFor, stillGranted } from '../grant-use.js'
import { digestOfText } from '../ids.js'
import { scopeOf } from '../open.js'
import { standing } from '../tokens.js'
import { refuse, toolEventOf } from './act.js'
import { filesOf, isArtifactId } from './artifact-files.js'
import { checkName } from './check.js'
import { refuseForOthers } from './on-behalf.js'
import { reach } from './scope.js'

/**
 * Stores a file for a request that the caller may see; whoever may read that conversation may be given it. Nothing is
 * read of what a stranger sends. The same call again stores nothing, other bytes under its event id are a conflict.
 *
 * @returns refusals are `request-unknown`, `too-large` with the limit in bytes, `text-empty` for no bytes,
 *   `stale-epoch`, and `bad-reference` for the event id
 * @source RFC §5.11 (artifact continuity)
 */
export async function artifactPut(
  x: Exchange,
  caller: ToolCaller,
  said: Parameters<AgentTools['artifactPut']>[1],
): Promise<PutReceipt> {
  const wrong = checkName('eventId', said.eventId)
  if (wrong !== null) return refuse(wrong)
  const reached = await reach(x, caller, said.request)
  if (reached === null) return refuse({ reason: 'request-unknown' })
  const limit = x.settings.attachmentLimitBytes
  const stored = await x.artifacts.put(said.bytes, limit)
  if (!stored.stored)
    return refuse(stored.because === 'empty' ? { reason: 'text-empty' } : { reason: 'too-large', limit })
  const { digest, size } = stored
  const fileName = x.artifacts.nameOf(said.fileName)
  const row: ArtifactRow = {
    id: uuidFrom('artifact', toolEventOf(caller, said.eventId)),
    digest,
    size,
    fileName,
    mediaType: x.artifacts.typeOf(stored.mediaType, fileName),
    accessScope: scopeOf(reached.request.conversation),
    source: { request: said.request, agent: caller.agent },
  }
  return await x.db.tx(async (tx): Promise<PutReceipt> => {
    const replaced = await standing(caller)(tx)
    if (replaced !== null) return refuse(replaced)
    const { eventId } = said
    if (await putArtifact(tx, row, x.clock.now())) return { outcome: 'accepted', eventId, ...viewOf(x, row) }
    const before = await artifactOf(tx, row.id)
    const same = before?.digest === digest && before.fileName === fileName && before.source['request'] === said.request
    return same ? { outcome: 'already-applied', eventId, ...viewOf(x, before) } : { outcome: 'conflict', eventId }
  })
}

/**
 * Reads a file of a request. Asked before anything is read: may the caller see the request, and is the file one of it?
 * The manager reads all of its conversation; a worker what it put there itself, what was put on the request, and what
 * belongs to it. A file of another chat is read only by a standing permission that names that chat.
 *
 * @returns null for every other file and for one that does not exist, so that neither can be told from the other
 * @source RFC §5.11, ledger invariant 13 — A14
 */
export async function artifactGet(
  x: Exchange,
  caller: ToolCaller,
  said: Parameters<AgentTools['artifactGet']>[1],
): ReturnType<AgentTools['artifactGet']> {
  const reached = await reach(x, caller, said.request)
  const row = isArtifactId(said.artifact) ? await artifactOf(x.db.sql, said.artifact) : null
  if (reached === null || row === null) return null
  if (row.accessScope !== scopeOf(reached.request.conversation)) {
    const others = await refuseForOthers(x, caller, reached.request)
    const permitted = others === null && (await readsElsewhere(x, caller, reached.request, row))
    return permitted ? { file: viewOf(x, row), bytes: x.artifacts.read(row.digest) } : null
  }
  return (await belongs(x, caller, said.request, row))
    ? { file: viewOf(x, row), bytes: x.artifacts.read(row.digest) }
    : null
}

/** Matched at this very read, and on record before anything of it is told. */
async function readsElsewhere(
  x: Exchange,
  caller: ToolCaller,
  request: WorkRequest,
  row: ArtifactRow,
): Promise<boolean> {
  const conversation = await conversationOf(x.db.sql, row.accessScope.slice(scopeOf('').length))
  if (conversation === null || conversation.bot !== request.origin.bot) return false
  const found = await standingFor(x, {
    request,
    agent: caller.agent,
    operation: digestOfText(`read artifact ${row.id}`),
    does: [{ effect: 'read', resource: { kind: 'chat', chat: conversation.chatId } }],
  })
  const { grants } = found
  if (grants === null) return false
  const now = x.clock.now()
  return await x.db.tx(async (tx) => {
    if ((await standing(caller)(tx)) !== null || (await stillGranted(x, grants)(tx)) !== null) return false
    for (const grant of grants) {
      const line = { id: x.newId(), at: now, who: caller.agent, act: `${GRANT_USE}: read ${row.id}`, subject: grant }
      await writeAudit(tx, line)
    }
    return true
  })
}

async function belongs(
  x: Exchange,
  caller: ToolCaller,
  request: Parameters<AgentTools['artifactGet']>[1]['request'],
  row: ArtifactRow,
): Promise<boolean> {
  if (caller.agent === MANAGER || row.source['agent'] === caller.agent || row.source['request'] === request) return true
  const { carried } = await filesOf(x, await factsOf(x.db.sql, request))
  return carried.some((one) => one.row.id === row.id)
}

function viewOf(x: Exchange, row: ArtifactRow): ArtifactView {
  const { id, mediaType, size, digest } = row
  return { artifact: id, fileName: x.artifacts.nameOf(row.fileName), mediaType, size, digest }
}
