import { afterEach, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { beat } from '../../src/stores/presence/presence.js'
import { until, type TestGateway } from '../kit/gateway.js'
import { caseEvents, caseGateway, caseIds, staged } from './replay.js'

const { groupA, owner, colleague } = caseIds
const OTHER = 'ou_test_other_bot'
let g: TestGateway
afterEach(() => g.stop())

async function open(env: Record<string, string>): Promise<void> {
  g = await caseGateway({ env })
  const { world } = g.served.sandbox
  world.addPerson({ name: 'Other', openId: OTHER, bot: true })
  must(
    world.chats().find((chat) => chat.chatId === groupA),
    'the group',
  ).members.add(OTHER)
}

const events = caseEvents('20-bot-ping-pong')
const dispositions = async () =>
  (
    await g.db.sql<{ disposition: string | null }[]>`
      select disposition from collab.ingress_events where kind = 'message' order by position`
  ).map((row) => row.disposition)

/** Says what the case's bot says, and waits until the gateway has done with it. */
async function botSays(n: number): Promise<string | null> {
  const said = staged(g.served, must(events[n % events.length], 'an event'))
  const before = (await dispositions()).length
  g.served.sandbox.world.pushEvent(said.envelope)
  await until(async () => {
    const now = await dispositions()
    return now.length > before && now.every((one) => one !== null)
  }, 'the message to be dealt with')
  await g.quiet()
  return (await dispositions()).at(-1) ?? null
}

describe('case 20, two bots that answer each other', () => {
  test('by default a bot that names this one is not heard', async () => {
    await open({})
    expect(await botSays(0)).toBe('ignored')
    expect(g.answers(groupA)).toEqual([])
  })

  test('where bots are allowed three are answered, then there is silence and one notice, until a person writes', async () => {
    await open({ LARK_BOT_CHATS: groupA })
    const became = []
    for (let n = 0; n < events.length; n++) became.push(await botSays(n))
    expect(became).toEqual(['request', 'request', 'request', 'loop-guard', 'loop-guard', 'loop-guard'])
    const said = g.answers(groupA)
    expect(said).toHaveLength(4)
    expect(said[3]?.content).toContain('3')
    expect(said[3]?.parentId).toBeNull()
    // Any person, whether or not the bot is meant.
    const { world } = g.served.sandbox
    world.say({ chatId: groupA, from: colleague, text: 'what are you two doing?' })
    await until(async () => (await dispositions()).at(-1) === 'context-item', 'the person to be heard')
    expect(await botSays(0)).toBe('request')
    // A second row of turns has a notice of its own.
    expect([await botSays(1), await botSays(2), await botSays(3)]).toEqual(['request', 'request', 'loop-guard'])
    expect(g.answers(groupA)).toHaveLength(8)
    // Nothing of all that names anybody.
    for (const one of g.answers(groupA)) {
      expect(one.content).not.toMatch(/<at\b/)
      expect(one.content).not.toContain(OTHER)
    }
  })

  test('a bot that answers or writes to everybody, and names nobody, is not answered', async () => {
    await open({ LARK_BOT_CHATS: groupA, LARK_OPEN_CHATS: groupA, LARK_AT_ALL_CHATS: groupA })
    const { world } = g.served.sandbox
    const asked = world.say({ chatId: groupA, from: owner, text: 'hello', mentionBot: true })
    const answer = await until(() => g.answers(groupA)[0], 'the answer')
    expect(answer.parentId).toBe(asked.id)
    world.say({ chatId: groupA, from: OTHER, text: 'thank you', replyTo: answer.id })
    world.say({ chatId: groupA, from: OTHER, text: '@_all finished' })
    world.say({ chatId: groupA, from: OTHER, text: '@Manager what now?' })
    await until(async () => (await dispositions()).length === 4, 'all messages')
    await g.quiet()
    expect(await dispositions()).toEqual(['request', 'ignored', 'ignored', 'ignored'])
    expect(g.answers(groupA)).toHaveLength(1)
  })

  test('another bot of ours is not answered, even where bots are allowed and it names this one', async () => {
    await open({ LARK_BOT_CHATS: groupA })
    const sister = 'cli_b1b2c3d4e5f60718'
    const now = Date.now()
    await beat(g.db.sql, { bot: sister, aliveAt: now, now, opened: true })
    const { envelope } = staged(g.served, must(events[0], 'an event'))
    const sender = { sender_id: { app_id: sister }, sender_type: 'app', tenant_key: 'tenant_test' }
    g.served.sandbox.world.pushEvent({ ...envelope, event: { ...envelope.event, sender } })
    await until(async () => (await dispositions())[0] === 'ignored', 'the message to be ignored')
    await g.quiet()
    expect(g.answers(groupA)).toEqual([])
  })
})
