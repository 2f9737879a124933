import { serve } from '@hono/node-server'
import type { Server } from 'node:http'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Bot } from '../bot/bot.js'
import type { Channel } from '../collab/channel.js'
import type { BotId } from '../collab/refs.js'
import { createAgentTools } from '../exchange/agents/tools.js'
import { createPerformer, recover } from '../exchange/perform.js'
import { callerOf } from '../exchange/tokens.js'
import type { Logger } from '../lib/log.js'
import { createAgentDoor } from '../mcp/door.js'
import { openQueues } from '../queue/queues.js'
import { startSweeper } from '../queue/sweeper.js'
import { startWorkers, type Workers } from '../queue/workers.js'
import type { HostedRuntime } from '../runtime/hosted.js'
import { createConfiner } from '../runtime/confine/confiner.js'
import { createRuntime, type RuntimeChoice } from '../runtime/registry.js'
import { withLimits } from '../runtime/limits.js'
import { chooseOnce } from '../stores/installation/installation.js'
import { bindOwner } from '../stores/principals/principals.js'
import {
  createSignInCode,
  csrfOf,
  endSession,
  findSession,
  openSession,
  redeemSignInCode,
} from '../stores/sessions/sessions.js'
import { writeAudit } from '../stores/sessions/audit.js'
import { unresolvedCounts } from '../stores/views/standing.js'
import { createWeb, type Web } from '../web/server.js'
import { createRuntimes } from './agents.js'
import { openBot } from './bot.js'
import { newId, newSecret, systemClock } from './chance.js'
import type { Config } from './config.js'
import { adminTokenIn, type DataDir } from './data-dir.js'
import { openDatabase, STOPPED } from './database.js'
import type { Env } from './env.js'
import { createExchange, sweepFiles } from './exchange.js'
import { doctorReport, managerBinding, readiness, receiving } from './health.js'
import { createMetrics } from './meter.js'
import { createLocalLark, localApp } from './sandbox.js'
import { inOrder, type Stop } from './shutdown.js'
import { version } from './version.js'
import { createWork } from './work.js'

export interface Gateway {
  readonly url: string
  /** A fresh one-use link; only for a terminal or a loopback host. */
  signInUrl(): Promise<string>
  readonly banner: readonly string[]
  /** Waits until the bot is known and its connection open, for at most `limitMs`; null, or what is still missing. */
  receiving(limitMs: number, stop: AbortSignal): Promise<string | null>
  stop(): Promise<void>
}

export type StartOutcome =
  { readonly ok: true; readonly gateway: Gateway } | { readonly ok: false; readonly problem: string }

/**
 * Builds everything, bottom up, and opens the doors last. What was opened is closed again when a later step refuses or
 * throws, or when `stop` is aborted between two steps.
 */
export async function startGateway(
  config: Config,
  env: Env,
  dataDir: DataDir | null,
  log: Logger,
  stop: AbortSignal = new AbortController().signal,
): Promise<StartOutcome> {
  const stops: Stop[] = []
  try {
    const outcome = await build(stops, config, env, dataDir, log, stop)
    if (outcome.ok && !stop.aborted) return outcome
    await inOrder(stops, log)
    return outcome.ok ? refuse(STOPPED) : outcome
  } catch (error) {
    await inOrder(stops, log)
    // A signal of the terminal reaches the programs that prepare the database, too: then it is they who fail.
    if (stop.aborted) return refuse(STOPPED)
    throw error
  }
}

const refuse = (problem: string): StartOutcome => ({ ok: false, problem })

