import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { RequestView } from '../../src/collab/project/request-view.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { acceptance } from '../kit/acceptance.js'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { office } from './kit.js'

let g: TestGateway
const o = office(() => ({ ...g, url: g.gateway.url }))
let said: readonly [WorldMessage, WorldMessage]
let waiting: RequestView
let receipt: readonly string[]
let status: string
let ended: readonly RequestView[]

/** ACP has no way to add to a running turn. */
beforeAll(async () => {
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: (await scriptedAgent())() } })
  const [busy, go] = [join(g.dataDir, 'busy'), join(g.dataDir, 'go')]
  const first = o.say(`!mark ${busy}\n!await ${go}\n!reply the first answer`)
  await until(() => existsSync(busy), 'the turn', 40_000)
  const second = o.say('!reply the second answer')
  said = [first, second]
  const opened = await o.opened(second)
  const asked = o.say('/status')
  status = await until(() => o.answers(asked)[0], 'the status', 30_000)
  waiting = await o.show(opened.id)
  receipt = g.receipts(g.ids.dm, second.id)
  writeFileSync(go, '')
  await until(() => o.answers(second).length > 0, 'the second answer', 40_000)
  await g.quiet(40_000)
  ended = [await o.opened(first), await o.opened(second)]
}, 150_000)
afterAll(() => g.stop())

describe('a follow-up behind a turn on a runtime that cannot be told', () => {
  acceptance('A23', 'is queued, with a receipt on the message and a page that says so', () => {
    expect(receipt).toEqual(['Get'])
    expect(waiting.next).toMatchObject({ owner: 'manager', condition: 'turn-queued' })
    expect(waiting.observations.map(({ kind }) => kind)).toEqual(['request-opened'])
    expect(status).toMatch(/Waiting: 1 message, in order/u)
    expect(status).not.toMatch(/told/iu)
  })

  acceptance('A23', 'is answered once, after the first one, and nothing ran twice', () => {
    expect(said.map((one) => o.answers(one).length)).toEqual([1, 1])
    expect(o.answers(said[1])[0]).toContain('the second answer')
    const turns = ended.flatMap((view) => view.attempts.flatMap((attempt) => attempt.turns))
    expect(turns.map((turn) => turn.ending?.ended)).toEqual(['completed', 'completed'])
  })
})
