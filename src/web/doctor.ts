/** What `doctor` shows. A secret's value is only ever `set` or `not set`. */
export interface DoctorReport {
  readonly version: string
  readonly settings: readonly {
    readonly name: string
    readonly value: string
    readonly from: 'environment' | 'default'
  }[]
  readonly checks: readonly DoctorCheck[]
  readonly manager: ManagerBinding
}

/**
 * Which executor and model the manager's channel resolved to, and why; the same for command line, API and page.
 *
 * @source evidence and continuity: channel_binding
 */
export interface ManagerBinding {
  readonly endpoint: string
  readonly endpointSource: 'environment' | 'default'
  /** Null: the runtime does not say. */
  readonly executorKind: 'individual' | 'managed' | null
  readonly model: string | null
  readonly modelSource: 'environment' | 'default' | null
  readonly effort: string | null
  /** The name of the variable, never what it holds; null: none is used. */
  readonly credential: string | null
  /** Null: nothing is known. */
  readonly available: boolean | null
  readonly unavailableReason: string | null
}

export interface DoctorCheck {
  readonly name: string
  readonly state: 'ok' | 'warning' | 'failed'
  readonly detail: string
  /** What to do about it; null when nothing is to be done. */
  readonly mend: string | null
}
