import type { Omission } from '../../collab/context.js'
import type { Observation } from '../../collab/observation.js'
import { composeBrief, type BriefMaterial, type ComposedBrief } from '../../collab/project/brief.js'
import { materialOf, revisionsOf, wordsOf } from '../../collab/project/material.js'
import type { RequestId, ResultId } from '../../collab/refs.js'
import type { ExchangeState } from '../../collab/exchange-state.js'
import type { WorkRequest } from '../../collab/request.js'
import { factsOf, stateOfRequest, textsOf } from '../../stores/ledger/read.js'
import type { Exchange } from '../deps.js'
import { filesOf, type Carried } from './artifact-files.js'

/**
 * What a receiver reads of a request: of an owner's own request the messages themselves, of one that an agent made
 * its question, the origin messages that the host attached, and the asker's brief. Read at the request's own scope.
 *
 * @returns null when there is no such request
 */
export async function briefOf(x: Exchange, request: RequestId): Promise<ComposedBrief | null> {
  return await briefOfFacts(x, await factsOf(x.db.sql, request))
}

export async function briefOfFacts(x: Exchange, facts: readonly Observation[]): Promise<ComposedBrief | null> {
  const read = wordsOf(facts)
  const last = revisionsOf(facts).at(-1)
  if (read === null || last === undefined) return null
  const bodies = await textsOf(x.db.sql, read.digests, read.accessScope)
  const files = await filesOf(x, facts)
  const material = materialOf(facts, (digest) => bodies.get(digest) ?? null, {
    returned: await returnedTo(x, facts, read.accessScope),
    refs: refsOf(last.request, files.carried),
    omissions: omissionsOf(last.context.omissions, files),
  })
  return material === null ? null : composeBrief(material)
}

/** The newest end of each child that came back, with the words of its result. */
async function returnedTo(
  x: Exchange,
  facts: readonly Observation[],
  accessScope: string,
): Promise<BriefMaterial['returned']> {
  const ends = new Map(facts.flatMap((fact) => (fact.kind === 'child-returned' ? [[fact.child, fact] as const] : [])))
  return await Promise.all(
    [...ends.values()].map(async ({ child, ended, result }) => {
      const state = await stateOfRequest(x.db.sql, child)
      const from = `agent:${state.request?.target ?? 'unknown'}`
      return { request: child, ended, from, text: await answersOf(x, state, result, accessScope) }
    }),
  )
}

/**
 * The words of a child that came back with a result: of each that still answers an ask, oldest first, since a
 * corrected request is answered by several.
 */
export async function answersOf(
  x: Exchange,
  child: ExchangeState,
  returned: ResultId | null,
  accessScope: string,
): Promise<string | null> {
  if (returned === null) return null
  const standing = new Set([...child.asks.values()].flatMap((ask) => (ask.is === 'covered' ? [ask.by] : [])))
  const digests = child.results.flatMap((one) => (one.id === returned || standing.has(one.id) ? [one.textDigest] : []))
  const bodies = await textsOf(x.db.sql, digests, accessScope)
  const texts = [...new Set(digests)].flatMap((digest) => bodies.get(digest) ?? [])
  return texts.length === 0 ? null : texts.join('\n\n')
}

/** A file that a reader can get by `artifact_get` is not missing, only not in the text. */
function omissionsOf(
  known: readonly Omission[],
  { carried, attached }: Awaited<ReturnType<typeof filesOf>>,
): readonly Omission[] {
  const stored = new Set(carried.map(({ row }) => row.id))
  const missing = attached.filter(({ artifact }) => !stored.has(artifact))
  // The host named the attachments when it made the context, before it was known which of them can be had.
  const others = known.filter(
    ({ what, because }) => because !== 'unsupported' || !attached.some((one) => one.what === what),
  )
  return [...others, ...missing.map(({ what }) => ({ what, because: 'unsupported' as const }))]
}

/** The references as they were given; a stored file with its id, its name, its type and where it came from. */
function refsOf(request: WorkRequest, carried: readonly Carried[]): readonly string[] {
  const described = new Map(carried.map(({ row, from }) => [row.id, describe(row, from)]))
  const given = request.workRefs.map((ref) => described.get(ref) ?? ref)
  const more = carried.flatMap(({ row, from }) => (request.workRefs.includes(row.id) ? [] : [describe(row, from)]))
  return [...given, ...more]
}

function describe(row: Carried['row'], from: Carried['from']): string {
  const origin =
    from.kind === 'message'
      ? `, sent with message ${from.message}`
      : from.kind === 'result'
        ? `, given with the result of request ${from.request}`
        : ''
  // A name is somebody's text: it stays on its line.
  const name = row.fileName.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
  return `artifact ${row.id}: ${name} (${row.mediaType}, ${row.size} bytes${origin})`
}
