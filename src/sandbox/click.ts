import { isRefused } from './answer.js'
import { checkCard, isObject, parseObject } from './card-check.js'
import { cardReferences } from './content.js'
import type { Platform } from './platform.js'
import { nameOf, type Carrier } from './push.js'
import type { Message } from './state.js'
import { lookUp, type ClickAnswer, type ClickOptions } from './world.js'

/**
 * A press on a card: one synchronous call of 3 s, never pushed again. A good answer may carry a toast and a new card;
 * anything else is the number the person's client shows.
 */
export function createClicks(
  platform: Platform,
  carrier: Carrier,
  redraw: (message: Message, card: string) => void,
): (options: ClickOptions) => Promise<ClickAnswer> {
  const find = lookUp(platform.state)
  return async (options) => {
    const message = find.message(options.messageId)
    const token = platform.ids.cardToken()
    const action = {
      value: options.value,
      tag: options.tag ?? 'button',
      ...(options.name === undefined ? {} : { name: options.name }),
      ...(options.formValue === undefined ? {} : { timezone: 'Asia/Shanghai', form_value: options.formValue }),
      ...(options.inputValue === undefined ? {} : { input_value: options.inputValue }),
      ...(options.option === undefined ? {} : { option: options.option }),
    }
    const envelope = platform.events.cardAction(message, find.person(options.by), token, action)
    const outcome = await carrier.carry(nameOf(envelope).eventId, envelope)
    if (!outcome.pushed) {
      const code = {
        timeout: 200341,
        refused: 200671,
        unreachable: 200342,
        'connection-lost': 200342,
        'no-connection': 200340,
      }
      return { shown: 'error', code: code[outcome.because] as 200341 }
    }
    const answer = parseObject(outcome.answer)
    if (answer === null) return { shown: 'error', code: 200672 }
    const card = answer['card']
    if (isObject(card) && card['type'] === 'raw') {
      const data = JSON.stringify(card['data'])
      if (isObject(card['data']) && card['data']['schema'] !== '2.0') return { shown: 'error', code: 200830 }
      if (isRefused(checkCard(data, cardReferences(platform.state)))) return { shown: 'error', code: 200673 }
      redraw(message, data)
    }
    return { shown: 'answer', answer }
  }
}
