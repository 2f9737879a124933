import type { RequestId } from '../collab/refs.js'
import { lockHead } from '../stores/ledger/read.js'
import { hasOpenTurn } from '../stores/turns/turns.js'
import type { Stands } from './exchange.js'

/** A look at what a runtime may be doing, taken inside the transaction that decides. */
export interface Look {
  readonly stands: Stands
  /** A turn of the request has begun on a runtime, whether or not the runtime has said so; after the look. */
  executing(): boolean
}

/**
 * Looks under the request's own lock, under which turns begin, too: whoever cancels either finds the turn or keeps it
 * from beginning.
 */
export function lookFor(request: RequestId): Look {
  let executing = false
  return {
    stands: async (tx) => {
      await lockHead(tx, request)
      executing = await hasOpenTurn(tx, request)
      return null
    },
    executing: () => executing,
  }
}
