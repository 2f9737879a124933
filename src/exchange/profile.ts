import { profileOf, type Asked, type SessionProfile } from '../collab/audience.js'
import { isSame } from '../collab/chat-policy.js'
import type { Observation } from '../collab/observation.js'
import type { RequestId } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import type { SqlLike } from '../stores/db.js'
import { ancestorsOf } from '../stores/ledger/family.js'
import { factsOf } from '../stores/ledger/read.js'
import { directChatOf } from '../stores/principals/principals.js'
import { ownerWorkIn } from './chat-policy.js'
import type { Exchange } from './deps.js'
import { ownersNow } from './owners.js'
import { placeOf } from './place.js'

/** The request at the root of one, which a person made; itself when nobody handed it on. */
export async function rootOf(sql: SqlLike, request: WorkRequest): Promise<RequestId> {
  const above = request.parent === null ? undefined : (await ancestorsOf(sql, request.id)).at(-1)
  return above ?? request.id
}

/**
 * What a request may run with at this moment: by where it was asked at its root, by everybody whose words it is made of,
 * and by what its owner settled for that chat. Asked again whenever a turn begins.
 *
 * @source RFC §5.3 (matched at use, not at queueing)
 */
export async function profileFor(
  x: Pick<Exchange, 'settings'>,
  sql: SqlLike,
  request: WorkRequest,
): Promise<SessionProfile> {
  const { asked, root } = await askedBy(x, sql, request)
  const { chatId, owner } = asked
  const standing =
    chatId === null || root.authority.principal !== 'owner'
      ? null
      : await ownerWorkIn(x, sql, { bot: root.origin.bot, chatId, owner })
  return profileOf(asked, standing)
}

/** Where a request was asked at its root, and by everybody whose words it is made of. */
export async function askedBy(
  x: Pick<Exchange, 'settings'>,
  sql: SqlLike,
  request: WorkRequest,
): Promise<{ readonly asked: Asked; readonly root: WorkRequest }> {
  const said = saidIn(await factsOf(sql, await rootOf(sql, request)))
  const root = said[0] ?? request
  const { bot } = root.origin
  const owner = root.authority.openId
  const place = placeOf(root)
  const asked: Asked = {
    chatType: place?.chatType ?? null,
    chatId: place?.chatId ?? null,
    owner,
    ownerStands: await stands(x, sql, root),
    ownerDirectChat: await directChatOf(sql, bot, owner),
    writers: said.map(({ sender }) => writerOf(sender, owner)),
  }
  return { asked, root }
}

/** Each revision as it was said, by whoever said it. */
function saidIn(facts: readonly Observation[]): readonly WorkRequest[] {
  return facts.flatMap((fact) =>
    fact.kind === 'request-opened' ? [fact.opened] : fact.kind === 'request-revised' ? [fact.revised] : [],
  )
}

/** An operator has shown at a door to be one; what an agent or the host wrote at a root is nobody's own word. */
function writerOf(sender: WorkRequest['sender'], owner: string): string | null {
  if (sender.kind === 'person') return sender.openId
  return sender.kind === 'operator' ? owner : null
}

/** What a member asked for stays a member's, also when they became an owner since. */
async function stands(
  x: Pick<Exchange, 'settings'>,
  sql: SqlLike,
  { authority, origin }: WorkRequest,
): Promise<boolean> {
  const { principal, openId, tenantKey = null } = authority
  const who = { app: origin.bot, tenantKey, openId }
  return principal === 'owner' && (await ownersNow(x, sql, origin.bot)).some((owner) => isSame(owner, who))
}
