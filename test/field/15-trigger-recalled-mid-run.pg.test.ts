import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { textOf, until, type TestGateway } from '../kit/gateway.js'
import { buttonsOf } from '../kit/buttons.js'
import { heldRecordingEnv, recordedPrompts } from '../kit/recording.js'
import { caseEvents, caseGateway, caseIds, staged } from './replay.js'

const { owner, colleague, groupA, dm } = caseIds
const folder = mkdtempSync(join(tmpdir(), 'lark-manager-holds-'))
const hold = (n: number) => writeFileSync(join(folder, `hold-${n}`), '')
const letGo = (n: number) => rmSync(join(folder, `hold-${n}`))
let g: TestGateway
beforeAll(async () => {
  g = await caseGateway({ env: heldRecordingEnv(folder) })
})
afterAll(async () => {
  await g.stop()
  rmSync(folder, { recursive: true, force: true })
})
const turnsOf = (id: string) => g.db.sql`
  select 1 from collab.turns t join collab.work_requests r on r.id = t.request where r.origin_message = ${id}`

describe('case 15, the message is withdrawn', () => {
  test('before its turn: the queued request is cancelled, nothing runs, and the receipt is dropped', async () => {
    const { world } = g.served.sandbox
    hold(1)
    const first = world.say({ chatId: dm, from: owner, text: 'a long job' })
    await until(() => recordedPrompts(g.dataDir).length === 1, 'the turn of the first')
    const second = world.say({ chatId: dm, from: owner, text: 'and this' })
    await until(() => g.receipts(dm, second.id).includes('Get'), 'the receipt')
    world.recall(second.id, owner)
    await until(
      async () =>
        (await g.db.sql`select 1 from collab.turn_inputs where state = 'settled' and because = 'recalled'`).length ===
        1,
      'the cancellation',
    )
    letGo(1)
    await until(() => g.answers(dm).some((one) => one.parentId === first.id), 'the answer to the first')
    await g.quiet()
    expect(await turnsOf(second.id)).toHaveLength(0)
    expect(g.answers(dm)).toHaveLength(1)
    const { items } = (await (await g.api('/api/v1/requests?state=open')).json()) as { items: object[] }
    expect(items).toEqual([])
  })

  /** The message of the case, in the topic under `root`. */
  function sayInTopic(at: TestGateway, root: string) {
    const [event] = caseEvents('15-trigger-recalled-mid-run')
    const said = staged(at.served, must(event, 'the event'), { threadOf: root })
    at.served.sandbox.world.pushEvent(said.envelope)
    return said.message
  }

  /** Withdraws what is said once its turn has begun; the agent is let go after that. */
  async function recalledMidRun<M extends { readonly id: string }>(at: TestGateway, hold: string, say: () => M) {
    const facts = async (kind: string) =>
      (await at.db.sql`select 1 from collab.observations where kind = ${kind}`).length
    const [turns, recalls] = [await facts('turn-presented'), await facts('trigger-recalled')]
    writeFileSync(hold, '')
    const message = say()
    // From the moment at which the agent has it; before that a recall still cancels.
    await until(async () => (await facts('turn-presented')) > turns, 'the turn to be presented')
    at.served.sandbox.world.recall(message.id, owner)
    await until(async () => (await facts('trigger-recalled')) > recalls, 'the recall to be recorded')
    rmSync(hold)
    return message
  }
  const sentIn = (at: TestGateway, chatId: string) => (known: number) =>
    until(() => at.answers(chatId)[known], 'the next message of ours')
  const deletes = (at: TestGateway) =>
    Object.values(at.served.sandbox.stats().calls['reaction.delete'] ?? {}).reduce((sum, count) => sum + count, 0)

  test('while it runs: the answer is held until the owner says show or drop, and the owner is told once', async () => {
    const { world } = g.served.sandbox
    const root = world.say({ chatId: groupA, from: colleague, text: 'topic one', silent: true })
    const message = await recalledMidRun(g, join(folder, 'hold-1'), () => sayInTopic(g, root.id))
    const card = await sentIn(g, groupA)(0)
    expect(textOf(card)).toContain('was withdrawn while I worked on it')
    expect(card.threadId).toBe(message.threadId)
    await g.quiet()
    // Committed, kept, told once, and no storm of calls about a message that is gone.
    expect(await g.db.sql`select 1 from collab.results`).toHaveLength(2)
    expect(g.answers(groupA)).toHaveLength(1)
    expect(deletes(g)).toBeLessThanOrEqual(3)
    const open = await g.db.sql`select 1 from collab.reactions where state in ('prepared', 'removing')`
    expect(open).toHaveLength(0)
    const [show] = buttonsOf(card)
    const shown = await world.click({ messageId: card.id, by: owner, value: show?.value })
    expect(shown).toMatchObject({ shown: 'answer', answer: { toast: { type: 'success' } } })
    // Inside the topic, under its root, and no topic of its own.
    const answer = await sentIn(g, groupA)(1)
    expect(textOf(answer)).toContain('was read.')
    expect(answer.threadId).toBe(message.threadId)
    expect(answer.rootId).toBe(root.id)
    const threads = new Set(world.messages(groupA).flatMap((one) => one.threadId ?? []))
    expect([...threads]).toEqual([message.threadId])
  })

  test('while it runs: dropped by the word in the chat, the answer is sent nowhere and the request is closed', async () => {
    const { world } = g.served.sandbox
    const told = g.answers(dm).length
    // The second that the agent of this chat is handed.
    await recalledMidRun(g, join(folder, 'hold-2'), () =>
      world.say({ chatId: dm, from: owner, text: 'withdrawn soon' }),
    )
    const card = await sentIn(g, dm)(told)
    expect(textOf(card)).toContain('/skip')
    const word = world.say({ chatId: dm, from: owner, text: '/skip' })
    const answer = await until(() => g.answers(dm).find((one) => one.parentId === word.id), 'the answer to the word')
    expect(textOf(answer)).toContain('1 result kept back was dropped.')
    await g.quiet()
    expect(g.answers(dm)).toHaveLength(told + 2)
    const { items } = (await (await g.api('/api/v1/requests?state=open')).json()) as { items: object[] }
    expect(items).toEqual([])
    // What was decided is decided: the card shows it, and a press of the button that it had does nothing more.
    const decided = g.answers(dm).find((one) => one.id === card.id)
    expect(decided?.content).toContain('1 result kept back was dropped.')
    expect(buttonsOf(must(decided, 'the card'))).toEqual([])
    const late = await world.click({ messageId: card.id, by: owner, value: buttonsOf(card)[0]?.value })
    expect(JSON.stringify(late)).toContain('This was decided already: drop it.')
    await g.quiet()
    expect(g.answers(dm)).toHaveLength(told + 2)
  })

  test("while it runs, by the policy send: inside a topic the answer goes to the topic's root, in a plain chat it is sent un-quoted", async () => {
    const holds = mkdtempSync(join(tmpdir(), 'lark-manager-holds-'))
    const other = await caseGateway({ env: { ...heldRecordingEnv(holds), LARK_ON_RECALL: 'send' } })
    try {
      const { world } = other.served.sandbox
      const root = world.say({ chatId: groupA, from: colleague, text: 'topic two', silent: true })
      const inTopic = await recalledMidRun(other, join(holds, 'hold-1'), () => sayInTopic(other, root.id))
      const first = await sentIn(other, groupA)(0)
      expect(textOf(first)).toContain('was read.')
      expect([first.threadId, first.rootId]).toEqual([inTopic.threadId, root.id])
      await recalledMidRun(other, join(holds, 'hold-1'), () =>
        world.say({ chatId: groupA, from: owner, text: 'long job', mentionBot: true }),
      )
      const second = await sentIn(other, groupA)(1)
      expect(textOf(second)).toContain('was read.')
      expect([second.threadId, second.parentId]).toEqual([null, null])
      await other.quiet()
      expect(other.answers(groupA)).toHaveLength(2)
    } finally {
      await other.stop()
      rmSync(holds, { recursive: true, force: true })
    }
  })
})
