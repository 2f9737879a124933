import { Command, CommanderError } from 'commander'
import type { Logger } from '../lib/log.js'
import { setInstallation } from '../stores/installation/installation.js'
import { isAddress, webSchemes } from './addresses.js'
import { calmProblem, databaseProblem } from './calm.js'
import { systemClock } from './chance.js'
import { clientFor } from './client.js'
import { configOf, type Config } from './config.js'
import { leaveUrl, makeDataDir, takeDataDir, type DataDir } from './data-dir.js'
import { openDatabase } from './database.js'
import type { Env } from './env.js'
import { startGateway, type Gateway } from './gateway.js'
import { createLogger } from './logger.js'
import { aborted, onStopSignal } from './shutdown.js'

const say = (line: string) => process.stderr.write(`${line}\n`)

/** Runs one of our own commands. Exit 0 ok, 1 refused or failed, 2 usage or a configuration that refuses to start. */
export async function runOwn(argv: readonly string[], env: Env): Promise<number> {
  let code = 0
  const program = new Command('lark-manager')
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(text) })
  program
    .command('start')
    .description('start the gateway')
    .option('--role <role>', 'all, gateway or worker', 'all')
    .action(async (options: { role: string }) => {
      code = await start(env, options.role)
    })
  program
    .command('migrate')
    .description('bring the database up to this version')
    .option('--queue <backend>', 'switch the queue to redis or postgres; what is owed is put again by the sweep')
    .action(async (options: { queue?: string }) => {
      code = await migrateOnly(env, options.queue)
    })
  program
    .command('setup')
    .description('one-time acts of the operator')
    .option('--sign-in', 'print a new sign-in link, for one use within 15 minutes')
    .action(async (options: { signIn?: boolean }) => {
      code = await setup(env, options.signIn === true)
    })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    say(lastWord(error, env))
    return 1
  }
}

function lastWord(error: unknown, env: Env): string {
  const external = env.secrets.DATABASE_URL !== undefined
  return (external ? databaseProblem(error, 'DATABASE_URL') : null) ?? calmProblem(error, env.values.dataDir)
}

function checked(env: Env, role: string): Config | null {
  const outcome = configOf(env, role)
  if (outcome.ok) return outcome.config
  say('the configuration refuses to start:')
  for (const problem of outcome.problems) say(`- ${problem}`)
  return null
}

async function start(env: Env, role: string): Promise<number> {
  const config = checked(env, role)
  if (config === null) return 2
  const log = createLogger(config)
  // Before anything is opened: a start that is told to stop closes what it has opened until then.
  const stop = onStopSignal()
  const taken = config.role === 'all' ? takeDataDir(config.dataDir, systemClock.now()) : null
  if (taken === null) makeDataDir(config.dataDir)
  if (taken !== null && !taken.ok) {
    say(
      `DATA_DIR is in use by process ${taken.holder.pid} since ${taken.holder.since}: stop it first, or set another DATA_DIR`,
    )
    return 1
  }
  const dataDir: DataDir | null = taken === null ? null : taken.dataDir
  try {
    const outcome = await startGateway(config, env, dataDir, log, stop)
    if (!outcome.ok) {
      say(outcome.problem)
      return stop.aborted ? 0 : 1
    }
    const { gateway } = outcome
    try {
      await tellReady(config, gateway, dataDir, stop)
      await aborted(stop)
      say('stopping: nothing is lost, running work goes on at the next start (once more: exit at once)')
    } finally {
      await gateway.stop()
    }
    return 0
  } finally {
    dataDir?.release()
    log.flush()
  }
}

/** How long `ready` waits for Lark, in ms: the sandbox is in this process and answers; a tenant may be away. */
const RECEIVING_LIMIT_MS = { sandbox: 10_000, tenant: 5_000 } as const

async function tellReady(config: Config, gateway: Gateway, dataDir: DataDir | null, stop: AbortSignal): Promise<void> {
  for (const line of gateway.banner) say(line)
  const missing = await gateway.receiving(RECEIVING_LIMIT_MS[config.lark === null ? 'sandbox' : 'tenant'], stop)
  if (stop.aborted) return
  if (missing !== null) say(`lark: no messages come in yet (${missing}); it goes on trying, /readyz says when they do`)
  if (dataDir !== null) leaveUrl(dataDir.path, gateway.url)
  process.stdout.write(`ready ${gateway.url}\n`)
  // Pages are served by a worker, too, and nobody is meant to look for them there.
  if (config.role === 'worker') return
  if (isLoopback(config.host) || process.stdout.isTTY) {
    process.stdout.write(`sign in: ${await gateway.signInUrl()}\n`)
  }
}

const isLoopback = (host: string) => host === '127.0.0.1' || host === '::1' || host === 'localhost'

async function migrateOnly(env: Env, queue: string | undefined): Promise<number> {
  const config = checked(env, 'all')
  if (config === null) return 2
  if (queue !== undefined && queue !== 'redis' && queue !== 'postgres') {
    say('--queue must be redis or postgres')
    return 2
  }
  const log = createLogger(config)
  // An embedded database belongs to one process: a running gateway keeps it, and migrates by itself at its start.
  const taken = config.database === null ? takeDataDir(config.dataDir, systemClock.now()) : null
  if (taken !== null && !taken.ok) {
    say(
      `DATA_DIR is in use by process ${taken.holder.pid} since ${taken.holder.since}: stop it first, it migrates at its next start`,
    )
    return 1
  }
  try {
    return await migrated(config, env, queue, log, onStopSignal())
  } finally {
    taken?.dataDir.release()
    log.flush()
  }
}

async function migrated(
  config: Config,
  env: Env,
  queue: 'redis' | 'postgres' | undefined,
  log: Logger,
  stop: AbortSignal,
): Promise<number> {
  const opened = await openDatabase(config, env.searchPath, log, stop)
  if (!opened.ok) {
    say(opened.problem)
    return 1
  }
  const { db } = opened.database
  try {
    process.stdout.write('the database is up to date\n')
    if (queue !== undefined) {
      const dead = await db.sql<
        { kind: string; subject: string }[]
      >`select kind, subject from collab.wakes where state = 'dead'`
      for (const wake of dead) say(`failed in the old queue: ${wake.kind} ${wake.subject}`)
      await setInstallation(db.sql, 'queue', queue, systemClock.now())
      process.stdout.write(`the queue is now on ${queue}\n`)
    }
    return 0
  } finally {
    await opened.database.close()
  }
}

/** Asks the running gateway for a new link: it alone writes to its database. */
async function setup(env: Env, signIn: boolean): Promise<number> {
  if (!signIn) {
    say('nothing asked: try `lark-manager setup --sign-in`')
    return 2
  }
  const { url, token } = clientFor(env).env
  if (!isAddress(url, webSchemes)) {
    say('PUBLIC_URL must be a URL such as https://manager.example.com')
    return 2
  }
  const answer = await fetch(`${url}/api/v1/sign-in-links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  }).catch(() => null)
  if (answer === null) {
    say(`no gateway answers at ${url}: start it first, or set PUBLIC_URL`)
    return 3
  }
  if (!answer.ok) {
    say(
      answer.status === 401
        ? 'the gateway does not know this token: set ADMIN_TOKEN'
        : `the gateway refused (${answer.status})`,
    )
    return 1
  }
  process.stdout.write(`sign in: ${((await answer.json()) as { url: string }).url}\n`)
  return 0
}
