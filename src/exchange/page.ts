import type { RequestId } from '../collab/refs.js'
import type { Exchange } from './deps.js'

/** The address of a request's page; null for what belongs to none. */
export function pageOf(x: Pick<Exchange, 'publicUrl'>, request: RequestId | null): string | null {
  return request === null || x.publicUrl === null ? null : `${x.publicUrl}/requests/${request}`
}
