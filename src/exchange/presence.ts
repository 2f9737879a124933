import type { BotId } from '../collab/refs.js'
import { errorLabel } from '../lib/log.js'
import { HOUR, SECOND } from '../lib/time.js'
import { askHistories, beat, type Presence } from '../stores/presence/presence.js'
import { putWake } from '../stores/wakes/wakes.js'
import type { Exchange } from './deps.js'

/** How often a process that holds a door says so. */
const BEAT_MS = 5 * SECOND

/** Histories are read at least so often, or events that go to somebody else would never be missed on a busy bot. */
const ROUND_MS = HOUR

/** What a door says of itself. Times in milliseconds since the epoch. */
export interface DoorState {
  readonly open: boolean
  /** The last proof that the other side is there. */
  readonly aliveAt: number
  readonly openedAt: number
}

export interface PresenceKeeper {
  start(): void
  /** The door was opened, first or again: what was written before may have been missed. */
  opened(): void
  stop(): Promise<void>
}

/**
 * Writes down that the door of a bot is open, again and again, and asks for the histories when it was opened, when
 * nothing came for long, and at times anyway. A door that is open and brings nothing is opened anew.
 *
 * @source delivery In 5
 */
export function keepPresence(
  x: Exchange,
  bot: BotId,
  door: () => DoorState,
  reopen: (reason: string) => void,
): PresenceKeeper {
  let justOpened = false
  let line: Promise<void> = Promise.resolve()
  let stop: (() => void) | null = null

  async function look(): Promise<void> {
    const state = door()
    if (stop === null || !state.open) return
    const opened = justOpened
    justOpened = false
    try {
      const now = x.clock.now()
      const aliveAt = opened ? now : Math.min(state.aliveAt, now)
      const row = await beat(x.db.sql, { bot, aliveAt, now, opened })
      if (isDeaf(row, state.openedAt)) reopen('messages were found that no event brought')
      if (historiesDue(row, now, x.settings.silenceMs)) await askForHistories(x, bot, now)
    } catch (error) {
      // What was not written is written at the next beat.
      justOpened = justOpened || opened
      x.log.warn('the presence of the bot could not be written', { error: errorLabel(error) })
    }
  }

  const inLine = (): Promise<void> => (line = line.then(look))
  return {
    start() {
      stop ??= x.every(BEAT_MS, inLine)
    },
    opened() {
      justOpened = true
      void inLine()
    },
    async stop() {
      stop?.()
      stop = null
      await line
    },
  }
}

/** The histories of all places of this bot shall be read, by whichever process takes the job. */
export async function askForHistories(x: Exchange, bot: BotId, now: number): Promise<void> {
  const wake = await x.db.tx(async (tx) => {
    await askHistories(tx, bot, now)
    return await putWake(tx, 'upkeep', `history-${bot}`, now)
  })
  x.wake.kick([wake])
}

/** Is it time to look for what no door brought? After an absence, after a silence, and at times anyway. */
export function historiesDue(
  row: Pick<Presence, 'askedAt' | 'openedAt' | 'firstAt'> & {
    readonly returned: boolean
    readonly lastEventAt: number | null
  },
  now: number,
  silenceMs: number,
): boolean {
  if (row.returned) return true
  const asked = row.askedAt ?? row.firstAt
  const lastSign = Math.max(row.lastEventAt ?? 0, asked, row.openedAt)
  return now - lastSign >= silenceMs || now - asked >= ROUND_MS
}

/** A message was written after the door had been opened, no door brought it, and nothing else has come since. */
export function isDeaf(
  row: Pick<Presence, 'missedAt'> & { readonly lastEventAt: number | null },
  openedAt: number,
): boolean {
  return row.missedAt !== null && row.missedAt > openedAt && row.missedAt > (row.lastEventAt ?? 0)
}
