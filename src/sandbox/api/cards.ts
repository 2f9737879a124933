import { DAY, MINUTE } from '../../lib/time.js'
import { cardRefused, isRefused, refused, type Refused } from '../answer.js'
import { checkCard, isObject, parseObject } from '../card-check.js'
import { shownCard } from '../card-shown.js'
import { cardReferences, currentCard } from '../content.js'
import { no, ok, type Call, type Handler, type Platform } from '../platform.js'
import type { CardEntity } from '../state.js'

const CARD_BYTES = 30 * 1024
const CARD_LIFE = 14 * DAY
const STREAMING_LIFE = 10 * MINUTE
const TEXT_LIMIT = 100_000
const INT32_MAX = 2_147_483_647

/** POST cardkit/v1/cards: an entity that a message can show by its id. Source: cardkit-v1/card/create. */
export const createCard: Handler = (platform, call) => {
  const { type, data } = call.json ?? {}
  if (type !== 'card_json' || typeof data !== 'string') return no(platform, 99992402, 'type or data is invalid')
  const wrong = checkEntity(platform, call, data)
  if (wrong !== null) return no(platform, wrong)
  const cardId = platform.ids.cardId()
  const entity: CardEntity = {
    cardId,
    data,
    createdAt: platform.clock.now(),
    sequence: 0,
    streamingSince: isStreaming(data) ? platform.clock.now() : null,
    texts: new Map(),
  }
  platform.state.cards.set(cardId, entity)
  return ok(platform, { card_id: cardId })
}

/** PUT cards/:id/elements/:element_id/content: the whole text each time, only while streaming is on. */
export const streamText: Handler = (platform, call) => {
  const entity = findEntity(platform, call)
  if (isRefused(entity)) return no(platform, entity)
  const content = call.json?.['content']
  if (typeof content !== 'string' || content === '') return no(platform, 300307)
  if (content.length > TEXT_LIMIT) return no(platform, 99992402, 'content is too long')
  const element = findElement(entity.data, call.params['elementId'] ?? '')
  if (element === null) return no(platform, 300313)
  if (element['tag'] !== 'markdown' && element['tag'] !== 'plain_text') return no(platform, 300310)
  if (entity.streamingSince === null) return no(platform, 300309)
  if (platform.clock.now() - entity.streamingSince > STREAMING_LIFE) {
    entity.streamingSince = null
    return no(platform, 200850)
  }
  const order = takeSequence(entity, call)
  if (order !== null) return no(platform, order)
  entity.texts.set(call.params['elementId'] ?? '', content)
  redraw(platform, entity)
  return ok(platform, {})
}

/** PATCH cards/:id/settings: opens or closes streaming; the summary stands in `config.summary`. */
export const changeSettings: Handler = (platform, call) => {
  const entity = findEntity(platform, call)
  if (isRefused(entity)) return no(platform, entity)
  const settings = typeof call.json?.['settings'] === 'string' ? parseObject(call.json['settings']) : null
  const config = settings === null ? null : settings['config']
  if (!isObject(config)) return no(platform, 99992402, 'settings is invalid')
  const order = takeSequence(entity, call)
  if (order !== null) return no(platform, order)
  if (typeof config['streaming_mode'] === 'boolean')
    entity.streamingSince = config['streaming_mode'] ? platform.clock.now() : null
  const card = parseObject(entity.data) ?? {}
  const before = isObject(card['config']) ? card['config'] : {}
  entity.data = JSON.stringify({ ...card, config: { ...before, ...config } })
  redraw(platform, entity)
  return ok(platform, {})
}

/** PUT cards/:id: the whole card anew. */
export const replaceCard: Handler = (platform, call) => {
  const entity = findEntity(platform, call)
  if (isRefused(entity)) return no(platform, entity)
  const card = call.json?.['card']
  if (!isObject(card) || card['type'] !== 'card_json' || typeof card['data'] !== 'string')
    return no(platform, 99992402, 'card is invalid')
  const wrong = checkEntity(platform, call, card['data'])
  if (wrong !== null) return no(platform, wrong)
  const order = takeSequence(entity, call)
  if (order !== null) return no(platform, order)
  entity.data = card['data']
  entity.texts.clear()
  redraw(platform, entity)
  return ok(platform, {})
}

function checkEntity(platform: Platform, call: Call, data: string): Refused | null {
  if (call.bytes.length > CARD_BYTES) return refused(200860)
  const card = checkCard(data, cardReferences(platform.state))
  if (isRefused(card)) return card
  const exclusive = isObject(card['config']) && card['config']['update_multi'] === false
  return exclusive ? cardRefused(300302, 'update_multi must be true', 'config') : null
}

function findEntity(platform: Platform, call: Call): CardEntity | Refused {
  const entity = platform.state.cards.get(call.params['cardId'] ?? '')
  if (entity === undefined) return refused(200740)
  return platform.clock.now() - entity.createdAt > CARD_LIFE ? refused(200750) : entity
}

/** Strictly increasing over every operation on one card. */
function takeSequence(entity: CardEntity, call: Call): Refused | null {
  const sequence = call.json?.['sequence']
  if (typeof sequence !== 'number' || !Number.isInteger(sequence) || sequence < 1 || sequence > INT32_MAX)
    return refused(99992402, 'sequence is invalid')
  if (sequence <= entity.sequence) return refused(300317)
  entity.sequence = sequence
  return null
}

function findElement(data: string, id: string): Readonly<Record<string, unknown>> | null {
  let found: Readonly<Record<string, unknown>> | null = null
  JSON.parse(data, (_key, value: unknown) => {
    if (isObject(value) && value['element_id'] === id) found = value
    return value
  })
  return found
}

const isStreaming = (data: string): boolean => {
  const config = parseObject(data)?.['config']
  return isObject(config) && config['streaming_mode'] === true
}

/** Every message that shows the entity shows its new state. */
function redraw(platform: Platform, entity: CardEntity): void {
  const reference = JSON.stringify({ type: 'card', data: { card_id: entity.cardId } })
  for (const message of platform.state.messages.values()) {
    if (message.msgType !== 'interactive' || message.content !== reference) continue
    message.shown = shownCard(currentCard(entity))
    message.updateTime = platform.clock.now()
    platform.changed({ kind: 'message-updated', chatId: message.chatId, messageId: message.messageId })
  }
}
