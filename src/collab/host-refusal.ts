/**
 * Who refused an operation of an agent, or a whole turn. They never stand for one another: what a host, a provider or
 * this application refused was not refused by a person (RFC §5.3; A2).
 */
export const refusers = ['sandbox', 'policy', 'application', 'person', 'provider'] as const
export type Refuser = (typeof refusers)[number]

/** What the agent's own host refused; nobody was asked. */
export interface HostRefusal {
  /** `sandbox`: it was tried and stopped. `policy`: a rule of the runtime kept it from being tried. */
  readonly by: Extract<Refuser, 'sandbox' | 'policy'>
  /** The rule, in the runtime's own word. */
  readonly rule: string
  /** The tool, as the runtime calls it. */
  readonly tool: string
  /** What it was called with, as a person reads it; null where the runtime does not say. */
  readonly operation: string | null
}

/** Characters of a rule's or a tool's name that are kept. */
export const NAME_LENGTH = 60
