import type { Language } from './delivery.js'
import { isQuiet, isZone, type QuietHours } from './quiet-hours.js'

export const whoModes = ['owner', 'members', 'humans', 'nobody'] as const
export const mentionModes = ['required', 'off'] as const
export const returnModes = ['reply', 'chat'] as const
export const ownerWorkModes = ['restricted', 'private-return', 'owner'] as const

/**
 * What one bot allows in one chat. Speaking to the manager and operating it are two rights: nothing here gives anybody
 * the second one.
 *
 * @source RFC §5.3 (authority comes from the host's principals), §7
 */
export interface ChatPolicy {
  /** Who may start a turn. `members`: people whom an owner admitted; `humans`: everybody of the owners' own tenant. */
  readonly who: (typeof whoModes)[number]
  /** `off`: whoever may start a turn here needs not name the bot. */
  readonly mention: (typeof mentionModes)[number]
  /** `@all` counts as naming the bot. */
  readonly atAll: boolean
  /** Another bot that names this one may start a turn, on the authority of the first owner. */
  readonly bots: boolean
  /** Where an answer goes: as a reply to its question, or as a message of its own in the same place. */
  readonly returns: (typeof returnModes)[number]
  /** Then only an owner who names the bot starts a turn. */
  readonly quiet: QuietHours | null
  /** Of what the gateway says here; null follows the last message. */
  readonly language: Language | null
  /** How an owner's own message in a group is worked on. */
  readonly ownerWork: (typeof ownerWorkModes)[number]
}

/** What one row says: what it does not name comes from the row below it. */
export type PolicySettings = Partial<ChatPolicy>

/** Nobody but owners, by name only. What holds without a row, and where a row cannot be read. */
export const closedPolicy: ChatPolicy = {
  who: 'owner',
  mention: 'required',
  atAll: false,
  bots: false,
  returns: 'reply',
  quiet: null,
  language: null,
  ownerWork: 'restricted',
}

/** Which rows decided: the chat's own and the one for all chats; 0 where there is none. */
export interface PolicyRef {
  readonly chat: number
  readonly everywhere: number
}

export interface StandingPolicy {
  readonly policy: ChatPolicy
  readonly ref: PolicyRef
  /** False: a row cannot be read, so the chat is closed. */
  readonly readable: boolean
}

/**
 * The policy of a chat from its rows, the weakest first. One that cannot be read closes the chat: what a later version
 * meant to forbid must not be open because this one does not know the word.
 */
export function policyOf(layers: readonly unknown[], ref: PolicyRef): StandingPolicy {
  let policy = closedPolicy
  for (const layer of layers) {
    const settings = settingsOf(layer)
    if (settings === null) return { policy: closedPolicy, ref, readable: false }
    policy = { ...policy, ...settings }
  }
  return { policy, ref, readable: true }
}

const readers: { readonly [K in keyof ChatPolicy]: (value: unknown) => boolean } = {
  who: oneOf(whoModes),
  mention: oneOf(mentionModes),
  atAll: (value) => typeof value === 'boolean',
  bots: (value) => typeof value === 'boolean',
  returns: oneOf(returnModes),
  quiet: (value) => value === null || isQuietHours(value),
  language: (value) => value === null || value === 'en' || value === 'zh',
  ownerWork: oneOf(ownerWorkModes),
}

/** The settings that a stored or received value says; null when any name or value is not known here. */
export function settingsOf(value: unknown): PolicySettings | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const known = Object.entries(value).every(
    ([name, said]) => Object.hasOwn(readers, name) && readers[name as keyof ChatPolicy](said),
  )
  return known ? (value as PolicySettings) : null
}

function oneOf(modes: readonly string[]): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && modes.includes(value)
}

function isQuietHours(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { from, until, zone, ...rest } = value as Record<string, unknown>
  return Object.keys(rest).length === 0 && isMinute(from) && isMinute(until) && from !== until && isZone(zone)
}

const isMinute = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 1440

/** A provider identity as its envelope gives it. A name, a text or a card's value is none. */
export interface Identity {
  /** The bot's app id: an open id means something within its app only. */
  readonly app: string
  /** Null where the envelope did not say. */
  readonly tenantKey: string | null
  readonly openId: string
}

/** The same person: app and open id are the same, byte for byte, and no two known tenants differ. */
export function isSame(a: Identity, b: Identity): boolean {
  if (a.openId === '' || a.app !== b.app || a.openId !== b.openId) return false
  return a.tenantKey === null || b.tenantKey === null || a.tenantKey === b.tenantKey
}

/** Somebody whom an owner admitted: in one chat, or in all. */
export interface Membership extends Identity {
  readonly id: string
  /** Null: in every chat of this bot. */
  readonly chatId: string | null
  /** Turns that may still be started; null: without a count. */
  readonly startsLeft: number | null
  /** Milliseconds since the epoch; null: without an end. */
  readonly until: number | null
  readonly ended: boolean
}

