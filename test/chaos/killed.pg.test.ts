import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { DeliveryId } from '../../src/collab/refs.js'
import type { Fault } from '../../src/sandbox/faults.js'
import { seedIds, seedSandboxWorld } from '../../src/sandbox/seed.js'
import { serveSandbox } from '../../src/sandbox/serve.js'
import { putDeliveries } from '../../src/stores/deliveries/deliveries.js'
import { partsOf } from '../../src/stores/deliveries/parts.js'
import { putWake } from '../../src/stores/wakes/wakes.js'
import { answer, bot } from '../exchange/outgoing-kit.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { until } from '../kit/platform.js'
import { appSecret } from './office.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

const root = fileURLToPath(new URL('../..', import.meta.url))
const texts = ['part one', 'part two', 'part three']

/** A real worker is killed while the platform holds its call, and another one takes its place. */
async function killedAt(
  hang: Fault,
): Promise<{ readonly shown: readonly string[]; readonly states: readonly string[] }> {
  const served = await serveSandbox({
    clock: { now: () => Date.now() },
    newId: () => crypto.randomUUID(),
    app: { appId: bot, appSecret },
    events: { mode: 'websocket' },
    rates: false,
  })
  onTestFinished(() => served.close())
  seedSandboxWorld(served.sandbox)
  const { world, faults } = served.sandbox
  const question = world.say({ chatId: seedIds.group, from: seedIds.alice, text: 'a question', silent: true })
  const id = await commit(question.id)
  faults.add(hang)
  const victim = work(served.url)
  // A call that the platform holds is counted under -1.
  await until(() => served.sandbox.stats().calls[hang.api]?.[-1] === 1, 'the call that hangs', 40_000)
  victim.kill('SIGKILL')
  await once(victim, 'exit')
  const [code] = (await once(work(served.url), 'exit')) as [number | null]
  expect(code).toBe(0)
  const said = world.messages(seedIds.group).filter((message) => message.sender === 'bot')
  return {
    shown: said.map((message) => (JSON.parse(message.content) as { text: string }).text),
    states: (await partsOf(fresh.db.sql, id)).map((part) => part.state),
  }
}

async function commit(replyTo: string): Promise<DeliveryId> {
  const { sql } = fresh.db
  const delivery = await answer(sql, texts.join('\n\n'), { chatId: seedIds.group, at: Date.now() })
  await putDeliveries(sql, [{ ...delivery, route: { ...delivery.route, replyTo } }])
  await putWake(sql, 'deliver', delivery.id, Date.now())
  return delivery.id
}

function work(url: string): ChildProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/chaos/victim.ts'], {
    cwd: root,
    env: { PATH: process.env['PATH'], DATABASE_URL: fresh.url, LARK_BASE_URL: url },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

describe('a worker process that is killed with SIGKILL', () => {
  test.each([
    { api: 'message.reply', nth: 1, stored: true },
    { api: 'message.reply', nth: 2, stored: false },
    { api: 'message.reply', nth: 3, stored: true },
    { api: 'message.get', nth: 2, stored: true },
  ] as const)(
    'during call $nth of $api (taken: $stored) leaves each part shown once and in order',
    async (at) => {
      const ended = await killedAt({
        api: at.api,
        when: { nth: at.nth },
        do: { kind: 'hang', stored: at.stored },
        times: 1,
      })
      expect(ended).toEqual({ shown: texts, states: ['verified', 'verified', 'verified'] })
    },
    180_000,
  )
})
