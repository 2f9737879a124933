import type { Observation } from '../../collab/observation.js'
import { MANAGER, type ActorRef, type RequestId } from '../../collab/refs.js'
import { uuidFrom } from '../../lib/digest.js'
import { artifactsAmong, type ArtifactRow } from '../../stores/artifacts/artifacts.js'
import { messageEvent } from '../../stores/ingress/ingress.js'
import { factsOf } from '../../stores/ledger/read.js'
import type { Exchange } from '../deps.js'

/** A file that belongs to a request, and where it came from. */
export interface Carried {
  readonly row: ArtifactRow
  readonly from:
    | { readonly kind: 'message'; readonly message: string }
    | { readonly kind: 'reference' }
    | { readonly kind: 'result'; readonly request: RequestId }
}

/** A file that a message of the provider brought, stored or not. */
interface Attached {
  readonly message: string
  readonly artifact: string
  /** How an omission names it. */
  readonly what: string
}

/** One attachment of one message is one artifact, whoever fetched it first. */
export const attachmentIdOf = (bot: string, message: string, key: string): string =>
  uuidFrom('artifact', bot, message, key)

/**
 * The stored files that belong to a request: those of the owner's messages that the host attached, those that its asker
 * named and has itself, and those of its own results and of what came back to it.
 *
 * @returns `attached` also names what the messages brought and nobody has stored
 *
 * @source RFC §5.11 (artifact continuity), ledger invariant 13 — A14
 */
export async function filesOf(
  x: Exchange,
  facts: readonly Observation[],
): Promise<{ readonly carried: readonly Carried[]; readonly attached: readonly Attached[] }> {
  const last = facts.findLast((fact) => fact.kind === 'request-opened' || fact.kind === 'request-revised')
  if (last?.kind !== 'request-opened' && last?.kind !== 'request-revised') return { carried: [], attached: [] }
  const request = last.kind === 'request-opened' ? last.opened : last.revised
  const { sourceRefs, accessScope } = last.context
  const messages = sourceRefs.flatMap((source) => (source.kind === 'message' ? [source.id] : []))
  const attached = await attachedTo(x, request.origin.bot, messages)
  const named = request.workRefs.filter((ref) => isArtifactId(ref))
  const results = await resultsOf(x, facts)
  const rows = await artifactsAmong(x.db.sql, accessScope, {
    ids: [...attached.map((one) => one.artifact), ...named],
    digests: results.flatMap((one) => one.digests),
  })
  const carried: Carried[] = []
  for (const row of rows) {
    const message = attached.find((one) => one.artifact === row.id)?.message
    const result = results.find((one) => one.digests.includes(row.digest))
    if (message !== undefined) carried.push({ row, from: { kind: 'message', message } })
    else if (result !== undefined) carried.push({ row, from: { kind: 'result', request: result.request } })
    else if (await asksWith(x, request.sender, request.parent, row)) carried.push({ row, from: { kind: 'reference' } })
  }
  return { carried, attached }
}

export const isArtifactId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

async function attachedTo(x: Exchange, bot: string, messages: readonly string[]): Promise<readonly Attached[]> {
  const events = await Promise.all(messages.map((id) => messageEvent(x.db.sql, bot, id)))
  return events.flatMap((event) => {
    if (event?.kind !== 'message') return []
    const { messageId, attachments } = event.message
    return attachments.map((file, n) => ({
      message: messageId,
      artifact: attachmentIdOf(bot, messageId, file.key),
      what: file.fileName ?? `${file.kind} ${n + 1}`,
    }))
  })
}

/** Whoever names a file to another must have it: naming one gives nobody what its asker could not read. */
async function asksWith(x: Exchange, asker: ActorRef, parent: RequestId | null, row: ArtifactRow): Promise<boolean> {
  if (asker.kind !== 'agent' || parent === null) return false
  if (asker.agent === MANAGER || row.source['agent'] === asker.agent || row.source['request'] === parent) return true
  const { carried } = await filesOf(x, await factsOf(x.db.sql, parent))
  return carried.some((one) => one.row.id === row.id)
}

/** The files of the results of a request and of those that came back to it. */
async function resultsOf(
  x: Exchange,
  facts: readonly Observation[],
): Promise<readonly { readonly request: RequestId; readonly digests: readonly string[] }[]> {
  const children = new Set(
    facts.flatMap((fact) => (fact.kind === 'child-returned' && fact.result !== null ? [fact.child] : [])),
  )
  const returned = await Promise.all([...children].map((child) => factsOf(x.db.sql, child)))
  return [facts, ...returned].flatMap((some) =>
    some.flatMap((fact) =>
      fact.kind === 'result-committed' && fact.result.files.length > 0
        ? [{ request: fact.request, digests: fact.result.files.map((file) => file.digest) }]
        : [],
    ),
  )
}
