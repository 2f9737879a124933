import type { IncomingMessage } from '../collab/message.js'
import { languageOf } from '../collab/project/language.js'
import { countBotTurn } from '../stores/ingress/bot-turns.js'
import type { IngressRow } from '../stores/ingress/ingress.js'
import { ownBots } from '../stores/presence/presence.js'
import type { Exchange } from './deps.js'
import { returnRefOf } from './ids.js'
import { say } from './say.js'

/** Turns in a row that other bots may start in one chat before a person writes again. */
export const BOT_TURNS = 3

/**
 * What keeps this message of another bot from starting a turn, in a chat whose policy admits bots; null when nothing
 * does. Three times in a row at most: then silence, and one notice to the people there. Bots of ours never answer one
 * another.
 *
 * @source delivery In 4
 */
export async function guardBots(
  x: Exchange,
  message: IncomingMessage,
  row: IngressRow,
): Promise<'ignored' | 'loop-guard' | null> {
  const { sql } = x.db
  const { bot, chatId, sender } = message
  if ((await ownBots(sql, [sender.openId])).length > 0) return 'ignored'
  // What a bot said while nobody listened is of no use to anybody now.
  if (row.receivedAt - message.createTime > x.settings.lateAfterMs) return 'ignored'
  const full = await countBotTurn(sql, { ingress: row.id, bot, chatId, position: row.position }, BOT_TURNS)
  if (full === null) return null
  x.meter.count('routing_refused_total', 'loop-guard')
  await say(x, {
    causeKind: 'notice',
    // Once for this row of turns, whichever message is the first beyond it.
    causeId: `bots-paused-${full}`,
    route: { ...returnRefOf(message), threadId: null, replyTo: null },
    notice: { kind: 'bots-paused', turns: BOT_TURNS },
    language: languageOf(message.text) ?? 'en',
    endsReceipt: null,
    request: null,
  })
  return 'loop-guard'
}
