import { afterAll, beforeAll, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { buttonsOf } from '../kit/buttons.js'
import { testGateway, textOf, until, type TestGateway } from '../kit/gateway.js'
import { handingOn, office } from '../acceptance/kit.js'
import { scriptedAgent } from '../kit/scripted-command.js'

let g: TestGateway
beforeAll(async () => {
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: (await scriptedAgent())() } })
}, 60_000)
afterAll(() => g.stop())

const to = (asked: WorldMessage) => g.answers(asked.chatId).filter((one) => one.parentId === asked.id)
const cardsTo = (asked: WorldMessage) => to(asked).filter((one) => buttonsOf(one).length === 3)

async function press(card: WorldMessage, label: string): Promise<string> {
  const { value } = must(
    buttonsOf(card).find((one) => one.label === label),
    label,
  )
  const answer = await g.served.sandbox.world.click({ messageId: card.id, by: g.ids.alice, value })
  expect(answer.shown).toBe('answer')
  return (answer as { answer: { toast: { content: string } } }).answer.toast.content
}

test('a restart while a permission is waited for asks anew; the card of before allows nothing any more', async () => {
  const asked = g.served.sandbox.world.say({ chatId: g.ids.dm, from: g.ids.alice, text: '!ask git push' })
  const [old] = await until(() => (cardsTo(asked).length === 1 ? cardsTo(asked) : undefined), 'the first card', 20_000)
  await g.restart()
  const again = await until(() => cardsTo(asked).find((one) => one.id !== old?.id), 'the card of the next turn', 30_000)
  expect(await press(must(old, 'the old card'), 'Always allow this')).toContain('has ended, so it was not done')
  const { items } = (await (await g.api('/api/v1/grants')).json()) as { items: readonly unknown[] }
  expect(items).toEqual([])
  expect(to(asked).map(textOf).join('\n')).not.toContain('Allowed: git push')
  expect(await press(again, 'Allow once')).toBe('Allowed, this once.')
  await until(() => to(asked).some((one) => textOf(one).includes('Allowed: git push')), 'the answer', 20_000)
  await g.quiet()
  const ends = await g.db.sql`
    select payload ->> 'as' as as from collab.observations where kind = 'approval-settled' order by seq`
  expect(ends.map((row) => row['as'])).toEqual(['lapsed', 'allowed'])
  expect(to(asked).filter((one) => textOf(one).includes('Allowed: git push'))).toHaveLength(1)
}, 90_000)

test('what a worker asks is asked in the topic where its owner asked, and only that owner decides', async () => {
  const o = office(() => ({ ...g, url: g.gateway.url }))
  await o.hire('builder', 'builds', (await scriptedAgent())())
  const said = handingOn({ to: 'builder', question: '!ask make release\n!assess accepted mine\n!report built' })
  const asked = o.say(said, g.ids.topicGroup)
  const card = await until(
    () => g.answers(g.ids.topicGroup).find((one) => buttonsOf(one).length === 3),
    'the card of the worker',
    40_000,
  )
  expect(textOf(card)).toContain('The agent builder would like to do this')
  expect(card.threadId).toBe(must(asked.threadId, 'the topic'))
  const { value } = must(buttonsOf(card)[0], 'a button')
  const strange = await g.served.sandbox.world.click({ messageId: card.id, by: g.ids.bob, value })
  expect(strange).toMatchObject({ shown: 'answer', answer: { toast: { type: 'warning' } } })
  expect(await press(card, 'Always allow this')).toContain('from here on')
  const root = await o.opened(asked)
  await o.when(root.id, ({ state }) => state === 'closed', 'the end of it', 60_000)
  const { items } = (await (await g.api('/api/v1/grants')).json()) as { items: readonly unknown[] }
  expect(items).toMatchObject([{ agent: 'builder', conversation: root.conversation }])
}, 120_000)

test('what a worker asked for in vain is told to the owner, whatever the worker reports', async () => {
  const command = await scriptedAgent()
  const h = await testGateway({
    env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command(), APPROVAL_WAIT_MS: '0' },
  })
  try {
    const o = office(() => ({ ...h, url: h.gateway.url }))
    await o.hire('builder', 'builds', command())
    const question = '!ask make release\n!assess accepted mine\n!report all is well'
    const asked = o.say(handingOn({ to: 'builder', question }))
    const root = await o.opened(asked)
    await o.when(root.id, ({ state }) => state === 'closed', 'the end of it', 60_000)
    await h.quiet(30_000)
    const told = o.answers(asked).filter((text) => text.includes('so it was not done'))
    expect(told).toHaveLength(1)
    expect(told[0]).toContain('make release')
  } finally {
    await h.stop()
  }
}, 120_000)
