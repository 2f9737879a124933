import type { TurnFailure } from '../collab/ports.js'

/** Why an agent process could not be used. `detail` names the mend, and holds no secret and no private path. */
export interface Trouble {
  readonly because: TurnFailure
  readonly detail: string
}

/** The profile that was asked for cannot be held on this host. */
export interface NotConfined {
  readonly notConfined: string
}
