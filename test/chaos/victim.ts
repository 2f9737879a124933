import { every, newId, systemClock } from '../../src/app/chance.js'
import { createLarkChannel } from '../../src/bot/egress/lark-channel.js'
import { createLarkClient } from '../../src/bot/lark-client.js'
import { jobIdOf } from '../../src/collab/jobs.js'
import type { WakeRef } from '../../src/collab/ports.js'
import { createPerformer, recover } from '../../src/exchange/perform.js'
import { must } from '../../src/lib/assert.js'
import { silentLogger } from '../../src/lib/log.js'
import { openDb } from '../../src/stores/db.js'
import { bot, TestClock, testExchange, TestMeter } from '../exchange/outgoing-kit.js'
import { appSecret, inParagraphs } from './office.js'

/**
 * A worker in a process of its own, to be killed: takes back what this installation held, then runs whatever is owed
 * until nothing is, and says `done`.
 */
async function main(): Promise<void> {
  const db = openDb({ url: must(process.env['DATABASE_URL'], 'DATABASE_URL'), logger: silentLogger })
  const client = createLarkClient({
    bot,
    appSecret,
    baseUrl: must(process.env['LARK_BASE_URL'], 'LARK_BASE_URL'),
    clock: systemClock,
    log: silentLogger,
    meter: new TestMeter(),
  })
  const channel = inParagraphs(
    createLarkChannel({
      bot,
      client,
      clock: systemClock,
      identity: () => ({ openId: 'ou_bot', name: 'Manager' }),
      storeFile: () => Promise.reject(new Error('no report is expected here')),
    }),
  )
  let jobs: WakeRef[] = []
  const put = (wakes: readonly WakeRef[]): void => void (jobs = [...jobs, ...wakes])
  const x = {
    ...testExchange(db, new TestClock(), channel, { pacing: false, sweepGraceMs: 0 }),
    clock: systemClock,
    newId,
    every,
    wake: { kick: put },
  }
  const performer = createPerformer(x)
  await recover(x)
  const known = async (): Promise<ReadonlySet<string>> => new Set(jobs.map(jobIdOf))
  for (;;) {
    const job = jobs.shift()
    if (job !== undefined) {
      if (job.kind !== 'upkeep') {
        await performer.perform({ ...job, signal: new AbortController().signal, lastAttempt: false }).catch(() => {})
      }
      continue
    }
    const owed = await db.sql`
      select 1 from collab.wakes where kind in ('deliver', 'reaction') and state in ('pending', 'running') limit 1`
    if (owed.length === 0) break
    await performer.sweep({ known, put: async (wakes) => put(wakes) })
    if (jobs.length === 0) await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await db.close()
  process.stdout.write('done\n')
}

await main()
