import { createBot, type Bot, type BotParts, type BotState } from '../bot/bot.js'
import { LEASE_MS } from '../bot/ingress/long-connection.js'
import type { Meter } from '../collab/ports.js'
import type { BotId } from '../collab/refs.js'
import type { Exchange } from '../exchange/deps.js'
import { pressAtOnce } from '../exchange/at-once.js'
import { judgeWaiting } from '../exchange/judge.js'
import { keepPresence, type DoorState } from '../exchange/presence.js'
import { take } from '../exchange/take.js'
import { errorLabel } from '../lib/log.js'
import { acquireLease, releaseEarlier, releaseLease, renewLease } from '../stores/leases/leases.js'
import { newId, systemClock } from './chance.js'
import type { Config, LarkApp } from './config.js'

/** One bot, with its doors opened as the role says: a worker only sends. */
export function openBot(x: Exchange, config: Config, app: LarkApp, meter: Meter): Bot {
  const bot = app.appId as BotId
  const { open, atAll, bots } = config.chats
  const policy = { groupsOpen: open, atAllChats: atAll, botChats: bots }
  const presence = keepPresence(
    x,
    bot,
    () => doorOf(bot_.state(), systemClock.now()),
    (reason) => bot_.reopen(reason),
  )
  const bot_: Bot = createBot({
    bot,
    appSecret: app.appSecret,
    baseUrl: app.baseUrl,
    events: eventsOf(x, config, app),
    clock: systemClock,
    random: Math.random,
    log: x.log,
    meter,
    take: (event, door) => take(x, event, door),
    press: (event, inTime) => pressAtOnce(x, event, inTime),
    policy: () => policy,
    onConnected: () => presence.opened(),
    onIdentity: () => {
      judgeWaiting(x, bot, (message) => bot_.judge(message)).catch((error: unknown) => {
        x.log.error('waiting messages could not be judged', { error: errorLabel(error) })
      })
    },
    storeFile: async (bytes, fileName, mediaType) => {
      const stored = await x.artifacts.put(once(bytes), config.numbers.attachmentLimit)
      if (!stored.stored) throw new Error(`a report could not be stored: ${stored.because}`)
      return { digest: stored.digest, size: stored.size, fileName, mediaType }
    },
    readFile: (digest) => x.artifacts.read(digest),
  })
  if (config.role === 'worker') return bot_
  return {
    ...bot_,
    start() {
      presence.start()
      bot_.start()
      // A webhook needs no connection: it is open from now on.
      if (bot_.webhook !== null) presence.opened()
    },
    async stop() {
      await presence.stop()
      await bot_.stop()
    },
  }
}

/** A webhook is open as long as this process lives; a long connection while the other side answers. */
function doorOf({ connection }: BotState, now: number): DoorState {
  if (connection === null) return { open: true, aliveAt: now, openedAt: 0 }
  return { open: connection.connected, aliveAt: connection.aliveAt ?? connection.since, openedAt: connection.since }
}

function eventsOf(x: Exchange, config: Config, app: LarkApp): BotParts['events'] {
  if (config.role === 'worker' || config.larkEvents === 'webhook') {
    return { mode: 'webhook', encryptKey: app.encryptKey, verificationToken: app.verificationToken }
  }
  const name = `long-connection-${app.appId}`
  // Each start is its own holder: a process that was killed must not look like this one to the platform.
  const holder = `${x.holder} ${newId()}`
  let first = true
  return {
    mode: 'websocket',
    lease: {
      async acquire() {
        // One process at a time holds DATA_DIR, so an earlier one of this installation is gone: nobody waits for it.
        if (first) await releaseEarlier(x.db.sql, name, x.holder, holder)
        first = false
        return await acquireLease(x.db.sql, name, holder, systemClock.now(), LEASE_MS)
      },
      renew: () => renewLease(x.db.sql, name, holder, systemClock.now(), LEASE_MS),
      release: () => releaseLease(x.db.sql, name, holder),
    },
  }
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
}
