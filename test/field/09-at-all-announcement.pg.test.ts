import { afterEach, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { until, type TestGateway } from '../kit/gateway.js'
import { caseEvents, caseGateway, caseIds, staged } from './replay.js'

const { groupA, groupPlain, owner, colleague } = caseIds
let g: TestGateway
afterEach(() => g.stop())

/** The three messages of the case, pushed one after the other. */
function push(): readonly WorldMessage[] {
  return caseEvents('09-at-all-announcement').map((event) => {
    const said = staged(g.served, event)
    g.served.sandbox.world.pushEvent(said.envelope)
    return said.message
  })
}

const dispositions = async () =>
  (
    await g.db.sql<{ disposition: string }[]>`
      select disposition from collab.ingress_events where kind = 'message' order by position`
  ).map((row) => row.disposition)
const answered = () => g.answers(groupA).map((answer) => answer.parentId)

describe('case 09, an announcement to everybody', () => {
  test('by default it starts nothing and gets no reaction; the bot named beside it does', async () => {
    g = await caseGateway()
    const [listed, bare, named] = push().map((one) => one.id)
    await until(() => answered().length > 0, 'the answer')
    await g.quiet()
    expect(answered()).toEqual([named])
    expect(await dispositions()).toEqual(['context-item', 'context-item', 'request'])
    expect(g.receipts(groupA, must(listed, '1'))).toEqual([])
    expect(g.receipts(groupA, must(bare, '2'))).toEqual([])
  })

  test('in a chat that is set for it both run, also without a list of mentions; another chat stays as it is', async () => {
    g = await caseGateway({ env: { LARK_AT_ALL_CHATS: groupA } })
    const ids = push().map((one) => one.id)
    await until(async () => (await dispositions()).filter((one) => one === 'request').length === 3, 'three requests')
    await g.quiet()
    expect(new Set(answered()).size).toBeGreaterThan(0)
    expect(answered().every((id) => ids.includes(must(id, 'a parent')))).toBe(true)
    const { world } = g.served.sandbox
    world.say({ chatId: groupPlain, from: owner, text: '@_all lunch' })
    await until(async () => (await dispositions()).length === 4, 'the fourth message')
    await g.quiet()
    expect((await dispositions())[3]).toBe('context-item')
    // Whoever is no owner makes an announcement, not a request, and is not told off for it.
    world.say({ chatId: groupA, from: colleague, text: '@_all lunch' })
    await until(async () => (await dispositions()).length === 5, 'the fifth message')
    await g.quiet()
    expect((await dispositions())[4]).toBe('context-item')
    expect(g.answers(groupA).some((answer) => answer.content.includes('only'))).toBe(false)
  })

  test('in a group that is open to what people write an owner needs no mention', async () => {
    g = await caseGateway({ env: { LARK_OPEN_CHATS: `${groupPlain}, ${groupA}` } })
    const { world } = g.served.sandbox
    const said = world.say({ chatId: groupPlain, from: owner, text: 'what is left to do?' })
    const answer = await until(() => g.answers(groupPlain)[0], 'the answer')
    expect(answer.parentId).toBe(said.id)
    world.say({ chatId: groupPlain, from: colleague, text: 'nothing of mine' })
    await until(async () => (await dispositions()).length === 2, 'the second message')
    await g.quiet()
    expect(await dispositions()).toEqual(['request', 'context-item'])
    expect(g.answers(groupPlain)).toHaveLength(1)
  })
})
