import { isPossible, normalScope, reaches, within, type Effect, type Resource, type Scope } from './grant-scope.js'
import type { AgentId, ConversationId, Instant, TextDigest } from './refs.js'

/** Where a permission counts: in one conversation, or in every direct conversation of its owner. */
export type Audience =
  { readonly kind: 'conversation'; readonly conversation: ConversationId } | { readonly kind: 'owner-private' }

/**
 * A standing permission: in the name of one owner one agent may have these effects on what lies in this scope, for this
 * audience. It is asked for at every use, and whatever it does not name is not covered.
 *
 * @source RFC §5.3 (principal, scope, effect, audience; expiry, revocation, attenuation)
 */
export interface Grant {
  readonly id: string
  readonly agent: AgentId
  /** The owner who gave it and in whose name it is used. */
  readonly openId: string
  readonly scope: Scope
  /** Empty for an exact operation, which is allowed with whatever it does. */
  readonly effects: readonly Effect[]
  readonly audience: Audience
  readonly issuedAt: Instant
  /** Null: until it is revoked. */
  readonly expiresAt: Instant | null
  readonly revokedAt: Instant | null
  /** The wider grant that this one was made of; it allows nothing without it. */
  readonly parent: string | null
}

/** One thing that is about to happen to one resource. */
export interface ResourceUse {
  readonly effect: Effect
  readonly resource: Resource
}

/** Everything that one operation would do, as far as the runtime names it by kind. */
export type OperationUse = readonly [ResourceUse, ...ResourceUse[]]

/** One use, at the moment at which it would happen. */
export interface Use {
  readonly agent: AgentId
  readonly openId: string
  readonly conversation: ConversationId
  /** The conversation is the owner's own direct one. */
  readonly ownerPrivate: boolean
  /** By the digest of its exact words. */
  readonly operation: TextDigest
  /** Null: the runtime does not say what it would do, and only an exact grant can cover it. */
  readonly does: OperationUse | null
  readonly at: Instant
}

/** Whether a grant stands by itself at this moment; what it was made of is another question. */
export function stands(grant: Grant, at: Instant): boolean {
  return (
    grant.issuedAt <= at &&
    (grant.expiresAt === null || at < grant.expiresAt) &&
    (grant.revokedAt === null || at < grant.revokedAt)
  )
}

function hears(grant: Grant, use: Pick<Use, 'openId' | 'conversation' | 'ownerPrivate'>): boolean {
  if (grant.openId !== use.openId) return false
  return grant.audience.kind === 'owner-private' ? use.ownerPrivate : grant.audience.conversation === use.conversation
}

function permits(grant: Grant, use: Use, one: ResourceUse): boolean {
  if (grant.scope.kind === 'operation') return grant.scope.digest === use.operation
  return grant.effects.includes(one.effect) && reaches(grant.scope, one.resource)
}

/** Whether this grant alone, as it is written, allows all of this use. */
export function covers(grant: Grant, use: Use): boolean {
  if (grant.agent !== use.agent || !hears(grant, use) || !stands(grant, use.at)) return false
  if (grant.scope.kind === 'operation') return grant.scope.digest === use.operation
  return use.does !== null && use.does.length > 0 && use.does.every((one) => permits(grant, use, one))
}

/**
 * The grant and everything above it, the root last; null when the chain is broken or turns back into itself.
 *
 * @param all in any order, with what stands above them
 */
export function chainOf(grant: Grant, all: readonly Grant[]): readonly Grant[] | null {
  const chain = [grant]
  for (let above = grant.parent; above !== null; above = chain.at(-1)?.parent ?? null) {
    const found = all.find((one) => one.id === above)
    if (found === undefined || chain.some((one) => one.id === found.id)) return null
    chain.push(found)
  }
  return chain
}

/** Every link stands and covers: who handed it on is another agent than who uses it. */
function chainCovers(grant: Grant, use: Use, all: readonly Grant[]): boolean {
  return (
    chainOf(grant, all)?.every((link) => covers(link, { ...use, agent: link === grant ? use.agent : link.agent })) ??
    false
  )
}

