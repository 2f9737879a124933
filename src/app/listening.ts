import type { Bot, BotState } from '../bot/bot.js'
import type { Exchange } from '../exchange/deps.js'
import { isDeaf } from '../exchange/presence.js'
import { DAY } from '../lib/time.js'
import { intakeOf, seemsShared, type Intake } from '../stores/presence/gaps.js'
import { refusedPlaces } from '../stores/presence/places.js'
import { presenceOf, type Presence } from '../stores/presence/presence.js'
import type { Readiness } from '../web/deps.js'
import type { DoctorCheck } from '../web/doctor.js'
import type { Role } from './config.js'

/** What came in, by whichever process, and what did not. */
export interface Listening {
  readonly intake: Intake
  readonly presence: Presence | null
}

export async function listeningOf(x: Exchange, bot: Pick<Bot, 'channel'>): Promise<Listening> {
  return await listening(x, bot.channel.bot)
}

async function listening(x: Exchange, bot: string): Promise<Listening> {
  const [intake, presence] = await Promise.all([intakeOf(x.db.sql, bot, x.clock.now()), presenceOf(x.db.sql, bot)])
  return { intake, presence }
}

/**
 * Listening and receiving are two facts: an open connection that brings nothing, although messages were written, is
 * degraded and never ok.
 */
export function larkLine(state: BotState, role: Role, known: Listening | null = null): Readiness {
  const { identity, identityError, settingsError, connection } = state
  const line = (ok: boolean, detail: string): Readiness => ({ name: 'lark', needed: true, ok, detail })
  // First: with such an id the platform refuses everything, and its own answers do not say why.
  if (settingsError !== null) return line(false, settingsError)
  if (identity === null) return line(false, `bot identity unknown: ${identityError ?? 'asked'}`)
  if (role === 'worker') return line(true, `sends only, as ${identity.name}`)
  if (connection === null) {
    return line(true, `webhook, as ${identity.name}${known === null ? '' : `; ${received(known.intake)}`}`)
  }
  if (!connection.connected) {
    return line(
      false,
      connection.lease === 'waiting'
        ? 'another process holds the connection of this app id'
        : `not connected: ${connection.lastError ?? 'connecting'}`,
    )
  }
  const events =
    connection.lastEventAt === null
      ? 'no event yet'
      : `${connection.count} events, last ${new Date(connection.lastEventAt).toISOString()}`
  const detail = `connected as ${identity.name}; ${events}`
  if (known === null) return line(true, detail)
  const { presence, intake } = known
  if (presence !== null && isDeaf({ ...presence, lastEventAt: intake.lastEventAt }, connection.since)) {
    return line(false, `degraded: ${detail}, but messages were found that no event brought; it is opened anew`)
  }
  return line(true, `${detail}${shared(intake)}`)
}

function received(intake: Intake): string {
  const last = intake.lastEventAt === null ? 'no event yet' : `last event ${new Date(intake.lastEventAt).toISOString()}`
  return `${last}${shared(intake)}`
}

const SHARED = 'another process seems to use this app id'

function shared(intake: Intake): string {
  return seemsShared(intake) ? `; ${SHARED}: ${missedOf(intake)}` : ''
}

function missedOf({ missed, messages }: Intake): string {
  return `${missed} of ${missed + messages} messages of the last day came by no event`
}

/** Rows of `doctor` about what reaches us. */
export async function larkChecks(x: Exchange, bot: string): Promise<readonly DoctorCheck[]> {
  const [{ intake, presence }, refused] = await Promise.all([listening(x, bot), refusedPlaces(x.db.sql, bot)])
  return [eventsCheck(intake), sharedCheck(intake), historyCheck(presence, refused, x.clock.now())]
}

/** Whatever the connection says: when the last event came, and how many of the last day. */
export function eventsCheck(intake: Intake): DoctorCheck {
  const detail =
    intake.lastEventAt === null
      ? 'none has ever come'
      : `last ${new Date(intake.lastEventAt).toISOString()}; ${intake.events} in a day, ${intake.messages} of them messages`
  const mend =
    intake.lastEventAt === null ? 'write to the bot; if nothing comes, look at the app’s event subscription' : null
  return { name: 'events received', state: 'ok', detail, mend }
}

export function sharedCheck(intake: Intake): DoctorCheck {
  const raised = seemsShared(intake)
  const away = intake.missedAway === 0 ? '' : `; ${intake.missedAway} more while this gateway was away`
  return {
    name: 'events missed',
    state: raised ? 'warning' : 'ok',
    detail: raised ? `${SHARED}: ${missedOf(intake)}${away}` : `${missedOf(intake)}${away}`,
    mend: raised
      ? 'stop the other process (a second gateway, a laptop, an old bot), or give it an app of its own; what it took is found in the histories and held'
      : null,
  }
}

/** Without histories nobody can say what was missed. */
export function historyCheck(presence: Presence | null, refused: number, now: number): DoctorCheck {
  const filledAt = presence?.filledAt ?? null
  const read = filledAt === null ? 'not read yet' : `read ${new Date(filledAt).toISOString()}`
  const old = filledAt !== null && now - filledAt > DAY
  return {
    name: 'histories',
    state: refused > 0 || old ? 'warning' : 'ok',
    detail: refused === 0 ? read : `${read}; ${refused} chats or topics could not be read`,
    mend:
      refused > 0
        ? 'grant im:message.group_msg (groups) and im:message:readonly, and publish a new version of the app; until then messages missed there are not found'
        : null,
  }
}
