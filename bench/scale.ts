import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type postgres from 'postgres'
import { decideAccept } from '../src/collab/decide/accept.js'
import type { AskId, RequestId } from '../src/collab/refs.js'
import { decideAndCommit } from '../src/exchange/exchange.js'
import { silentLogger } from '../src/lib/log.js'
import { openDb, type Db } from '../src/stores/db.js'
import { startEmbedded } from '../src/stores/embedded/postgres.js'
import { factsOf } from '../src/stores/ledger/read.js'
import { migrate } from '../src/stores/migrate.js'
import { nextInput } from '../src/stores/turns/turns.js'
import { listRequests } from '../src/stores/views/requests.js'
import { owedWakes } from '../src/stores/wakes/wakes.js'
import { loadCopies } from '../test/kit/copies.js'
import { accepting, event } from '../test/kit/exchange.js'

/**
 * `npx tsx bench/scale.ts [--requests 1000000] [--small 1000] [--facts 10] [--rounds 400]`
 *
 * P4: the hot reads and the sweep on a small database and on one that holds `requests` requests with `facts`
 * observations each, as ratios of p99 in one run; the plans of the six hot queries; and the decision loop against a
 * bare transaction of two inserts on the same driver and pool. The small database holds `small` requests of the same
 * shape, a hundred to a conversation as in the full one: a page of an empty list is empty, and says nothing.
 */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    small: { type: 'string', default: '1000' },
    facts: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '400' },
  },
})
const requests = Number(values.requests)
const small = Number(values.small)
const facts = Number(values.facts)
const rounds = Number(values.rounds)

const dataDir = mkdtempSync(join(tmpdir(), 'lark-manager-scale-'))
const server = await startEmbedded({ dataDir, logger: silentLogger, newSecret: () => randomBytes(16).toString('hex') })
await migrate({ directUrl: server.url, logger: silentLogger })
const db = openDb({ url: server.url, logger: silentLogger })
const wake = { kick: () => {} }
const template = accepting()
try {
  await one(randomUUID())
  const loop = await loopRatio(db)
  await loadCopies(db.sql, { from: 0, to: small, facts })
  await db.sql`analyze`
  const before = await measure(db, 'small', small)
  const started = performance.now()
  await loadCopies(db.sql, { from: small, to: requests, facts })
  process.stdout.write(
    `loaded ${requests} requests, ${requests * facts} observations in ${Math.round((performance.now() - started) / 1000)} s\n`,
  )
  await db.sql`analyze`
  const after = await measure(db, 'full', requests)
  process.stdout.write('\n| what | small p50 / p99 ms | full p50 / p99 ms | p99 ratio |\n| --- | --- | --- | --- |\n')
  for (const [name, few] of before) {
    const full = after.get(name) ?? few
    const cell = (of: Spread) => `${of.p50.toFixed(2)} / ${of.p99.toFixed(2)}`
    process.stdout.write(`| ${name} | ${cell(few)} | ${cell(full)} | ${(full.p99 / few.p99).toFixed(2)} |\n`)
  }
  process.stdout.write(`\ndecision loop: ${loop.toFixed(2)} of a bare two-insert transaction\n`)
  await explain(db.sql)
} finally {
  await db.close()
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
}

interface Spread {
  readonly p50: number
  readonly p99: number
}

/** The command is made of one that is ready: what its context digests to is no part of the loop. */
async function one(id: string): Promise<void> {
  const request = {
    ...template.request,
    id: id as RequestId,
    origin: { ...template.request.origin, messageId: `om_${id}` },
    asks: [{ id: `ask-${id}` as AskId, textDigest: template.request.asks[0]!.textDigest }],
  }
  const command = { ...template, eventId: event(`accept-${id}`), requestId: request.id, request }
  const receipt = await decideAndCommit({ db, wake }, command, decideAccept)
  if (receipt.outcome !== 'accepted') throw new Error(receipt.outcome)
}