const oldestFirst = (grants: readonly Grant[]): readonly Grant[] =>
  grants.toSorted((a, b) => a.issuedAt - b.issuedAt || (a.id < b.id ? -1 : 1))

/** The one grant that allows all of a use, whatever the order in which they stand; null when none does alone. */
export function grantFor(grants: readonly Grant[], use: Use): Grant | null {
  return oldestFirst(grants).find((grant) => chainCovers(grant, use, grants)) ?? null
}

/**
 * The grants by which a use is allowed: one that covers it whole, else several of which each covers a part. Null when
 * any part of it is not covered.
 */
export function grantsFor(grants: readonly Grant[], use: Use): readonly Grant[] | null {
  const whole = grantFor(grants, use)
  if (whole !== null) return [whole]
  if (use.does === null || use.does.length === 0) return null
  const parts = use.does.map((one) => grantFor(grants, { ...use, does: [one] }))
  return parts.every((part) => part !== null) ? [...new Set(parts)] : null
}

/** Why a narrower grant cannot be made of another one. */
export type AttenuationRefusal =
  | 'parent-ended'
  | 'other-principal'
  | 'scope-unsound'
  | 'effect-not-possible'
  | 'wider-scope'
  | 'wider-effects'
  | 'wider-audience'
  | 'ends-later'

/** What a grant says when it is made. */
export type NewGrant = Omit<Grant, 'revokedAt'>

/** The same with its scope in the form in which it is compared, or why it cannot be granted to anybody. */
export function soundGrant(wanted: NewGrant): NewGrant | 'scope-unsound' | 'effect-not-possible' {
  const scope = normalScope(wanted.scope)
  if (scope === null) return 'scope-unsound'
  const effects = [...new Set(wanted.effects)].toSorted()
  return isPossible(scope, effects) ? { ...wanted, scope, effects } : 'effect-not-possible'
}

/**
 * A grant that is made of another one: for another agent or the same, in nothing wider, and over when the other is.
 *
 * @source RFC §5.3 (attenuated reference to a real standing grant)
 */
export function attenuate(parent: Grant, wanted: Omit<NewGrant, 'parent'>): NewGrant | AttenuationRefusal {
  if (!stands(parent, wanted.issuedAt)) return 'parent-ended'
  if (parent.openId !== wanted.openId) return 'other-principal'
  const sound = soundGrant({ ...wanted, parent: parent.id })
  if (typeof sound === 'string') return sound
  if (!within(sound.scope, parent.scope)) return 'wider-scope'
  if (!sound.effects.every((effect) => parent.effects.includes(effect))) return 'wider-effects'
  if (!audienceWithin(sound.audience, parent.audience)) return 'wider-audience'
  const later = parent.expiresAt !== null && (sound.expiresAt === null || sound.expiresAt > parent.expiresAt)
  return later ? 'ends-later' : sound
}

/** One conversation is not known to be private here, so it is not taken to lie within all private ones. */
function audienceWithin(inner: Audience, outer: Audience): boolean {
  if (inner.kind === 'owner-private') return outer.kind === 'owner-private'
  return outer.kind === 'conversation' && outer.conversation === inner.conversation
}

/** What a standing permission lacks that almost covers: the one condition that fails. */
export type Gap =
  | { readonly kind: 'none' }
  /** The runtime does not say by kind what it would do, or where: only its exact words can be permitted. */
  | { readonly kind: 'not-named' }
  /** Where a path really leads could not be found out. */
  | { readonly kind: 'unresolved' }
  | { readonly kind: 'revoked' | 'expired'; readonly grant: string; readonly at: Instant }
  /** The grant that this one was made of has ended. */
  | { readonly kind: 'parent-ended'; readonly grant: string }
  | { readonly kind: 'other-audience'; readonly grant: string }
  | { readonly kind: 'other-effect'; readonly grant: string; readonly allows: readonly Effect[] }
  | { readonly kind: 'outside'; readonly grant: string; readonly scope: string }

