import { afterAll, beforeAll, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'

// One live card for a request that takes long: it comes once, changes with the facts, and survives a restart.

let g: TestGateway
beforeAll(async () => {
  g = await testGateway({ env: { PROGRESS_AFTER_MS: '1500' } })
})
afterAll(() => g.stop())

const say = (text: string) => g.served.sandbox.world.say({ chatId: g.ids.dm, from: g.ids.alice, text })
const answersTo = (message: WorldMessage) => g.answers(g.ids.dm).filter((one) => one.parentId === message.id)
const cardsOf = (message: WorldMessage) =>
  answersTo(message).filter((one) => one.content.includes('"act":"stop"') || /Done\.|Still working/u.test(one.content))
const shown = (message: WorldMessage) =>
  cardsOf(message)
    .map((one) => one.content)
    .join('\n')

test('an answer that takes long: one card that says so, with a stop button, and in the end that it is done', async () => {
  const asked = say('!delay 6s\n!reply here it is')
  await until(() => shown(asked).includes('Still working'), 'the card')
  expect(shown(asked)).toContain('"act":"stop"')
  const [card] = cardsOf(asked)
  await until(() => answersTo(asked).some((one) => one.content.includes('here it is')), 'the answer')
  await until(() => shown(asked).includes('Done.'), 'the end on the card')
  expect(cardsOf(asked).map((one) => one.id)).toEqual([must(card, 'the card').id])
  expect(shown(asked)).not.toContain('"act":"stop"')
})

test('a quick answer has no card', async () => {
  const asked = say('!reply quick')
  await until(() => answersTo(asked).length > 0, 'the answer')
  await g.quiet(20_000)
  expect(answersTo(asked)).toHaveLength(1)
})

test('a card that a stopped process left is brought to the end by the next one', async () => {
  const asked = say('!delay 5s\n!reply after the restart')
  await until(() => shown(asked).includes('Still working'), 'the card')
  await g.restart()
  await until(() => answersTo(asked).some((one) => one.content.includes('after the restart')), 'the answer')
  await until(() => shown(asked).includes('Done.'), 'the end on the card')
  expect(cardsOf(asked)).toHaveLength(1)
})

test('a card that was taken away is not followed by another one, and the answer comes', async () => {
  const asked = say('!delay 6s\n!reply all the same')
  await until(() => shown(asked).includes('Still working'), 'the card')
  g.served.sandbox.world.recall(must(cardsOf(asked)[0], 'the card').id, 'bot')
  await until(() => answersTo(asked).some((one) => one.content.includes('all the same')), 'the answer')
  await until(async () => {
    const [row] = await g.db.sql<{ because: string | null }[]>`
      select p.closed_because as because from collab.progress_cards p join collab.work_requests w on w.id = p.request
      where w.origin_message = ${asked.id}`
    return row?.because === 'refused'
  }, 'the card is left')
})