/** @param stops gets what is to be closed, the last opened first */
async function build(
  stops: Stop[],
  config: Config,
  env: Env,
  dataDir: DataDir | null,
  log: Logger,
  stop: AbortSignal,
): Promise<StartOutcome> {
  const opened = await openDatabase(config, env.searchPath, log, stop)
  if (!opened.ok) return refuse(opened.problem)
  const { database } = opened
  const { db } = database
  stops.unshift({ name: 'database', run: () => database.close() })

  const backend = config.redisUrl === null ? 'postgres' : 'redis'
  const chosen = await chooseOnce(db.sql, 'queue', backend, systemClock.now())
  if (chosen !== backend) {
    return refuse(
      `this database was first used with the queue on ${chosen}; ${backend === 'redis' ? 'unset REDIS_URL' : 'set REDIS_URL'}, or switch with: lark-manager migrate --queue ${backend}`,
    )
  }
  if (stop.aborted) return refuse(STOPPED)
  const queues = await openQueues({
    backend:
      config.redisUrl === null
        ? { kind: 'postgres', url: database.directUrl }
        : { kind: 'redis', url: config.redisUrl },
    logger: log,
  })
  stops.unshift({ name: 'queues', run: () => queues.close() })

  // An agent that speaks MCP on stdio only starts this very program as its bridge.
  const bridge = { command: process.execPath, args: [...process.execArgv, process.argv[1] ?? ''] }
  const { codex, claude } = config
  const confiner = createConfiner({
    searchPath: env.searchPath,
    dataDir: resolve(config.dataDir),
    home: env.forAgents['HOME'] ?? null,
  })
  const runtimeDeps = { logger: log, newId, clock: systemClock, env: env.forAgents, bridge, confiner, codex, claude }
  const openRuntime = (choice: RuntimeChoice): HostedRuntime =>
    withLimits(createRuntime(choice, runtimeDeps), {
      silenceMs: config.numbers.turnSilenceMs,
      totalMs: config.numbers.turnLimitMs,
    })
  const runtime = openRuntime({ endpoint: config.endpoint, command: config.command })
  const work = createWork(db, systemClock, log)
  const runtimes = createRuntimes({ manager: runtime, directory: work.directory, open: openRuntime, saw: work.saw })
  stops.unshift({ name: 'runtimes', run: async () => void (await Promise.all([runtime.end(), runtimes.end()])) })

  const local = config.lark === null ? createLocalLark() : null
  if (local !== null) stops.unshift({ name: 'sandbox', run: () => local.sandbox.close() })
  const channels = new Map<BotId, Channel>()
  const meter = createMetrics()
  let toolsUrl: string | null = null
  let lend: Workers['lend'] = () => () => {}
  let publicUrl = config.publicUrl
  const x = createExchange({
    config,
    db,
    log,
    meter,
    wake: queues.wake,
    runtime,
    runtimeFor: (agent) => runtimes.runtimeFor(agent),
    work,
    channels,
    holder: dataDir === null ? `${hostname()}-${newId()}` : dataDir.installation,
    owners: local === null ? config.owners : new Set([local.owner]),
    toolsUrl: () => toolsUrl,
    lendPlace: () => lend('request'),
    publicUrl: () => publicUrl,
  })

  await sweepFiles(config, dataDir, log)

  if (stop.aborted) return refuse(STOPPED)
  let web: Web | null = null
  const listening = await listen(
    config,
    async (request) => web?.fetch(request) ?? new Response('starting\n', { status: 503 }),
  )
  if (!listening.ok) return refuse(listening.problem)
  const { server, url: origin } = listening
  stops.unshift({ name: 'http', run: () => closeServer(server) })
  toolsUrl = `${origin}/mcp`
  const url = config.publicUrl ?? origin
  publicUrl = url
  local?.attach(server)

  const app = local === null ? config.lark : localApp(local, origin)
  if (app === null) return refuse('no Lark app')
  const bot: Bot = openBot(x, config, app, meter)
  channels.set(bot.channel.bot, bot.channel)
  stops.unshift({ name: 'bot', run: () => bot.stop() })
  if (local !== null) {
    const owner = { bot: local.bot, openId: local.owner, directChat: local.ownerChat }
    await bindOwner(db.sql, owner, systemClock.now())
  }

  meter.onCollect(async (set) => {
    for (const [queue, states] of Object.entries(await queues.counts())) {
      for (const [state, count] of Object.entries(states)) set('queue_jobs', { queue, state }, count)
    }
  })
  meter.onCollect(async (set) => {
    for (const { axis, value, count } of await unresolvedCounts(db.sql))
      set('requests_unresolved', { axis, value }, count)
  })
  const ready = () => readiness(x, queues, bot, runtime, config.role)
  const adminToken = config.adminToken ?? adminTokenIn(config.dataDir)
  web = createWeb({
    exchange: x,
    adminToken,
    publicUrl: url,
    secureCookies: url.startsWith('https:'),
    newSecret,
    sessions: {
      offer: (code) => createSignInCode(db.sql, code, systemClock.now()),
      redeem: (code, secret) => redeemSignInCode(db.sql, code, secret, systemClock.now()),
      open: (secret) => openSession(db.sql, secret, systemClock.now()),
      find: (secret) => findSession(db.sql, secret, systemClock.now()),
      end: (digest) => endSession(db.sql, digest, systemClock.now()),
      csrfOf,
    },
    work: work.door,
    audit: async (line) => void (await writeAudit(db.sql, { ...line, id: newId(), at: systemClock.now() })),
    larkEvents: config.role === 'worker' ? null : bot.webhook,
    sandbox:
      local === null
        ? null
        : {
            handle: (request) => local.sandbox.handle(request),
            chat: local.chat,
            // Another runtime does not know them.
            directives: config.endpoint === 'rehearsal' ? local.directives : [],
          },
    mcp: createAgentDoor({
      tools: createAgentTools(x),
      async caller(bearer) {
        const caller = await callerOf(x, bearer)
        // An agent that calls is there: the only evidence that one which runs by itself gives.
        if (!('refused' in caller)) work.saw(caller.agent, true)
        return caller
      },
      origins: () => [url, origin],
      version,
      log,
    }),
    boardAdapters: queues.adapters(),
    readiness: ready,
    prometheus: () => meter.text(),
    manager: () => managerBinding(env, config.endpoint, runtime),
    doctor: async () =>
      doctorReport(env, { endpoint: config.endpoint, publicUrl: url }, version, await ready(), x, app.appId, runtime),
  })

  if (stop.aborted) return refuse(STOPPED)
  if (config.role !== 'gateway') {
    await recover(x)
    const performer = createPerformer(x)
    const workers = startWorkers({
      queues,
      performer,
      clock: systemClock,
      logger: log,
      concurrency: {
        request: config.numbers.requestConcurrency,
        delivery: config.numbers.deliveryConcurrency,
        upkeep: config.numbers.upkeepConcurrency,
      },
    })
    const sweeper = startSweeper({ performer, lookup: queues.lookup, logger: log })
    lend = (queue) => workers.lend(queue)
    stops.unshift({ name: 'workers', run: async () => void (await workers.stop(5_000, 3_000)) })
    stops.unshift({ name: 'sweeper', run: () => sweeper.stop(1_000) })
  }
  bot.start()
  return {
    ok: true,
    gateway: {
      url,
      async signInUrl() {
        const code = newSecret()
        await createSignInCode(db.sql, code, systemClock.now())
        return `${url}/sign-in?code=${code}`
      },
      receiving: (limitMs, told) => receiving(bot, config.role, limitMs, told),
      banner: bannerOf(config, database.embedded, local !== null),
      stop: () => inOrder(stops, log),
    },
  }
}

