import type { OperationUse } from './grant.js'
import { commonDirectory, normalScope, stepsOf, type Effect, type Scope } from './grant-scope.js'

/** A wider permission that a card may offer beside "exactly this": one directory or one host, with an end. */
export interface Offer {
  readonly scope: Extract<Scope, { kind: 'path' | 'network' }>
  readonly effects: readonly Effect[]
  /** Ends so many days after it is given. */
  readonly days: number
}

const DAYS = 30
/** A directory right below the root holds far more than one question is about. */
const FEWEST_STEPS = 2

/**
 * The narrowest scope that would cover all of it. Null when the runtime does not say by kind what it would do, when that
 * is a command (what a command does is known by its exact words alone), or when nothing narrow holds all of it.
 */
export function offerOf(does: OperationUse | null): Offer | null {
  if (does === null) return null
  const effects = [...new Set(does.map((one) => one.effect))].toSorted()
  const scope = scopeAround(does)
  const sound = scope === null ? null : normalScope(scope)
  if (sound === null || (sound.kind !== 'path' && sound.kind !== 'network')) return null
  if (sound.kind === 'path' && !effects.every((effect) => effect === 'read' || effect === 'write')) return null
  return { scope: sound, effects, days: DAYS }
}

function scopeAround(does: OperationUse): Scope | null {
  const [{ resource: first }] = does
  const resources = does.map((one) => one.resource)
  if (first.kind === 'network') {
    return resources.every((one) => one.kind === 'network' && one.host === first.host) ? first : null
  }
  if (first.kind !== 'path') return null
  const paths = resources.map((one) => (one.kind === 'path' && one.host === first.host ? one.path : null))
  const known = paths.filter((path) => path !== null)
  const prefix = known.length === paths.length ? commonDirectory(known) : null
  if (prefix === null || (stepsOf(prefix)?.length ?? 0) < FEWEST_STEPS) return null
  return { kind: 'path', host: first.host, prefix }
}
