import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { buttonsOf } from '../kit/buttons.js'
import { textOf, until, type TestGateway, type TestGatewayOptions } from '../kit/gateway.js'
import { sampleEncryptKey, sampleToken } from '../replay/samples.js'
import { caseGateway, caseIds } from './replay.js'

const { owner, colleague, groupA, dm } = caseIds

/*
 * The case presses an approval. Grants do not exist yet, so the card here is another one on which only the owner may
 * decide: that of a stop. Who may, how often, and within which time is the same for every card.
 */
/** The platform pushes to the gateway's own door, sealed and signed; where that is, is known once it listens. */
const webhook: TestGatewayOptions = {
  env: { LARK_EVENTS: 'webhook', LARK_ENCRYPT_KEY: sampleEncryptKey, LARK_VERIFICATION_TOKEN: sampleToken },
  app: { encryptKey: sampleEncryptKey, verificationToken: sampleToken },
  events: {
    mode: 'webhook',
    url: 'http://gateway.test/lark/events',
    fetch: (_url, init) => fetch(`${g.gateway.url}/lark/events`, init),
  },
}
let g: TestGateway

describe.each(['websocket', 'webhook'] as const)('case 21, a card in an open group, over %s', (mode) => {
  let card: WorldMessage
  beforeAll(async () => {
    g = await caseGateway(mode === 'webhook' ? webhook : {})
    const { world } = g.served.sandbox
    world.say({ chatId: groupA, from: owner, text: '!fail hang', mentionBot: true })
    const presented = () => g.db.sql`select 1 from collab.observations where kind = 'turn-presented'`
    await until(async () => (await presented()).length === 1, 'the turn')
    const stop = world.say({ chatId: groupA, from: owner, text: '/stop', mentionBot: true })
    card = await until(() => g.answers(groupA).find((one) => one.parentId === stop.id), 'the card')
  })
  afterAll(() => g.stop())

  async function press(by: string, label: string, value: object = {}) {
    const button = must(
      buttonsOf(card).find((one) => one.label === label),
      'the button',
    )
    const from = performance.now()
    const answer = await g.served.sandbox.world.click({
      messageId: card.id,
      by,
      // An id in the value is only what somebody wrote into the card.
      value: { ...(button.value as object), ...value },
    })
    expect(performance.now() - from).toBeLessThan(1_000)
    expect(answer.shown).toBe('answer')
    return (answer as { answer: { toast: { type: string; content: string }; card?: object } }).answer
  }
  const released = () => g.db.sql`select 1 from collab.observations where kind = 'request-released'`
  const now = () =>
    must(
      g.served.sandbox.world.messages(groupA).find((one) => one.id === card.id),
      'the card',
    )

  test('a stranger is refused calmly: the operator of the envelope decides, whatever the card says', async () => {
    const refused = await press(colleague, 'Run all', { user_id: owner, openId: owner })
    expect(refused.toast).toEqual({
      type: 'warning',
      content: 'Only the owner can decide this here. Nothing was changed.',
    })
    expect(refused.card).toBeUndefined()
    await g.quiet()
    expect(await released()).toHaveLength(0)
    expect(buttonsOf(now())).toHaveLength(2)
  })

  test('the owner decides once, and the card shows what was chosen', async () => {
    const taken = await press(owner, 'Run all')
    expect(taken.toast).toEqual({ type: 'success', content: '1 message is running now, in order.' })
    expect(buttonsOf(now())).toEqual([])
    expect(textOf(now())).toContain('1 message is running now')
    await until(async () => (await g.db.sql`select 1 from collab.turns`).length === 2, 'the turn')
    expect(await released()).toHaveLength(1)
  })

  test('a second press, of the other button, changes nothing and hears what was decided', async () => {
    const second = await press(owner, 'Skip')
    expect(second.toast).toEqual({ type: 'info', content: 'This was decided already: run.' })
    const rejected = await g.db.sql`select 1 from collab.observations where kind = 'request-rejected'`
    expect(rejected).toHaveLength(0)
    expect(buttonsOf(now())).toEqual([])
  })

  test('a card that is carried into another conversation decides nothing there', async () => {
    const { world } = g.served.sandbox
    const asked = world.say({ chatId: dm, from: owner, text: '!reply held back', createTime: Date.now() - 3_600_000 })
    const late = await until(() => g.answers(dm).find((one) => one.parentId === asked.id), 'the card of the late one')
    const skip = must(buttonsOf(late)[1], 'its button')
    // Pressed by somebody who is no owner, from a chat where the card does not stand.
    const answer = await world.click({ messageId: card.id, by: colleague, value: skip.value })
    expect(JSON.stringify(answer)).toContain('Only the owner can decide')
    const held = await g.db.sql`select 1 from collab.turn_inputs where state = 'held' and because = 'late'`
    expect(held).toHaveLength(1)
  })
})
