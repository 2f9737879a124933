import type { AgentRuntime, QuiesceProof } from '../collab/ports.js'

/** A runtime whose sessions live in this process; `app` ends them all when it stops. */
export interface HostedRuntime extends AgentRuntime {
  /** Interrupts running turns, ends every agent process, and says whether all of them are gone. */
  end(): Promise<QuiesceProof>
  /** What the runtime needs, part by part, for `doctor`; absent: it needs nothing that could be missing. */
  readonly checks?: () => Promise<readonly RuntimeCheck[]>
  /** Absent: nothing of it is known. */
  readonly binding?: () => Promise<RuntimeBinding>
}

/** Which executor and model answer, and on whose account. Null where the runtime does not say. */
export interface RuntimeBinding {
  /** `individual`: on one person's own sign-in; `managed`: on a credential of the operator. */
  readonly executorKind: 'individual' | 'managed' | null
  readonly model: string | null
  readonly effort: string | null
  /** The name of the variable that holds the credential, never its value. */
  readonly credential: string | null
}

export interface RuntimeCheck {
  readonly name: string
  readonly state: 'ok' | 'warning' | 'failed'
  /** Holds no secret and no private path. */
  readonly detail: string
  /** What to do about it; null when nothing is to be done. */
  readonly mend: string | null
}
