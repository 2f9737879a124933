/**
 * Who hears what a turn says. Transport membership grants nothing: only an owner in the owner's own direct chat is
 * private.
 *
 * @source RFC §5.3, §7 — evidence and continuity ("Conversations bind an authorization scope, audience policy revision")
 */
export type Audience = 'owner-private' | 'owner-in-group' | 'shared-group' | 'other-dm'

/**
 * What an owner's own message in a group may start: work that sees what the group may see, private work whose answer
 * goes to the owner's direct chat, or work with everything that the owner's own runtime sees, told to the group.
 */
export const ownerWorks = ['restricted', 'private-return', 'owner'] as const
export type OwnerWork = (typeof ownerWorks)[number]

/** What one owner has settled for one chat. */
export interface StandingOwnerWork {
  /** The owner who settled it: it speaks for nobody else's messages. */
  readonly openId: string
  readonly work: OwnerWork
}

/** Where something was asked and by whom, as the provider's own identities say; null is not known. */
export interface Asked {
  readonly chatType: 'p2p' | 'group' | null
  readonly chatId: string | null
  /** In whose name it is worked on. */
  readonly owner: string
  /** Bound and listed at this moment. */
  readonly ownerStands: boolean
  /** The owner's direct chat with this bot. */
  readonly ownerDirectChat: string | null
  /** Everybody whose words it is made of. */
  readonly writers: readonly (string | null)[]
}

/** What a session may reach beyond its own workspace; absolute paths. */
export interface GrantedPath {
  readonly path: string
  readonly access: 'read' | 'write'
}

/**
 * What a session runs with. `owner`: the normal tools of the runtime as the owner set them. `restricted`: its workspace
 * and the granted paths, and nothing else of the host.
 */
export type SessionProfile =
  { readonly kind: 'owner' } | { readonly kind: 'restricted'; readonly paths: readonly GrantedPath[] }

export const OWNER_PROFILE: SessionProfile = { kind: 'owner' }
export const RESTRICTED_PROFILE: SessionProfile = { kind: 'restricted', paths: [] }

/**
 * Whether a standing owner wrote all of it: what another person wrote, also only a part, never uses what that owner has
 * permitted.
 */
export function areOwnWords({ owner, ownerStands, writers }: Asked): boolean {
  return ownerStands && owner !== '' && writers.length > 0 && writers.every((writer) => writer === owner)
}

/** What is ambiguous or not known counts as shared. */
export function audienceOf(asked: Asked): Audience {
  const { chatType, chatId, ownerDirectChat } = asked
  const ownWords = areOwnWords(asked)
  if (chatType === 'p2p') {
    return ownWords && chatId !== null && chatId === ownerDirectChat ? 'owner-private' : 'other-dm'
  }
  return chatType === 'group' && ownWords ? 'owner-in-group' : 'shared-group'
}

/**
 * The profile of a request. A policy widens nothing but its own owner's messages in the chat that it was set for, and
 * work whose answer cannot return in private is not private work.
 *
 * @param standing what was settled for this chat; null: nothing
 */
export function profileOf(asked: Asked, standing: StandingOwnerWork | null): SessionProfile {
  const audience = audienceOf(asked)
  if (audience === 'owner-private') return OWNER_PROFILE
  const own = audience === 'owner-in-group' && standing?.openId === asked.owner
  return own && standing.work === 'owner' ? OWNER_PROFILE : RESTRICTED_PROFILE
}

/**
 * Names a profile: sessions of different names never continue one another.
 *
 * @source RFC §5.7.1 (compatible session) — A12
 */
export function profileKey(profile: SessionProfile): string {
  if (profile.kind === 'owner') return 'owner'
  const paths = profile.paths.map(({ path, access }) => `${access} ${path}`).toSorted()
  return ['restricted', ...new Set(paths)].join('\n')
}
