import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { office } from '../acceptance/kit.js'
import { acceptance } from '../kit/acceptance.js'
import { buttonsOf } from '../kit/buttons.js'
import { testGateway, textOf, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'

let g: TestGateway
const o = office(() => ({ ...g, url: g.gateway.url }))
/** In a chat of its own, whose language its first message sets. */
const begin = async (): Promise<void> => {
  const MANAGER_COMMAND = (await scriptedAgent())()
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND, FOLLOW_UPS_WAITING: '2' } })
}

const cards = (chatId: string) =>
  g.answers(chatId).filter((one) => /behind a turn that runs|排在正在进行/u.test(textOf(one)))
const press = async (card: WorldMessage, label: string) => {
  const button = must(
    buttonsOf(card).find((one) => one.label === label),
    label,
  )
  return JSON.stringify(
    await g.served.sandbox.world.click({ messageId: card.id, by: g.ids.alice, value: button.value }),
  )
}
const held = async (message: WorldMessage) =>
  (await o.opened(message)).observations.filter(({ kind }) => kind === 'request-held').map(({ detail }) => detail)

/** A turn that runs until the test says so, and messages that come meanwhile. */
async function busy(name: string, chatId: string, words: readonly string[]) {
  const [mark, go] = [join(g.dataDir, `${name}-busy`), join(g.dataDir, `${name}-go`)]
  const first = o.say(`${words[0]}\n!mark ${mark}\n!await ${go}\n!reply first`, chatId)
  await until(() => existsSync(mark), 'the turn', 40_000)
  const more: WorldMessage[] = []
  for (const text of words.slice(1)) {
    const one = o.say(text, chatId)
    more.push(one)
    // Two of one millisecond have no order of their own.
    await o.opened(one)
  }
  await until(() => cards(chatId)[0], 'the card', 40_000)
  return { first, more, go: () => writeFileSync(go, '') }
}

describe('more follow-ups than wait by themselves', () => {
  beforeAll(begin, 60_000)
  afterAll(() => g.stop())

  acceptance(
    'A23',
    'one card asks what shall run; only the newest runs, and nothing is dropped without a word',
    async () => {
      const words = ['Count.', '!reply one', '!reply two', '!reply three', '!reply four', '!reply five']
      const { more, go } = await busy('en', g.ids.dm, words)
      expect(await Promise.all(more.map(held))).toEqual([[], [], ['backlog'], ['backlog'], ['backlog']])
      const late = o.say('!reply six', g.ids.dm)
      await until(async () => (await held(late)).length === 1, 'the last one to be held', 30_000)
      const status = o.say('/status', g.ids.dm)
      expect(await until(() => o.answers(status)[0], 'the status', 30_000)).toMatch(
        /Waiting: 2 messages.*Held until your word: 4 messages that waited too long/su,
      )
      const asking = () => g.db.sql`select 1 from collab.wakes where subject like 'backlog-%' and state <> 'done'`
      await until(async () => (await asking()).length === 0, 'the end of the telling', 40_000)
      const [card, ...others] = cards(g.ids.dm)
      expect(others).toEqual([])
      expect(textOf(must(card, 'a card'))).toContain('3 messages wait here behind a turn')
      expect(buttonsOf(must(card, 'a card')).map((one) => one.label)).toEqual([
        'Run all',
        'Run only the newest',
        'Skip',
      ])
      expect(await press(must(card, 'a card'), 'Run only the newest')).toContain('The newest message is running now')
      go()
      await until(() => o.answers(late).length > 0 || o.answers(must(more[0], 'one')).length > 0, 'an answer', 40_000)
      await g.quiet(40_000)
      // What waited went into one turn, in its order.
      expect(g.answers(g.ids.dm).map(textOf).join('\n')).toMatch(/one\s*two\s*six/u)
      expect(g.answers(g.ids.dm).map(textOf).join('\n')).not.toMatch(/three|four|five/u)
      for (const one of more.slice(2)) {
        expect((await o.opened(one)).observations.map(({ kind }) => kind)).toContain('request-rejected')
      }
    },
  )
})

describe('the same in Chinese', () => {
  beforeAll(begin, 60_000)
  afterAll(() => g.stop())

  test('by the word in the chat all of them run', async () => {
    const words = ['请数一数苍鹭', '!reply 一', '!reply 二', '!reply 三']
    const { more, go } = await busy('zh', g.ids.dm, words)
    const [card] = cards(g.ids.dm)
    expect(textOf(must(card, 'a card'))).toMatch(/有 1 条消息排在正在进行的一轮之后.*\/run/u)
    expect(buttonsOf(must(card, 'a card')).map((one) => one.label)).toEqual(['全部执行', '只执行最新一条', '略过'])
    o.say('/运行', g.ids.dm)
    await until(
      async () => (await o.opened(must(more[2], 'it'))).next?.condition === 'turn-queued',
      'its place',
      30_000,
    )
    go()
    await g.quiet(60_000)
    const said = g.answers(g.ids.dm).map(textOf).join('\n')
    for (const words of ['一', '二', '三']) expect(said).toContain(words)
  })
})
