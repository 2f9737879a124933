import {
  policyOf,
  settingsOf,
  type ChatPolicy,
  type PolicyRef,
  type PolicySettings,
  type StandingPolicy,
} from '../collab/chat-policy.js'
import type { StandingOwnerWork } from '../collab/audience.js'
import type { EventId } from '../collab/refs.js'
import { digestOf } from '../lib/digest.js'
import type { SqlLike } from '../stores/db.js'
import { endMembers, membersOf, type MemberRow } from '../stores/policies/members.js'
import { EVERYWHERE, policyOfCommand, policyRows, putPolicy, type PolicyRow } from '../stores/policies/policies.js'
import { writeAudit } from '../stores/sessions/audit.js'
import type { Exchange } from './deps.js'
import { eventIdOf } from './ids.js'
import { isIsolated } from './isolated.js'

export { EVERYWHERE }

/** The policy that holds in a chat now: what the chat sets, over what holds for all, over the settings of the start. */
export async function policyIn(
  x: Pick<Exchange, 'settings'>,
  sql: SqlLike,
  bot: string,
  chatId: string,
): Promise<StandingPolicy> {
  return standing(x, chatId, await policyRows(sql, bot, chatId))
}

/** What was settled for an owner's own messages in a chat; null: nothing, so that they run restricted. */
export async function ownerWorkIn(
  x: Pick<Exchange, 'settings'>,
  sql: SqlLike,
  of: { readonly bot: string; readonly chatId: string; readonly owner: string },
): Promise<StandingOwnerWork | null> {
  const rows = await policyRows(sql, of.bot, of.chatId)
  const { policy, readable } = standing(x, of.chatId, rows)
  const from = [rows.chat, rows.everywhere].find((row) => settingsOf(row?.settings)?.ownerWork !== undefined)
  return readable && from ? { openId: from.ownerWorkBy ?? of.owner, work: policy.ownerWork } : null
}

function standing(
  x: Pick<Exchange, 'settings'>,
  chatId: string,
  rows: Awaited<ReturnType<typeof policyRows>>,
): StandingPolicy {
  const { chat, everywhere } = rows
  const layers = [everywhere, chat].flatMap((row) => (row === null ? [] : [row.settings]))
  return policyOf([startedWith(x, chatId), ...layers], refOf(chat, everywhere))
}

const refOf = (chat: PolicyRow | null, everywhere: PolicyRow | null): PolicyRef => ({
  chat: chat?.revision ?? 0,
  everywhere: everywhere?.revision ?? 0,
})

/** What the environment opened, as before there were policies. */
function startedWith(x: Pick<Exchange, 'settings'>, chatId: string): PolicySettings {
  const { openChats, atAllChats, botChats } = x.settings
  return {
    ...(openChats.has(chatId) ? { mention: 'off' as const } : {}),
    ...(atAllChats.has(chatId) ? { atAll: true } : {}),
    ...(botChats.has(chatId) ? { bots: true } : {}),
  }
}

/** A policy as it stands, for whoever may see it. */
export interface PolicyShown {
  readonly bot: string
  readonly chat: string
  readonly ref: PolicyRef
  /** What this chat sets for itself; null: its row cannot be read. */
  readonly settings: PolicySettings | null
  readonly effective: ChatPolicy
  readonly readable: boolean
  /** Whether a member's work runs apart here; while it does not, nobody but owners starts any. */
  readonly isolated: boolean
  /** Who set what this chat sets for itself, and when; null when it sets nothing. */
  readonly setBy: string | null
  readonly setAt: number | null
  readonly members: readonly MemberRow[]
}

export async function showPolicy(x: Exchange, bot: string, chat: string): Promise<PolicyShown> {
  const rows = await policyRows(x.db.sql, bot, chat)
  const own = chat === EVERYWHERE ? rows.everywhere : rows.chat
  const { policy, ref, readable } = standing(x, chat, rows)
  return {
    bot,
    chat,
    ref,
    settings: own === null ? {} : settingsOf(own.settings),
    effective: policy,
    readable,
    isolated: await isIsolated(x),
    setBy: own?.setBy ?? null,
    setAt: own?.setAt ?? null,
    members: await membersOf(x.db.sql, bot, chat),
  }
}

export type PolicyRefusal = 'policy-conflict' | 'policy-not-isolated' | 'idempotency-key-reused'

