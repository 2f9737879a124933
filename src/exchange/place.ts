import type { ReturnRef } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'

/** The chat place of an owner's own request; null for a request that another agent made: it returns to its parent. */
export function placeOf(request: WorkRequest): ReturnRef | null {
  return request.returnTo.channel === 'lark' ? request.returnTo : null
}
