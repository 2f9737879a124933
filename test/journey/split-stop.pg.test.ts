import { afterAll, beforeAll, expect, test } from 'vitest'
import { configOf } from '../../src/app/config.js'
import { readEnv } from '../../src/app/env.js'
import { startGateway, type Gateway } from '../../src/app/gateway.js'
import { silentLogger } from '../../src/lib/log.js'
import { textOf } from '../kit/gateway.js'
import { openPlatform, until, type Platform } from '../kit/platform.js'

let p: Platform
const started: Gateway[] = []

/** One process of a divided gateway; here both live in one, and share nothing but the database. */
async function start(role: 'gateway' | 'worker'): Promise<void> {
  const env = readEnv({ ...p.env, DATA_DIR: `${p.dataDir}/${role}` })
  const config = configOf(env, role)
  if (!config.ok) throw new Error(config.problems.join('\n'))
  const outcome = await startGateway(config.config, env, null, silentLogger)
  if (!outcome.ok) throw new Error(outcome.problem)
  started.push(outcome.gateway)
}
beforeAll(async () => {
  p = await openPlatform({})
  await start('worker')
  await start('gateway')
  const [, gateway] = started
  await until(async () => (await fetch(`${gateway?.url}/readyz`)).ok, 'readiness')
})
afterAll(async () => {
  await Promise.all(started.map((one) => one.stop()))
  await p.close()
})

const say = (text: string) => p.served.sandbox.world.say({ chatId: p.ids.dm, from: p.ids.alice, text }).id
const answersTo = (id: string) => p.answers(p.ids.dm).filter((one) => one.parentId === id)

test('a stop that one process hears ends the turn that another one runs, within three seconds', async () => {
  say('!reply warm')
  await until(() => p.answers(p.ids.dm).length === 1, 'the first answer')
  say('!fail hang')
  const running = () => p.db.sql`
    select 1 from collab.turns where ended_at is null and host_turn is not null`
  await until(async () => (await running()).length === 1, 'the turn')
  const from = performance.now()
  const stop = say('/stop')
  await until(async () => (await running()).length === 0, 'its end')
  expect(performance.now() - from).toBeLessThanOrEqual(3_000)
  const told = await until(() => answersTo(stop)[0], 'the answer')
  expect(textOf(told)).toContain('Stopped: the turn that was running has ended')
  await p.quiet()
})
