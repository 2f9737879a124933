import type { RequestId, TurnId } from '../collab/refs.js'
import type { Stands } from './exchange.js'

/** Writes that a turn has begun; said twice it is written once. */
export type Begin = (stands: Stands) => Promise<void>

/**
 * The turns that this process runs, as far as its agents can be faster than what is written of them. An agent is given
 * the address of the very process that runs its turn, so what it calls comes in here.
 */
export interface RunningTurns {
  /** @returns takes it out again: the runtime itself has said that it began, or it has ended */
  add(turn: TurnId, begin: Begin): () => void
  /** Its agent has called a tool, so it has begun: that news can be faster than the runtime's own. */
  acted(turn: TurnId, stands: Stands): Promise<void>
  /** The words of a follow-up are being put into a turn, until it is written what became of that. */
  telling(turn: TurnId, followUp: RequestId, written: Promise<unknown>): void
  /** Resolves when it is written whether the turn took the words: its agent can speak of them before that. */
  told(turn: TurnId, followUp: RequestId): Promise<void>
}

export function createRunningTurns(): RunningTurns {
  const silent = new Map<TurnId, Begin>()
  const underway = new Map<string, Promise<void>>()
  const keyOf = (turn: TurnId, followUp: RequestId): string => `${turn} ${followUp}`
  return {
    add(turn, begin) {
      silent.set(turn, begin)
      return () => void silent.delete(turn)
    },
    async acted(turn, stands) {
      await silent.get(turn)?.(stands)
    },
    telling(turn, followUp, written) {
      const key = keyOf(turn, followUp)
      // However it ends: who waits for it only has to look again.
      const settled = written.then(
        () => void underway.delete(key),
        () => void underway.delete(key),
      )
      underway.set(key, settled)
    },
    async told(turn, followUp) {
      await underway.get(keyOf(turn, followUp))
    },
  }
}
