import { describe, expect, test } from 'vitest'
import { capturingLogger, receiveWith, rememberingTake } from './given.js'

describe('an event that cannot be read', () => {
  const refused = async (envelope: unknown) => {
    const { log, lines } = capturingLogger()
    const receive = receiveWith(rememberingTake().take, log)
    expect(await receive(envelope, 'webhook')).toBe('malformed')
    return lines.map((line) => line.fields.eventId)
  }
  const header = (event_id: unknown) => ({ schema: '2.0', header: { event_id, event_type: 'im.message.receive_v1' } })

  test('is logged under the id that the platform gave it', async () => {
    expect(await refused(header('f7984f25108f8137722bb63cee927e66'))).toEqual(['f7984f25108f8137722bb63cee927e66'])
    expect(await refused({ type: 'event_callback', uuid: 'a-1_B' })).toEqual(['a-1_B'])
  })

  test('nested too deep, it keeps its id as well', async () => {
    let value: unknown = 'x'
    for (let depth = 0; depth < 60; depth++) value = { value }
    const card = {
      schema: '2.0',
      header: { event_id: 'deep-1', event_type: 'card.action.trigger' },
      event: { operator: { open_id: 'ou_x' }, action: { value } },
    }
    expect(await refused(card)).toEqual(['deep-1'])
  })

  test.each([
    ['words of somebody', 'hello there'],
    ['too long', 'a'.repeat(65)],
    ['a line break', 'a\nb'],
    ['no text', { event_id: 'x' }],
    ['nothing', undefined],
  ])('what is no id does not reach the log: %s', async (_name, id) => {
    expect(await refused(header(id))).toEqual([undefined])
    expect(await refused(null)).toEqual([undefined])
  })
})

describe('an event whose payload is documented nowhere', () => {
  const update = (event: unknown) => ({
    schema: '2.0',
    header: { event_id: 'evt_1', event_type: 'im.message.updated_v1' },
    event,
  })

  test.each([
    ['beside the event', { message_id: 'om_1', chat_id: 'oc_1' }],
    ['inside its message', { message: { message_id: 'om_1', chat_id: 'oc_1', content: '{"text":"never trusted"}' } }],
  ])('an edit is a hint, wherever its ids stand: %s', async (_, event) => {
    const { take, events } = rememberingTake()
    expect(await receiveWith(take, capturingLogger().log)(update(event), 'webhook')).toBe('stored')
    expect(events).toEqual([expect.objectContaining({ kind: 'edited', messageId: 'om_1', chatId: 'oc_1' })])
  })

  test('without them it is stored, and acted on by nobody', async () => {
    const { take, events } = rememberingTake()
    await receiveWith(take, capturingLogger().log)(update({ message: { id: 1 } }), 'webhook')
    expect(events).toEqual([expect.objectContaining({ kind: 'other', key: 'evt_1' })])
  })
})
