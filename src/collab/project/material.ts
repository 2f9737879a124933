import type { SemanticContext } from '../context.js'
import type { Observation } from '../observation.js'
import type { ActorRef, TextDigest } from '../refs.js'
import type { WorkRequest } from '../request.js'
import type { BriefMaterial, Written } from './brief.js'

/** One committed revision of a request. */
export interface Committed {
  readonly request: WorkRequest
  readonly context: SemanticContext
  readonly actor: ActorRef
}

/** The request at each of its revisions, oldest first. */
export function revisionsOf(facts: readonly Observation[]): readonly Committed[] {
  return facts.flatMap((fact) => {
    const { actor } = fact
    if (fact.kind === 'request-opened') return [{ request: fact.opened, context: fact.context, actor }]
    return fact.kind === 'request-revised' ? [{ request: fact.revised, context: fact.context, actor }] : []
  })
}

/** How a reader is told who wrote or did something. */
export function nameOf(actor: ActorRef): string {
  switch (actor.kind) {
    case 'person':
      return actor.openId
    case 'agent':
      return `agent:${actor.agent}`
    case 'operator':
      return 'operator'
    case 'host':
      return 'host'
  }
}

/** The texts that a reader of a request is shown, and the one scope in which they are read; null: no such request. */
export function wordsOf(
  facts: readonly Observation[],
): { readonly accessScope: string; readonly digests: readonly TextDigest[] } | null {
  const revisions = revisionsOf(facts)
  const last = revisions.at(-1)
  if (last === undefined) return null
  const { originalText, corrections, summary } = last.context.brief
  return {
    accessScope: last.context.accessScope,
    digests: [
      originalText,
      ...corrections,
      ...revisions.flatMap((one) => one.request.asks.map((ask) => ask.textDigest)),
      ...(summary === undefined ? [] : [summary.textDigest]),
    ],
  }
}

/**
 * What a receiver reads of a request, from its own facts alone: of an owner's own request the messages themselves, of
 * one that an agent made its question, the origin messages that the host attached, and the asker's brief.
 *
 * @param textOf the body of a text in the scope of `wordsOf`; null: it is gone, or none of that scope
 * @param beside what does not stand in the facts
 * @returns null when there is no such request
 * @source RFC §5.4, ledger invariant 13
 */
export function materialOf(
  facts: readonly Observation[],
  textOf: (digest: TextDigest) => string | null,
  beside: Pick<BriefMaterial, 'returned' | 'refs' | 'omissions'>,
): BriefMaterial | null {
  const revisions = revisionsOf(facts)
  const last = revisions.at(-1)
  if (last === undefined) return null
  const { context, request } = last
  const asks = revisions.flatMap((one) => one.request.asks.map((ask) => ({ ask, by: nameOf(one.actor), one })))
  if (request.parent === null) {
    const origins = asks.map(({ ask, by, one }) => ({
      id: one.context.sourceRefs.at(-1)?.id ?? request.origin.messageId,
      from: by,
      text: textOf(ask.textDigest),
    }))
    return { ...beside, asked: [], origins, summary: null }
  }
  const { originalText, corrections, summary } = context.brief
  const asked: readonly Written[] = asks.map(({ ask, by }) => ({ from: by, text: textOf(ask.textDigest) }))
  const origins = [originalText, ...corrections].map((digest, n) => ({
    id: context.sourceRefs[n]?.id ?? 'unknown',
    from: context.sourceRefs[n]?.writtenBy ?? 'unknown',
    text: textOf(digest),
  }))
  return {
    ...beside,
    asked,
    origins,
    summary: summary === undefined ? null : { from: summary.writtenBy, text: textOf(summary.textDigest) },
  }
}
