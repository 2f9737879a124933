import type { LaneId } from '../../collab/refs.js'
import type { Also, InputChange } from '../../stores/ledger/commit.js'

/** The journalled input of a request as it stands. */
export interface Input {
  readonly lane: string
  readonly position: number
  readonly state: string
  readonly because: string | null
}

/** Moves the input of a request; a request that has none gets none. */
export function inputAfter(
  input: Input | null,
  state: InputChange['state'],
  because: string | null,
): Pick<Also, 'input'> {
  if (input === null) return {}
  return { input: { lane: input.lane as LaneId, state, because, position: input.position } }
}
