import { decideReviseChild } from '../../collab/decide/children.js'
import type { Instant, RequestId } from '../../collab/refs.js'
import { factsOf } from '../../stores/ledger/read.js'
import type { Exchange } from '../deps.js'
import { decideAndCommit } from '../exchange.js'
import { eventIdOf } from '../ids.js'

/**
 * Tells the parent of each correction that its child has got: what was passed on with it is the child's to answer, and
 * the child works again. For the upkeep wake `revised-<child>`; whoever comes first does it, once.
 *
 * @returns how many corrections the parent had not known of
 */
export async function tellOfRevisions(x: Exchange, child: RequestId): Promise<number> {
  const facts = await factsOf(x.db.sql, child)
  const opened = facts.find((fact) => fact.kind === 'request-opened')
  const parent = opened?.kind === 'request-opened' ? opened.opened.parent : null
  if (parent === null) return 0
  let told = 0
  for (const fact of facts) {
    if (fact.kind !== 'request-revised') continue
    const receipt = await decideAndCommit(
      x,
      {
        kind: 'revise-child',
        eventId: eventIdOf('child-revised', child, fact.revision),
        requestId: parent,
        at: x.clock.now() as Instant,
        actor: fact.actor,
        child,
        childRevision: fact.revision,
        asks: fact.about ?? [],
      } as const,
      decideReviseChild,
    )
    if (receipt.outcome === 'accepted') told += 1
  }
  return told
}