async function measure(on: Db, label: string, stored: number): Promise<Map<string, Spread>> {
  // Spread over all that is stored, so that no read finds its page by what the one before it read.
  const nth = (n: number): number => (n * 7_919) % stored
  const pick = (n: number) => `load-${String(nth(n)).padStart(10, '0')}` as RequestId
  const of = (n: number): number => Math.floor(nth(n) / 100)
  const filter = { conversation: null, agent: null, state: null, after: null, limit: 20, bodies: false }
  const operations: Readonly<Record<string, (n: number) => Promise<unknown>>> = {
    'fold one exchange': (n) => factsOf(on.sql, pick(n)),
    'list, newest page': () => listRequests(on.sql, filter as never),
    'list of one conversation': (n) => listRequests(on.sql, { ...filter, conversation: `c${of(n)}` } as never),
    'next input of a lane': (n) => nextInput(on.sql, `lane${of(n)}`),
    sweep: () => owedWakes(on.sql, 10_000_000_000_000, 0, 100),
    'accept one request': () => one(randomUUID()),
  }
  const spreads = new Map<string, Spread>()
  for (const [name, run] of Object.entries(operations)) {
    for (let n = 0; n < 30; n += 1) await run(n)
    const times: number[] = []
    for (let n = 0; n < rounds; n += 1) {
      const from = performance.now()
      await run(n)
      times.push(performance.now() - from)
    }
    times.sort((a, b) => a - b)
    const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
    spreads.set(name, { p50: at(0.5), p99: at(0.99) })
    process.stderr.write(`${label}: ${name}\n`)
  }
  return spreads
}

/** Accepted requests per second through the loop, over transactions per second of two bare inserts; ten callers each. */
async function loopRatio(on: Db): Promise<number> {
  await on.sql`create table if not exists public.bare (id text primary key, body jsonb)`
  const body = JSON.stringify(accepting())
  const bare = () =>
    on.tx(async (tx) => {
      await tx`insert into public.bare values (${randomUUID()}, ${body}::text::jsonb)`
      await tx`insert into public.bare values (${randomUUID()}, ${body}::text::jsonb)`
    })
  const rates: number[] = []
  for (let round = 0; round < 3; round += 1) {
    const floor = await rate(bare)
    rates.push((await rate(() => one(randomUUID()))) / floor)
  }
  return rates.toSorted((a, b) => a - b)[1] ?? 0
}

async function rate(run: () => Promise<unknown>): Promise<number> {
  const end = performance.now() + 3_000
  const from = performance.now()
  let count = 0
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      while (performance.now() < end) {
        await run()
        count += 1
      }
    }),
  )
  return count / ((performance.now() - from) / 1_000)
}

async function explain(sql: postgres.Sql): Promise<void> {
  const queries: Readonly<Record<string, string>> = {
    'fold one exchange': `select * from collab.observations where request = 'load-0000000042' order by seq`,
    'fold with the prior receipt': `select * from collab.observations where request = 'load-0000000042' or event_id = 'ev-load-0000000042' order by seq`,
    'next input of a lane': `select request from collab.turn_inputs where lane = 'lane42' and state = 'waiting' order by position, request limit 1`,
    sweep: `select kind, subject, generation from collab.wakes where (state = 'pending' and due_at <= 1 and coalesce(enqueued_at, 0) <= 1) or (state = 'running' and held_until < 1) order by due_at limit 100`,
    'list, newest page': `select id from collab.work_requests order by opened_at desc nulls last, id desc nulls last limit 21`,
    'list of one conversation': `select id from collab.work_requests where conversation = 'c42' order by opened_at desc nulls last, id desc nulls last limit 21`,
  }
  for (const [name, query] of Object.entries(queries)) {
    const plan = await sql.unsafe<{ 'QUERY PLAN': string }[]>(
      `explain (analyze, costs off, timing off, summary off) ${query}`,
    )
    process.stdout.write(`\n${name}\n\n\`\`\`\n${plan.map((row) => row['QUERY PLAN']).join('\n')}\n\`\`\`\n`)
  }
}