export interface Speaker extends Identity {
  readonly type: 'user' | 'bot'
}

/** May they stop, replay, approve, or change settings? Bound owners only, whatever the policy of a chat says. */
export function mayOperate(speaker: Speaker, owners: readonly Identity[]): boolean {
  return speaker.type === 'user' && owners.some((owner) => isSame(owner, speaker))
}

/** How a message came to be meant for this bot. `nobody`: it names nobody here, `platform`: no person wrote it. */
export type Addressed = 'direct' | 'mention' | 'all' | 'reply' | 'nobody' | 'platform'

export type StartRefusal =
  | 'not-addressed'
  | 'owner-only'
  | 'nobody'
  | 'not-a-member'
  | 'membership-ended'
  | 'membership-used-up'
  | 'other-tenant'
  | 'tenant-unknown'
  | 'bots-closed'
  | 'quiet-hours'
  | 'not-isolated'

export type Admission =
  | { readonly admitted: true; readonly as: 'owner' | 'bot' }
  /** A count is taken from this membership; null: the policy admits everybody of the tenant. */
  | { readonly admitted: true; readonly as: 'member'; readonly membership: string | null }
  | { readonly admitted: false; readonly because: StartRefusal }

export interface StartAsked {
  readonly speaker: Speaker
  readonly chatId: string
  readonly addressed: Addressed
  readonly policy: ChatPolicy
  /** Bound now, and listed now. */
  readonly owners: readonly Identity[]
  readonly memberships: readonly Membership[]
  /** Whether what a member starts runs apart from what is the owners' own, with limits that are enforced. */
  readonly isolated: boolean
  /** Milliseconds since the epoch. */
  readonly at: number
}

/**
 * May this sender start a turn here? Judged from the envelope's identity, our own rows and the policy alone.
 *
 * @source RFC §5.3, §7
 */
export function mayStart(asked: StartAsked): Admission {
  const { speaker, addressed, policy, owners } = asked
  const quiet = policy.quiet !== null && isQuiet(policy.quiet, asked.at)
  if (speaker.type === 'bot') {
    if (!policy.bots || addressed !== 'mention' || owners.length === 0) return no('bots-closed')
    return quiet ? no('quiet-hours') : { admitted: true, as: 'bot' }
  }
  if (!isMeant(addressed, policy)) return no('not-addressed')
  const named = addressed === 'direct' || addressed === 'mention' || addressed === 'reply'
  const admission = mayOperate(speaker, owners) ? asOwner(addressed, policy) : asOther(asked)
  // Where nobody has to name the bot, most of what is said is said to somebody else.
  if (!admission.admitted) return named ? admission : no('not-addressed')
  if (quiet && !(admission.as === 'owner' && named)) return no(named ? 'quiet-hours' : 'not-addressed')
  return admission
}

/** Whether a message is meant for this bot, by what the chat's policy counts as naming it. */
export function isMeant(addressed: Addressed, policy: ChatPolicy): boolean {
  if (addressed === 'platform') return false
  if (addressed === 'all') return policy.atAll
  return addressed !== 'nobody' || policy.mention === 'off'
}

/** An owner's direct chat is theirs, whatever holds for all chats. */
function asOwner(addressed: Addressed, { who }: ChatPolicy): Admission {
  return who === 'nobody' && addressed !== 'direct' ? no('nobody') : { admitted: true, as: 'owner' }
}

function asOther(asked: StartAsked): Admission {
  const { policy, isolated } = asked
  if (policy.who === 'nobody') return no('nobody')
  if (policy.who === 'owner') return no('owner-only')
  const admission = asMember(asked)
  return admission.admitted && !isolated ? no('not-isolated') : admission
}

function asMember({ speaker, chatId, memberships, owners, policy, at }: StartAsked): Admission {
  const theirs = memberships.filter((one) => isSame(one, speaker) && (one.chatId === null || one.chatId === chatId))
  const standing = theirs.filter((one) => !one.ended && (one.until === null || at < one.until))
  // One without a count first: it uses nothing up.
  const usable = standing.filter((one) => one.startsLeft === null || one.startsLeft > 0)
  const [best] = usable.toSorted((a, b) => order(a) - order(b) || (a.id < b.id ? -1 : 1))
  if (best !== undefined) return { admitted: true, as: 'member', membership: best.id }
  if (policy.who === 'humans') {
    if (speaker.tenantKey === null) return no('tenant-unknown')
    const home = owners.some((owner) => owner.tenantKey === speaker.tenantKey)
    return home ? { admitted: true, as: 'member', membership: null } : no('other-tenant')
  }
  if (standing.length > 0) return no('membership-used-up')
  return no(theirs.length > 0 ? 'membership-ended' : 'not-a-member')
}

const order = (one: Membership): number => one.startsLeft ?? -1

const no = (because: StartRefusal): Admission => ({ admitted: false, because })
