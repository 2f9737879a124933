import type { IncomingEvent } from '../../collab/message.js'
import type { Clicked } from '../../exchange/click.js'
import { errorLabel, type Logger } from '../../lib/log.js'
import { SECOND } from '../../lib/time.js'
import { chosenCard } from '../../render/notice-card.js'
import { renderNotice } from '../../render/text/notice.js'

/** What a door sends back to whoever pressed a button. `{}` shows nothing. Lark: card.action.trigger, reply. */
export type Answer = Readonly<Record<string, unknown>>

export type Press = Extract<IncomingEvent, { kind: 'card-action' }>

/**
 * Carries out a press that is stored. `inTime` is asked when it is done: false when the door has answered already, so
 * the card must be drawn anew by a call.
 */
export type Act = (event: Press, inTime: () => boolean) => Promise<Clicked | null>

/** The platform gives 3 s in all; a person sees a button that hangs after one. */
const ANSWER_MS = 0.8 * SECOND

/** The answer to a press: what became of it, or, when that takes longer, that it is taken. */
export async function answerPress(act: Act, event: Press, log: Logger): Promise<Answer> {
  let waiting = true
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => {
      waiting = false
      resolve('late')
    }, ANSWER_MS)
  })
  const done = act(event, () => waiting).catch((error: unknown) => {
    log.warn('a press was left to its job', { eventId: event.eventId, error: errorLabel(error) })
    return 'late' as const
  })
  try {
    const clicked = await Promise.race([done, late])
    if (clicked === null) return {}
    return clicked === 'late' ? underWay : answerOf(clicked)
  } finally {
    clearTimeout(timer)
  }
}

function answerOf({ tone, toast, language, card }: Clicked): Answer {
  return {
    toast: { type: tone, content: renderNotice(toast, language) },
    ...(card === null
      ? {}
      : { card: { type: 'raw', data: JSON.parse(chosenCard(card.asked, card.became, language)) as object } }),
  }
}

/** The language of the chat is not known yet; the platform takes the reader's own. */
const underWay: Answer = {
  toast: {
    type: 'info',
    content: renderNotice({ kind: 'choice-under-way' }, 'en'),
    i18n: {
      zh_cn: renderNotice({ kind: 'choice-under-way' }, 'zh'),
      en_us: renderNotice({ kind: 'choice-under-way' }, 'en'),
    },
  },
}
