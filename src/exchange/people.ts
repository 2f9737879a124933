import type { Outgoing } from '../collab/channel.js'
import { messageEvent } from '../stores/ingress/ingress.js'
import type { DeliveryRow } from '../stores/deliveries/deliveries.js'
import type { Exchange } from './deps.js'

type People = NonNullable<Extract<Outgoing, { kind: 'answer' }>['people']>

/**
 * Whom an answer may call by a mention: who wrote the message that it answers, and the people whom that message names.
 * Never a bot, so that two of them do not wake each other. The platform tells no name with a sender: theirs is empty.
 */
export async function peopleOf(x: Exchange, delivery: DeliveryRow): Promise<People> {
  const { replyTo } = delivery.route
  const event = replyTo === null ? null : await messageEvent(x.db.sql, delivery.bot, replyTo)
  if (event?.kind !== 'message') return []
  const { sender, mentions } = event.message
  return [
    ...(sender.type === 'user' ? [{ openId: sender.openId, name: '' }] : []),
    ...mentions.filter((one) => !one.isBot && !one.isSelf).map(({ openId, name }) => ({ openId, name })),
  ]
}
