import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { textOf, until, type TestGateway } from '../kit/gateway.js'
import { caseGateway, caseIds } from './replay.js'

const { owner, colleague, groupA, groupPlain, dm } = caseIds
let g: TestGateway
beforeAll(async () => {
  g = await caseGateway()
})
afterAll(() => g.stop())

/** The next reply is refused because the message that it answers was withdrawn; nothing told us of that. */
const withdrawNext = (code = 230011) =>
  g.served.sandbox.faults.add({ api: 'message.reply', do: { kind: 'code', code }, times: 1 })
const parts = async (messageId: string) => g.db.sql<{ state: string; msgType: string; because: string | null }[]>`
  select p.state, p.msg_type as "msgType", p.because from collab.delivery_parts p
  join collab.deliveries d on d.id = p.delivery join collab.work_requests r on r.id = d.request
  where r.origin_message = ${messageId} and d.cause_kind = 'result' order by p.index, p.sub_index`

describe('case 15, the question is gone when the answer is sent', () => {
  test('in a plain chat it is sent un-quoted, once, and names what it answers without saying withdrawn words again', async () => {
    const { world } = g.served.sandbox
    withdrawNext()
    const said = world.say({ chatId: groupPlain, from: owner, text: 'secret words\n!reply 42', mentionBot: true })
    const answer = await until(() => g.answers(groupPlain)[0], 'the answer')
    await g.quiet()
    expect(g.answers(groupPlain)).toHaveLength(1)
    expect(answer).toMatchObject({ parentId: null, rootId: null, threadId: null })
    expect(textOf(answer)).toMatch(/This answers a message.*can no longer be replied to[^]*42/)
    expect(textOf(answer)).not.toContain('secret words')
    expect(await parts(said.id)).toMatchObject([
      { state: 'superseded', because: 'cannot-reply-here' },
      { state: 'verified', because: null },
    ])
    const sends = await g.db.sql<{ key: string }[]>`select distinct key from collab.delivery_parts`
    expect(sends).toHaveLength(1)
  })

  test('in the direct chat the words themselves name it', async () => {
    withdrawNext(230110)
    g.served.sandbox.world.say({ chatId: dm, from: owner, text: '多少？\n!reply 四十二' })
    const answer = await until(() => g.answers(dm)[0], 'the answer')
    await g.quiet()
    expect(textOf(answer)).toMatch(/多少？[^]*四十二/)
    expect(answer.parentId).toBeNull()
    expect(g.answers(dm)).toHaveLength(1)
  })

  test("inside a topic, text and picture hang on the topic's root; no other topic is opened", async () => {
    const { world, faults } = g.served.sandbox
    const root = world.say({ chatId: groupA, from: colleague, text: 'topic one', silent: true })
    const question = '!attach chart.png\n!reply done'
    const said = world.say({
      chatId: groupA,
      from: owner,
      text: question,
      mentionBot: true,
      threadOf: root.id,
      silent: true,
    })
    // Recalled by its author, and no event of it reaches us; the second reply hangs on the root.
    faults.add({ api: 'message.reply', do: { kind: 'code', code: 231003 }, when: { nth: 1 } })
    faults.add({ api: 'message.reply', do: { kind: 'code', code: 230011 }, when: { nth: 3 } })
    world.pushAgain(said.id)
    const answers = await until(() => (g.answers(groupA).length === 2 ? g.answers(groupA) : null), 'both')
    await g.quiet()
    expect(answers.map((answer) => answer.msgType)).toEqual(['interactive', 'image'])
    for (const answer of answers) expect(answer).toMatchObject({ threadId: said.threadId, rootId: root.id })
    expect(textOf(must(answers[0], 'the text'))).toContain('can no longer be replied to')
    const threads = new Set(world.messages(groupA).map((message) => message.threadId ?? root.id))
    expect(threads.size).toBeLessThanOrEqual(2)
    // The picture was uploaded once, for the reply that was refused.
    expect(g.served.sandbox.stats().calls['image.upload']).toEqual({ 0: 1 })
  })

  test('an unclear fault never leads out of the topic', async () => {
    const { world, faults } = g.served.sandbox
    const before = g.answers(groupA).length
    const root = world.say({ chatId: groupA, from: colleague, text: 'topic two', silent: true })
    faults.add({ api: 'message.reply', do: { kind: 'status', status: 502, stored: true }, times: 1 })
    const said = world.say({ chatId: groupA, from: owner, text: '!reply here', mentionBot: true, threadOf: root.id })
    await until(() => g.answers(groupA).length > before, 'the answer')
    await g.quiet()
    const added = g.answers(groupA).slice(before)
    expect(added).toHaveLength(1)
    expect(added[0]).toMatchObject({ threadId: said.threadId, rootId: root.id })
    expect((await parts(said.id)).map((part) => part.state)).toEqual(['verified'])
  })
})
