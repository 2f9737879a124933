import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { openPlatform, until, type Platform } from '../kit/platform.js'
import { startProcess, type GatewayProcess } from '../kit/process.js'
import { caseApp, caseEvents, caseIds, seedCaseWorld, staged } from './replay.js'

const { dm, owner } = caseIds
const [event] = caseEvents('04-restart-command-replay-loop')
let p: Platform
let gateway: GatewayProcess
beforeAll(async () => {
  p = await openPlatform({
    app: caseApp,
    owners: false,
    env: { HOLD_MS: '3000', LARK_OWNER_OPEN_IDS: caseIds.owner },
  })
  await seedCaseWorld(p.served, p.db)
  gateway = await startProcess(p)
})
afterAll(async () => {
  await gateway.stop()
  await p.close()
})

/** Written half a minute before it is pushed. */
function earlier({ message, envelope }: ReturnType<typeof staged>): ReturnType<typeof staged> {
  const given = must(envelope.event.message, 'a message')
  const written = { ...given, create_time: String(Date.now() - 30_000) }
  return { message, envelope: { ...envelope, event: { ...envelope.event, message: written } } }
}

const request = async (message: string) =>
  (
    await p.db.sql<{ state: string; because: string }[]>`
      select i.state, i.because from collab.work_requests r join collab.turn_inputs i on i.request = r.id
      where r.origin_message = ${message}`
  )[0]

describe('case 04, an order from before the process began', () => {
  test('no order is carried out, told stale once, whatever comes again; an unknown one waits for a word', async () => {
    const { world } = p.served.sandbox
    world.say({ chatId: dm, from: owner, text: '!reply hello' })
    await until(() => p.answers(dm).length === 1, 'the first answer')
    await p.quiet()
    await gateway.kill()
    // As if it had been killed a minute ago, and the orders written since.
    await p.db.sql`update collab.presence set alive_at = alive_at - 60000, beaten_at = beaten_at - 60000`
    // One that this gateway does not know, as in the case, and one that it does.
    const unknown = earlier(staged(p.served, must(event, 'the event')))
    const known = earlier(staged(p.served, must(event, 'the event'), {}, JSON.stringify({ text: '/skip' })))
    await gateway.start()
    // The platform's own push came while nobody was there; it comes once more, younger than ten minutes.
    world.pushEvent(known.envelope)
    world.pushEvent(unknown.envelope)
    const told = (id: string) => p.answers(dm).filter((answer) => answer.parentId === id)
    await until(() => told(known.message.id).length > 0 && told(unknown.message.id).length > 0, 'both to be told of')
    world.pushEvent(known.envelope)
    world.pushEvent(unknown.envelope)
    await p.served.sandbox.settled()
    await p.quiet()
    expect(told(known.message.id)).toHaveLength(1)
    expect(told(known.message.id)[0]?.content).toContain('/skip')
    expect(told(unknown.message.id)).toHaveLength(1)
    expect(told(unknown.message.id)[0]?.content).toContain('/run')
    expect(await request(known.message.id)).toBeUndefined()
    expect(await request(unknown.message.id)).toEqual({ state: 'held', because: 'late' })
    expect(await p.db.sql`select 1 from collab.turns`).toHaveLength(1)
    expect(p.receipts(dm, known.message.id)).toEqual([])
  })

  test('what is no order and was written meanwhile runs by itself, once', async () => {
    const { world } = p.served.sandbox
    await gateway.kill()
    const asked = world.say({ chatId: dm, from: owner, text: '!reply after the restart', silent: true })
    await gateway.start()
    await until(() => p.answers(dm).some((answer) => answer.parentId === asked.id), 'the answer')
    world.pushAgain(asked.id)
    await p.served.sandbox.settled()
    await p.quiet()
    expect(p.answers(dm).filter((answer) => answer.content.includes('after the restart'))).toHaveLength(1)
  })
})
