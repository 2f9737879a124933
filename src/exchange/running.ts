import type { TurnId } from '../collab/refs.js'
import type { Stands } from './exchange.js'

/** Writes that a turn has begun; said twice it is written once. */
export type Begin = (stands: Stands) => Promise<void>

/**
 * The turns that this process runs and of which nothing was heard yet. An agent is given the address of the very
 * process that runs its turn, so what it calls comes in here.
 */
export interface RunningTurns {
  /** @returns takes it out again: the runtime itself has said that it began, or it has ended */
  add(turn: TurnId, begin: Begin): () => void
  /** Its agent has called a tool, so it has begun: that news can be faster than the runtime's own. */
  acted(turn: TurnId, stands: Stands): Promise<void>
}

export function createRunningTurns(): RunningTurns {
  const silent = new Map<TurnId, Begin>()
  return {
    add(turn, begin) {
      silent.set(turn, begin)
      return () => void silent.delete(turn)
    },
    async acted(turn, stands) {
      await silent.get(turn)?.(stands)
    },
  }
}
