import type { Bot } from '../bot/bot.js'
import type { Exchange } from '../exchange/deps.js'
import { errorLabel } from '../lib/log.js'
import type { Queues } from '../queue/queues.js'
import type { HostedRuntime } from '../runtime/hosted.js'
import { boundOwners } from '../stores/principals/principals.js'
import { stuckCounts, type StuckCounts } from '../stores/views/standing.js'
import type { Readiness } from '../web/deps.js'
import type { DoctorCheck, DoctorReport, ManagerBinding } from '../web/doctor.js'
import { pause } from './chance.js'
import { larkChecks, larkLine, listeningOf } from './listening.js'
import type { Role } from './config.js'
import type { Env } from './env.js'
import { secretNames, settings, type Setting, type SettingName } from './settings.js'

/** One line per part: what works, what does not, and whether the service counts as ready without it. */
export async function readiness(
  x: Exchange,
  queues: Queues,
  bot: Bot,
  runtime: HostedRuntime,
  role: Role,
): Promise<readonly Readiness[]> {
  const [database, queue, usable, parts, intake] = await Promise.all([
    x.db.sql`select 1`.then(
      () => null,
      (error: unknown) => errorLabel(error),
    ),
    queues.ping(),
    runtime.available(),
    runtime.checks?.() ?? [],
    // Without the database its own line says so; what came in is not known then.
    listeningOf(x, bot).catch(() => null),
  ])
  return [
    { name: 'database', needed: true, ok: database === null, detail: database ?? 'answers' },
    {
      name: 'queue',
      needed: true,
      ok: queue.reachable,
      detail: queue.reachable ? `BullMQ on ${queues.backend}` : queue.detail,
    },
    larkLine(bot.state(), role, intake),
    {
      name: 'runtime',
      needed: false,
      ok: usable.available,
      detail: usable.available
        ? [runtimeName(runtime), ...parts.map((part) => part.detail)].join('; ')
        : `${runtime.name}: ${usable.detail}`,
    },
  ]
}

const runtimeName = (runtime: HostedRuntime): string =>
  runtime.name === 'rehearsal' ? 'rehearsal: no model answers, only written directives' : runtime.name

/**
 * Waits until messages can come in: the bot knows who it is, and its connection is open. Not for a connection that
 * another process holds: this one then stands by.
 *
 * @returns null, or after `limitMs` what is still missing
 */
export async function receiving(
  bot: Pick<Bot, 'state'>,
  role: Role,
  limitMs: number,
  stop: AbortSignal,
): Promise<string | null> {
  const end = performance.now() + limitMs
  for (;;) {
    const state = bot.state()
    const line = larkLine(state, role)
    if (line.ok || stop.aborted) return null
    const standsBy = state.identity !== null && state.connection?.lease === 'waiting'
    if (standsBy || performance.now() >= end) return line.detail
    await pause(LOOK_MS)
  }
}

/** A look costs nothing: it reads what is known in this process. */
const LOOK_MS = 10

/** What `doctor` prints: every value except secrets, each part, and what is stuck with its mend. */
export async function doctorReport(
  env: Env,
  effective: Readonly<Partial<Record<SettingName, string>>>,
  version: string,
  ready: readonly Readiness[],
  x: Exchange,
  bot: string,
  runtime: HostedRuntime,
): Promise<DoctorReport> {
  const [stuck, bound, lark, needs] = await Promise.all([
    stuckCounts(x.db.sql, x.clock.now()),
    boundOwners(x.db.sql, bot),
    larkChecks(x, bot),
    runtime.checks?.() ?? [],
  ])
  const parts = ready.map((part): DoctorCheck => ({
    name: part.name,
    state: part.ok ? 'ok' : part.needed ? 'failed' : 'warning',
    detail: part.detail,
    mend: part.ok ? null : mends[part.name],
  }))
  const rows = Object.entries(stuck).map(([name, count]): DoctorCheck => ({
    name: stuckNames[name as keyof StuckCounts],
    state: count === 0 ? 'ok' : 'warning',
    detail: String(count),
    mend: count === 0 ? null : 'look at /queues and at `lark-manager delivery list`',
  }))
  return {
    version,
    manager: await managerBinding(env, effective.endpoint ?? env.values.endpoint, runtime),
    settings: settingRows(env, effective),
    checks: [
      ...parts,
      ...needs,
      ...lark,
      ownersCheck(
        bound.map(({ openId }) => openId),
        x.settings.ownerOpenIds,
      ),
      ...rows,
    ],
  }
}

/** What the manager's channel resolved to. Finding a credential selects nothing; it is only named. */
export async function managerBinding(env: Env, endpoint: string, runtime: HostedRuntime): Promise<ManagerBinding> {
  const [usable, bound] = await Promise.all([runtime.available(), runtime.binding?.() ?? null])
  const model = bound?.model ?? null
  return {
    endpoint,
    endpointSource: env.given.has('endpoint') ? 'environment' : 'default',
    executorKind: bound?.executorKind ?? null,
    model,
    modelSource: model === null ? null : env.given.has('model') ? 'environment' : 'default',
    effort: bound?.effort ?? null,
    credential: bound?.credential ?? null,
    available: usable.available,
    unavailableReason: usable.available ? null : usable.detail,
  }
}

/** An owner needs both: to be bound by a first direct message, and to be listed still. */
export function ownersCheck(bound: readonly string[], listed: ReadonlySet<string>): DoctorCheck {
  const removed = bound.filter((id) => !listed.has(id))
  if (removed.length === 0) return { name: 'owners', state: 'ok', detail: `${bound.length} bound`, mend: null }
  return {
    name: 'owners',
    state: 'warning',
    detail: `bound, but not in LARK_OWNER_OPEN_IDS: ${removed.join(', ')}`,
    mend: 'they count as owners no longer; who still is one goes into LARK_OWNER_OPEN_IDS',
  }
}

const stuckNames: Readonly<Record<keyof StuckCounts, string>> = {
  wakesDead: 'failed jobs',
  wakesOverdue: 'overdue jobs',
  deliveriesParked: 'deliveries waiting for a decision',
  deliveriesFailed: 'failed deliveries',
  receiptsUnsettled: 'receipts without an outcome',
  receiptsNotRemoved: 'receipts not removed',
  eventsOwed: 'events not acted on',
  inputsHeld: 'messages held for their owner',
}

const mends: Readonly<Record<Readiness['name'], string>> = {
  database: 'start Postgres, or correct DATABASE_URL; nothing is lost meanwhile, Lark pushes again for 7 hours',
  queue: 'start Redis, or correct REDIS_URL; events are stored meanwhile and run when it is back',
  lark: 'check LARK_APP_ID, LARK_APP_SECRET, LARK_BASE_URL, and that no other process uses this app id',
  runtime: 'set MANAGER_ENDPOINT to a runtime that is installed; messages are kept and start by themselves then',
}

function settingRows(env: Env, effective: Readonly<Partial<Record<SettingName, string>>>): DoctorReport['settings'] {
  const plain = (Object.entries(settings) as [SettingName, Setting][]).map(([name, setting]) => ({
    name: setting.env,
    value: effective[name] ?? env.values[name],
    from: env.given.has(name) ? ('environment' as const) : ('default' as const),
  }))
  const secrets = secretNames.map((name) => ({
    name,
    value: env.secrets[name] === undefined ? 'not set' : 'set',
    from: env.secrets[name] === undefined ? ('default' as const) : ('environment' as const),
  }))
  return [...plain, ...secrets]
}
