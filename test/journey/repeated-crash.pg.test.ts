import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, until, type Platform } from '../kit/platform.js'
import { startProcess, type GatewayProcess } from '../kit/process.js'

let p: Platform
let gateway: GatewayProcess
let asked: string
let dm: string
beforeAll(async () => {
  p = await openPlatform({})
  dm = p.ids.dm
  gateway = await startProcess(p)
  const { world } = p.served.sandbox
  asked = world.say({ chatId: dm, from: p.ids.alice, text: '!delay 3s\n!reply done at last' }).id
  for (const nth of [1, 2, 3]) {
    await until(
      async () =>
        (await p.db.sql`select 1 from collab.turns where host_turn is not null`).length === nth &&
        (await p.db.sql`select 1 from collab.turns where ended_at is null`).length === 1,
      `turn ${nth}`,
      20_000,
    )
    await gateway.kill()
    await gateway.start()
  }
  await until(() => p.answers(dm).length === 1, 'the notice', 20_000)
}, 120_000)
afterAll(async () => {
  await gateway.stop()
  await p.close()
})

describe('a request in whose turn the gateway dies three times in a row', () => {
  test('is not started again by itself; the owner hears why and what to do, and the receipt says that it failed', async () => {
    await p.quiet(30_000)
    const [notice] = p.answers(dm)
    expect(notice?.content).toContain('Three times in a row')
    expect(notice?.content).toContain('/run')
    const turns = await p.db.sql<{ because: string }[]>`select because from collab.turns`
    expect(turns.map(({ because }) => because)).toEqual(['holder-gone', 'holder-gone', 'holder-gone'])
    expect(p.receipts(dm, asked)).toEqual(['CrossMark'])
  })

  test('does not stand in the way of others, and runs at the word of the owner', async () => {
    const { world } = p.served.sandbox
    const said = (text: string) => p.answers(dm).filter((answer) => answer.content.includes(text)).length
    world.say({ chatId: dm, from: p.ids.alice, text: '!reply another one' })
    await until(() => said('another one') === 1, 'the other answer', 20_000)
    expect(said('done at last')).toBe(0)
    world.say({ chatId: dm, from: p.ids.alice, text: '/run' })
    await until(() => said('done at last') === 1, 'the answer at last', 20_000)
  })
})
