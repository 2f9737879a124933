import { mayOperate, type Identity } from '../collab/chat-policy.js'
import type { SqlLike } from '../stores/db.js'
import { boundOwners, type BoundOwner } from '../stores/principals/principals.js'
import type { Exchange } from './deps.js'

export type Owner = BoundOwner & Identity

/** Owners of a bot that are bound and listed now: taking an id off the list takes its authority away. */
export async function ownersNow(x: Pick<Exchange, 'settings'>, sql: SqlLike, bot: string): Promise<readonly Owner[]> {
  const bound = await boundOwners(sql, bot)
  return bound.filter(({ openId }) => x.settings.ownerOpenIds.has(openId)).map((owner) => ({ ...owner, app: bot }))
}

/** May they stop, replay, approve, or change settings now? */
export async function mayOperateNow(x: Exchange, who: Identity): Promise<boolean> {
  return mayOperate({ ...who, type: 'user' }, await ownersNow(x, x.db.sql, who.app))
}
