import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { must } from '../../src/lib/assert.js'
import { until, type TestGateway } from '../kit/gateway.js'
import { caseEvents, caseGateway, caseIds, staged } from './replay.js'

const { colleague, groupA, groupPlain } = caseIds
let g: TestGateway
let root: WorldMessage
let inTopic: WorldMessage
let quoting: WorldMessage
beforeAll(async () => {
  g = await caseGateway()
  const { world } = g.served.sandbox
  const events = caseEvents('16-topic-reply-target')
  root = world.say({ chatId: groupA, from: colleague, text: 'Topic A', silent: true })
  const plain = world.say({ chatId: groupPlain, from: colleague, text: 'the list', silent: true })
  // The agent's results of the case are given as rehearsed directives behind the words of its messages.
  const first = staged(g.served, must(events[0], '1'), { threadOf: root.id }, asked('make a chart', chart))
  const second = staged(
    g.served,
    must(events[1], '2'),
    { replyTo: plain.id },
    asked('thanks, and totals?', '!reply 42'),
  )
  inTopic = first.message
  quoting = second.message
  world.pushEvent(first.envelope)
  world.pushEvent(second.envelope)
  await until(() => g.answers(groupA).length >= 2 && g.answers(groupPlain).length >= 1, 'all answers')
  await g.quiet()
})
afterAll(() => g.stop())

const chart = '!attach chart.png\n!reply chart attached'
const asked = (words: string, directives: string) => JSON.stringify({ text: `@_user_1 ${words}\n${directives}` })

describe('case 16, where results go', () => {
  test('text and picture of a question in a topic both stand in that topic', () => {
    expect(inTopic.threadId).not.toBeNull()
    const answers = g.answers(groupA)
    expect(answers.map((answer) => answer.msgType)).toEqual(['interactive', 'image'])
    expect(answers.map((answer) => answer.threadId)).toEqual([inTopic.threadId, inTopic.threadId])
    expect(answers.map((answer) => answer.rootId)).toEqual([root.id, root.id])
    expect(answers[0]?.content).toContain('chart attached')
  })

  test('both went through the reply call; nothing was sent to a receiver of any id type', () => {
    const { calls } = g.served.sandbox.stats()
    expect(calls['message.reply']).toEqual({ 0: 3 })
    expect(calls['message.create']).toBeUndefined()
  })

  test('a plain quote is answered in the main flow, and no topic is made', () => {
    expect(quoting.rootId).not.toBeNull()
    const answers = g.answers(groupPlain)
    expect(answers).toHaveLength(1)
    expect(answers[0]).toMatchObject({ threadId: null, parentId: quoting.id })
    expect(answers[0]?.content).toContain('42')
    const messages = g.served.sandbox.world.messages(groupPlain)
    expect(messages.every((message) => message.threadId === null)).toBe(true)
  })

  test('a notice of ours about a question in the topic goes to the same place', async () => {
    const { world } = g.served.sandbox
    const bob = world.say({ chatId: groupA, from: colleague, text: 'and me?', mentionBot: true, threadOf: root.id })
    const notice = await until(() => g.answers(groupA)[2], 'the notice')
    expect(notice).toMatchObject({ threadId: inTopic.threadId, rootId: root.id })
    expect(bob.threadId).toBe(inTopic.threadId)
  })
})
