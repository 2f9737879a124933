import { decideObserveWait } from '../collab/decide/inbox.js'
import type { Notice } from '../collab/notice.js'
import type { JobOutcome } from '../collab/jobs.js'
import type { AgentId, Instant } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import type { WaitReason } from '../collab/observation.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import type { Exchange } from './deps.js'
import { decideAndCommit } from './exchange.js'
import { eventIdOf } from './ids.js'
import { placeOf } from './place.js'
import { say } from './say.js'

/** How long a lane waits before it looks again at a runtime that cannot be used. */
const UNAVAILABLE_RETRY_MS = 15_000

/**
 * This host cannot hold the profile that the audience asks for. Nothing wider is run instead: the message is kept and
 * starts by itself when that is mended.
 *
 * @source RFC §5.3 (a broad process with filtered output is no isolation)
 */
export async function waitForConfinement(
  x: Exchange,
  waiting: { readonly request: WorkRequest; readonly agent: AgentId },
  detail: string,
): Promise<JobOutcome> {
  return await wait(x, waiting, 'unsupported', { kind: 'not-confined', detail })
}

/** The message is kept and starts by itself; the wait is a fact, and an owner who waits hears once what is missing. */
export async function waitForRuntime(
  x: Exchange,
  waiting: { readonly request: WorkRequest; readonly agent: AgentId },
  detail: string,
): Promise<JobOutcome> {
  return await wait(x, waiting, 'offline', { kind: 'runtime-unavailable', detail })
}

async function wait(
  x: Exchange,
  { request, agent }: { readonly request: WorkRequest; readonly agent: AgentId },
  because: WaitReason,
  notice: Extract<Notice, { kind: 'runtime-unavailable' | 'not-confined' }>,
): Promise<JobOutcome> {
  await noteWait(x, request, agent, because)
  const place = placeOf(request)
  if (place !== null) {
    const conversation = await conversationOf(x.db.sql, request.conversation)
    await say(x, {
      causeKind: 'notice',
      causeId: `${notice.kind === 'not-confined' ? notice.kind : 'unavailable'}-${request.id}`,
      route: place,
      notice,
      language: conversation?.language ?? 'en',
      endsReceipt: null,
      request: request.id,
    })
  }
  return { outcome: 'later', at: (x.clock.now() + UNAVAILABLE_RETRY_MS) as Instant, because: 'runtime unavailable' }
}

/** Why the receiver has not begun, once per reason; a look that finds the same adds nothing. */
export async function noteWait(x: Exchange, request: WorkRequest, agent: AgentId, because: WaitReason): Promise<void> {
  const at = x.clock.now() as Instant
  await decideAndCommit(
    x,
    {
      kind: 'observe-wait',
      eventId: eventIdOf('waits', request.id, because, at),
      requestId: request.id,
      at,
      actor: { kind: 'host' },
      agent,
      because,
    } as const,
    decideObserveWait,
  )
}
