import { keyInUse } from '../collab/decide/send.js'
import { otherForms } from '../collab/decide/restate.js'
import type { Channel, OtherForm, Restating } from '../collab/channel.js'
import { errorLabel } from '../lib/log.js'
import type { IncomingMessage } from '../collab/message.js'
import { MINUTE } from '../lib/time.js'
import type { DeliveryRow } from '../stores/deliveries/deliveries.js'
import { messageEvent } from '../stores/ingress/ingress.js'
import { partsOf, type OtherRow, type PartRow } from '../stores/deliveries/parts.js'
import type { Exchange } from './deps.js'
import { pageOf } from './page.js'

/** UTF-16 units of a question that are kept in the line that names it; a reader sees fewer. */
const WORDS_KEPT = 200

/** The message that a delivery answers, as it came; null when it is none, or older than events are kept. */
export async function answeredMessage(x: Exchange, { bot, route }: DeliveryRow): Promise<IncomingMessage | null> {
  if (route.replyTo === null) return null
  const event = await messageEvent(x.db.sql, bot, route.replyTo)
  return event?.kind === 'message' ? event.message : null
}

/**
 * The rows that stand for a part which the platform refused in so many words; none when it has no other form. Nothing
 * is stored here: the caller does that together with the refusal.
 *
 * @source delivery.md Out 5, 7
 */
export async function formsOf(
  x: Exchange,
  channel: Channel,
  delivery: DeliveryRow,
  part: PartRow,
  because: string,
): Promise<readonly OtherRow[]> {
  for (const form of otherForms(part, delivery.route.replyTo !== null, because)) {
    const about = await aboutOf(x, delivery, part)
    try {
      const parts = await restated(channel, part, form, about)
      if (parts.length > 0) return parts.map((one, n) => rowOf(one, part, form, n === parts.length - 1))
    } catch (error) {
      // A fault of our own: the refusal stands, and it is told as what it is.
      x.log.error('a refused part could not be said in another form', {
        deliveryId: delivery.id,
        reason: form,
        error: errorLabel(error),
      })
    }
  }
  return []
}

/**
 * A card or a post that named its question in itself is written anew from what it was made of, so it names it again;
 * the pieces of a text hold every word that was sent.
 */
async function restated(
  channel: Channel,
  part: PartRow,
  form: OtherForm,
  about: Restating,
): Promise<readonly OtherRow['part'][]> {
  const parts = await channel.restate(part, form, about)
  const [first, ...rest] = parts
  const unnamed = form !== 'new-message' && part.detached && part.msgType !== 'text' && about.answers !== null
  return unnamed && first !== undefined ? [...(await channel.restate(first, 'new-message', about)), ...rest] : parts
}

function rowOf(one: OtherRow['part'], refused: PartRow, form: OtherForm, isLast: boolean): OtherRow {
  const detached = form === 'new-message' || refused.detached
  // The part itself, only not as a reply: the same key, so that the platform could not show it twice.
  const itself = form === 'new-message' && isLast
  return {
    part: one,
    key: itself ? keyInUse(refused.key, refused.history) : null,
    uploadKey: itself ? refused.uploadKey : null,
    detached,
  }
}

async function aboutOf(x: Exchange, delivery: DeliveryRow, refused: PartRow): Promise<Restating> {
  const { request, route, source } = delivery
  const about = { language: source.language, page: pageOf(x, request), answers: null }
  if (route.replyTo === null) return about
  // Named once: later parts follow the one that did.
  const parts = await partsOf(x.db.sql, delivery.id)
  const named = parts.some((part) => part.detached && part.state !== 'superseded' && part.key !== refused.key)
  if (named) return about
  const asked = await answeredMessage(x, delivery)
  const words = asked?.text.trim() ?? ''
  return {
    ...about,
    answers: {
      kind: 'answers-gone',
      // Where others read along, words that were withdrawn are not said again.
      words: route.chatType === 'p2p' && words !== '' ? words.slice(0, WORDS_KEPT) : null,
      minutes: asked === null ? null : Math.max(1, Math.round((x.clock.now() - asked.createTime) / MINUTE)),
      request: request === null ? null : request.slice(-8),
    },
  }
}