function bannerOf(config: Config, embedded: boolean, sandbox: boolean): readonly string[] {
  return [
    `database: ${embedded ? 'embedded Postgres in DATA_DIR' : 'DATABASE_URL'}`,
    `queue: BullMQ on ${config.redisUrl === null ? 'the same Postgres (for one machine)' : 'Redis'}`,
    `lark: ${sandbox ? 'local sandbox, open /sandbox to write to the manager' : `${config.lark?.baseUrl} ${config.role === 'worker' ? '(sends only)' : `by ${config.larkEvents}`}`}`,
    `manager: ${config.endpoint}${config.endpoint === 'rehearsal' ? ' (no model: it follows written directives only)' : ''}`,
  ]
}

type Listening =
  | { readonly ok: true; readonly server: Server; readonly url: string }
  | { readonly ok: false; readonly problem: string }

/** Takes the port before anything that needs the address; a taken one is told, not thrown. */
function listen(config: Config, fetch: (request: Request) => Promise<Response>): Promise<Listening> {
  return new Promise((resolve) => {
    const server = serve({ fetch, hostname: config.host, port: config.port }, (address) => {
      const host = config.host.includes(':')
        ? `[${config.host}]`
        : config.host === '0.0.0.0'
          ? '127.0.0.1'
          : config.host
      resolve({ ok: true, server: server as Server, url: `http://${host}:${address.port}` })
    })
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve({
        ok: false,
        problem:
          error.code === 'EADDRINUSE'
            ? `port ${config.port} is taken: stop what uses it, or set PORT (0 picks a free one)`
            : `cannot listen on ${config.host}:${config.port} (${error.code ?? error.name})`,
      })
    })
  })
}

/** No new request; open streams of pages are cut, requests in flight get a moment. */
async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const cut = setTimeout(() => server.closeAllConnections(), 500)
  await closed
  clearTimeout(cut)
}