/** Why nothing covers a use, by the nearest grant of the same agent and owner; for a person to read. */
export function gapOf(grants: readonly Grant[], use: Use): Gap {
  const own = oldestFirst(grants.filter((one) => one.agent === use.agent && one.openId === use.openId)).toReversed()
  const missing = use.does?.filter((one) => grantFor(grants, { ...use, does: [one] }) === null) ?? []
  const lost = missing.filter(({ resource }) => resource.kind === 'path' && resource.path === null)
  const near = own.flatMap((grant) => nearGap(grant, use, missing, grants))
  const [nearest] = near.toSorted((a, b) => rank.indexOf(a.kind) - rank.indexOf(b.kind))
  // A place that is not known lies neither inside nor outside.
  if (nearest !== undefined && !(lost.length > 0 && nearest.kind === 'outside')) return nearest
  // A command without a folder has its words and nothing else.
  if (use.does === null || lost.some((one) => one.effect === 'execute')) return { kind: 'not-named' }
  return { kind: lost.length > 0 ? 'unresolved' : 'none' }
}

const rank: readonly Gap['kind'][] = ['revoked', 'expired', 'parent-ended', 'other-audience', 'other-effect', 'outside']

function nearGap(grant: Grant, use: Use, missing: readonly ResourceUse[], all: readonly Grant[]): readonly Gap[] {
  const { id, scope } = grant
  const heard = hears(grant, use)
  const stood = stands(grant, use.at)
  // What stands in another chat is told to its owner alone.
  const elsewhere: readonly Gap[] = use.ownerPrivate ? [{ kind: 'other-audience', grant: id }] : []
  if (scope.kind === 'operation') {
    if (scope.digest !== use.operation) return []
    return heard && !stood ? overGap(grant, use.at) : stood && !heard ? elsewhere : []
  }
  return missing.flatMap((one): readonly Gap[] => {
    const [reached, effect] = [reaches(scope, one.resource), grant.effects.includes(one.effect)]
    const failed = [!heard, !stood, !reached, !effect].filter(Boolean).length
    if (failed > 1) return []
    if (!heard) return elsewhere
    if (!stood) return overGap(grant, use.at)
    if (!effect) return [{ kind: 'other-effect', grant: id, allows: grant.effects }]
    if (!reached)
      return one.resource.kind === scope.kind ? [{ kind: 'outside', grant: id, scope: nameOfScope(scope) }] : []
    return chainCovers(grant, { ...use, does: [one] }, all) ? [] : [{ kind: 'parent-ended', grant: id }]
  })
}

function overGap(grant: Grant, at: Instant): readonly Gap[] {
  if (grant.revokedAt !== null && grant.revokedAt <= at) {
    return [{ kind: 'revoked', grant: grant.id, at: grant.revokedAt }]
  }
  const { expiresAt } = grant
  return expiresAt !== null && expiresAt <= at ? [{ kind: 'expired', grant: grant.id, at: expiresAt }] : []
}

/** What a scope is about, as a person writes it. */
export function nameOfScope(scope: Scope): string {
  switch (scope.kind) {
    case 'operation':
      return scope.digest
    case 'path':
      return scope.prefix
    case 'network':
      return scope.host
    case 'goal':
      return scope.goal
    case 'chat':
      return scope.chat
    case 'agent':
      return scope.agent
  }
}

/** What a grant really gives now, whatever it says. */
export type Effective = 'standing' | 'not-yet' | 'expired' | 'revoked' | 'parent-ended' | 'principal-removed'

/** @param owner whether the owner in whose name it is used is one still */
export function effectiveOf(grant: Grant, all: readonly Grant[], owner: boolean, at: Instant): Effective {
  if (grant.revokedAt !== null && grant.revokedAt <= at) return 'revoked'
  if (grant.expiresAt !== null && grant.expiresAt <= at) return 'expired'
  if (grant.issuedAt > at) return 'not-yet'
  if (!owner) return 'principal-removed'
  return chainOf(grant, all)?.every((link) => stands(link, at)) === true ? 'standing' : 'parent-ended'
}