export type PolicyOutcome =
  | { readonly outcome: 'accepted' | 'already-applied'; readonly revision: number }
  | { readonly outcome: 'refused'; readonly because: PolicyRefusal; readonly revision: number }

export interface SetPolicy {
  readonly bot: string
  readonly chat: string
  readonly settings: PolicySettings
  /** `change`: the rest of what the chat sets stays; `whole`: nothing else is set by it from now on. */
  readonly as: 'change' | 'whole'
  /** The revision that the author saw; null: whichever stands. */
  readonly onRevision: number | null
  readonly who: string
  /** The owner who says it; null: an operator does, for every owner. */
  readonly owner: string | null
  readonly eventId: EventId
}

/**
 * The next revision of a chat's policy, with its audit line. Who may is judged by the caller.
 *
 * @returns refused with `policy-conflict` (another revision stands), `policy-not-isolated` (members would run where the
 *   owners' own work does), `idempotency-key-reused` (the command is on record for something else)
 * @source RFC §5.3
 */
export async function setPolicy(x: Exchange, set: SetPolicy): Promise<PolicyOutcome> {
  const { bot, chat, settings, onRevision, who, eventId } = set
  const isolated = await isIsolated(x)
  return await x.db.tx(async (tx): Promise<PolicyOutcome> => {
    const done = await policyOfCommand(tx, eventId)
    const rows = await policyRows(tx, bot, chat)
    const own = chat === EVERYWHERE ? rows.everywhere : rows.chat
    const stands = own?.revision ?? 0
    if (done !== null) {
      const same = done.bot === bot && done.chatId === chat && says(settingsOf(done.settings), settings)
      return same
        ? { outcome: 'already-applied', revision: done.revision }
        : { outcome: 'refused', because: 'idempotency-key-reused', revision: stands }
    }
    if (onRevision !== null && onRevision !== stands) {
      return { outcome: 'refused', because: 'policy-conflict', revision: stands }
    }
    if ((settings.who === 'members' || settings.who === 'humans') && !isolated) {
      return { outcome: 'refused', because: 'policy-not-isolated', revision: stands }
    }
    // A row that nobody here can read is replaced by what is said now, over the closed policy.
    const next = { ...(own === null || set.as === 'whole' ? {} : settingsOf(own.settings)), ...settings }
    const at = x.clock.now()
    const ownerWorkBy = ownerWorkByIn(set, own)
    const row = { bot, chatId: chat, revision: stands + 1, settings: next, setBy: who, setAt: at, ownerWorkBy, eventId }
    if (!(await putPolicy(tx, row))) return { outcome: 'refused', because: 'policy-conflict', revision: stands }
    const act = `chat policy ${stands + 1}: ${JSON.stringify(settings)}`
    await writeAudit(tx, { id: eventId, at, who, act, subject: subjectOf(bot, chat) })
    return { outcome: 'accepted', revision: stands + 1 }
  })
}

/** An owner settles it for their own messages; an operator who repeats what an owner settled changes nothing of that. */
function ownerWorkByIn({ settings, owner }: SetPolicy, own: PolicyRow | null): string | null {
  const before = own === null ? null : settingsOf(own.settings)
  const repeats = settings.ownerWork === undefined || (owner === null && settings.ownerWork === before?.ownerWork)
  return repeats ? (own?.ownerWorkBy ?? null) : owner
}

/** Does a stored row hold all that a command said? */
function says(stored: PolicySettings | null, settings: PolicySettings): boolean {
  const held = stored as Readonly<Record<string, unknown>> | null
  return (
    held !== null &&
    Object.entries(settings).every(([name, value]) => digestOf(held[name] ?? null) === digestOf(value ?? null))
  )
}

/** How audit lines name a chat of a bot. */
export const subjectOf = (bot: string, chat: string): string => `chat ${bot}/${chat}`

/** Ends what admits a person to a chat. How many memberships ended. */
export async function removeMember(
  x: Exchange,
  of: {
    readonly bot: string
    readonly chat: string
    readonly openId: string
    readonly who: string
    readonly eventId: EventId
  },
): Promise<number> {
  const { bot, chat, openId, who, eventId } = of
  const at = x.clock.now()
  return await x.db.tx(async (tx) => {
    const count = await endMembers(tx, { bot, chatId: chat, openId }, who, at)
    const id = eventIdOf('member-removed', eventId)
    if (count > 0)
      await writeAudit(tx, { id, at, who, act: `member removed: ${openId}`, subject: subjectOf(bot, chat) })
    return count
  })
}
