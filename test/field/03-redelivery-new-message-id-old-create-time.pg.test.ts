import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HOUR } from '../../src/lib/time.js'
import { must } from '../../src/lib/assert.js'
import { until, type TestGateway } from '../kit/gateway.js'
import type { Envelope } from '../replay/samples.js'
import { caseEvents, caseGateway, caseIds, staged } from './replay.js'

const { dm, owner } = caseIds
const [fresh, old] = caseEvents('03-redelivery-new-message-id-old-create-time')
let g: TestGateway
beforeAll(async () => {
  g = await caseGateway()
})
afterAll(() => g.stop())

/** The same event with another time of writing; undefined leaves it out. */
function writtenAt(envelope: Envelope, time: unknown): Envelope {
  const { create_time: _now, ...message } = must(envelope.event.message, 'a message')
  return {
    ...envelope,
    event: { ...envelope.event, message: { ...message, ...(time === undefined ? {} : { create_time: time }) } },
  } as Envelope
}

const requests = () => g.db.sql<{ id: string; message: string; state: string; because: string; position: number }[]>`
  select r.id, r.origin_message as message, i.state, i.because, i.position
  from collab.work_requests r join collab.turn_inputs i on i.request = r.id order by r.opened_at`

describe('case 03, a message that comes seven hours after it was written', () => {
  test('the fresh one runs; the old one is kept with its time, told of, and waits for a word', async () => {
    const { world } = g.served.sandbox
    const now = staged(g.served, must(fresh, 'b'))
    world.pushEvent(now.envelope)
    await until(() => g.answers(dm).find((answer) => answer.parentId === now.message.id), 'the answer to the fresh one')
    const late = staged(g.served, must(old, 'a'), {}, JSON.stringify({ text: '!reply disk is fine' }))
    const written = Date.now() - 7 * HOUR
    world.pushEvent(writtenAt(late.envelope, String(written)))
    const notice = await until(() => g.answers(dm)[1], 'the notice')
    await g.quiet()
    expect(notice.parentId).toBe(late.message.id)
    expect(notice.content).toMatch(/\/run[^]*\/skip/)
    expect(notice.content).toMatch(/7 hours ago|7 小时前/)
    expect((await requests())[1]).toMatchObject({
      message: late.message.id,
      state: 'held',
      because: 'late',
      position: written,
    })
    // Acknowledged, and nothing of it has run.
    expect(g.receipts(dm, late.message.id)).toEqual(['Get'])
    expect(await g.db.sql`select 1 from collab.turns`).toHaveLength(1)
    world.say({ chatId: dm, from: owner, text: '/run' })
    await until(() => g.answers(dm).some((answer) => answer.content.includes('disk is fine')), 'the late answer')
  })

  test.each([
    ['missing', undefined],
    ['unreadable', 'yesterday'],
  ])('a %s time of writing counts as fresh', async (_, time) => {
    const { world } = g.served.sandbox
    const said = staged(g.served, must(fresh, 'b'), {}, JSON.stringify({ text: `!reply at once ${_}` }))
    world.pushEvent(writtenAt(said.envelope, time))
    await until(() => g.answers(dm).some((answer) => answer.content.includes(`at once ${_}`)), 'the answer')
  })

  test('two minutes of skew between the clocks make nothing late', async () => {
    const { world } = g.served.sandbox
    for (const skew of [-120_000, 120_000]) {
      const said = staged(g.served, must(fresh, 'b'), {}, JSON.stringify({ text: `!reply skew ${skew}` }))
      world.pushEvent(writtenAt(said.envelope, String(Date.now() + skew)))
      await until(() => g.answers(dm).some((answer) => answer.content.includes(`skew ${skew}`)), 'the answer')
    }
  })
})
