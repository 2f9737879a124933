import type { ReturnRef } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { ancestorsOf } from '../stores/ledger/family.js'
import { stateOfRequest } from '../stores/ledger/read.js'
import type { Exchange } from './deps.js'
import { placeOf } from './place.js'

/** Where its owner asked: of work that was handed on, the place of the message at its root. Null: in no chat. */
export async function askedAt(x: Exchange, request: WorkRequest): Promise<ReturnRef | null> {
  const rootId = request.parent === null ? undefined : (await ancestorsOf(x.db.sql, request.id)).at(-1)
  const root = rootId === undefined ? request : ((await stateOfRequest(x.db.sql, rootId)).request ?? request)
  return placeOf(root)
}
