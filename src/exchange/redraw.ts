import type { Choice } from '../collab/choice.js'
import type { Language } from '../collab/delivery.js'
import type { Notice } from '../collab/notice.js'
import type { BotId, ReturnRef } from '../collab/refs.js'
import { errorLabel } from '../lib/log.js'
import { DAY } from '../lib/time.js'
import { chooseOnCard, noteBecame, undecidedCards } from '../stores/choices/choices.js'
import type { Conversation } from '../stores/conversations/conversations.js'
import type { Click, Clicked } from './click.js'
import type { Exchange } from './deps.js'

/** Lark: message-card/patch; an older card cannot be changed. */
const CARD_LIFE_MS = 14 * DAY
/** One word seldom decides more than one card; each costs a call. */
const MOST_CARDS = 20

/** Shows on a card what was chosen, by a call of its own. A failure of it is only told to the operator. */
export async function redrawCard(x: Exchange, event: Click, clicked: Clicked): Promise<void> {
  const { card, language } = clicked
  if (card !== null && event.messageId !== '') await draw(x, event, card, language)
}

interface CardRef {
  readonly bot: BotId
  readonly chatId: string
  readonly messageId: string
}

async function draw(
  x: Exchange,
  { bot, chatId, messageId }: CardRef,
  card: { readonly asked: Notice; readonly became: Notice },
  language: Language,
): Promise<void> {
  const channel = x.channelOf(bot)
  if (channel === null) return
  const place: ReturnRef = { channel: 'lark', bot, chatId, chatType: 'group', threadId: null, replyTo: null }
  try {
    const [part] = await channel.plan({ kind: 'notice', notice: card.asked, became: card.became, language }, place)
    if (part?.msgType !== 'interactive') return
    const reply = await channel.update(messageId, part.content)
    if (reply.update !== 'done') x.log.warn('a card does not show what was chosen', { messageId, reason: reply.update })
  } catch (error) {
    x.log.warn('a card does not show what was chosen', { messageId, error: errorLabel(error) })
  }
}

/** A word in the chat that decides what cards ask, and what it came to. */
export interface Word {
  readonly does: 'run' | 'skip'
  readonly messageId: string
  readonly openId: string
  readonly became: Notice
}

const acts: Readonly<Record<Word['does'], { readonly held: Choice['act']; readonly result: Choice['act'] }>> = {
  run: { held: 'run-held', result: 'show-result' },
  skip: { held: 'skip-held', result: 'drop-result' },
}

/**
 * The cards of a conversation that asked what a word has decided show that, and have nothing left to press. Drawn first
 * and written down after it: a run that was interrupted draws them once more.
 *
 * @source delivery In 9: a word and its button are the same choice
 */
export async function decideCards(x: Exchange, conversation: Conversation, word: Word): Promise<void> {
  const { chatId, language } = conversation
  const bot = conversation.bot as BotId
  const now = x.clock.now()
  const open = await undecidedCards(x.db.sql, { bot, conversation: conversation.id }, now - CARD_LIFE_MS, MOST_CARDS)
  for (const { messageId, notice } of open) {
    await draw(x, { bot, chatId, messageId }, { asked: notice, became: word.became }, language)
    const act = acts[word.does][notice.kind === 'result-withheld' ? 'result' : 'held']
    const choice = { bot, messageId, eventId: word.messageId, act, openId: word.openId, chosenAt: now }
    const stands = await chooseOnCard(x.db.sql, choice)
    if (stands.eventId === word.messageId) await noteBecame(x.db.sql, bot, messageId, word.became)
  }
}
