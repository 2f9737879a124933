import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import type { OnRecall } from '../collab/decide/withheld.js'
import { permissionModes, type ClaudeSettings } from '../runtime/claude/options.js'
import { PACKAGE } from '../runtime/claude/sdk.js'
import { sandboxModes, type CodexSettings } from '../runtime/codex/options.js'
import { endpoints, hostsWithoutChat, type Endpoint } from '../runtime/registry.js'
import { databaseSchemes, isAddress, redisSchemes, webSchemes } from './addresses.js'
import type { Env } from './env.js'
import { settings, type Setting, type SettingName } from './settings.js'

export type Role = 'all' | 'gateway' | 'worker'

export interface LarkApp {
  readonly appId: string
  readonly appSecret: string
  readonly baseUrl: string
  readonly encryptKey: string | null
  readonly verificationToken: string | null
}

/** Everything that a start needs, checked. Secrets stand here and nowhere else. */
export interface Config {
  readonly role: Role
  readonly host: string
  readonly port: number
  /** Null: built from host and the port that was really taken. */
  readonly publicUrl: string | null
  readonly dataDir: string
  readonly database: { readonly url: string; readonly directUrl: string } | null
  readonly redisUrl: string | null
  readonly adminToken: string | null
  /** Null: the sandbox. */
  readonly lark: LarkApp | null
  readonly larkEvents: 'websocket' | 'webhook'
  readonly owners: ReadonlySet<string>
  /** Chats of the bot that are wider than the default. */
  readonly chats: {
    readonly atAll: ReadonlySet<string>
    readonly open: ReadonlySet<string>
    readonly bots: ReadonlySet<string>
  }
  readonly reactions: { readonly received: string; readonly done: string; readonly failed: string }
  readonly receiptPolicy: 'clear' | 'retain'
  readonly onRecall: OnRecall
  readonly recall: 'off' | 'local'
  readonly pacing: boolean
  readonly endpoint: Endpoint
  readonly command: string
  readonly codex: CodexSettings
  readonly claude: ClaudeSettings
  readonly numbers: Readonly<Record<NumberName, number>>
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error'
  readonly logFormat: 'json' | 'pretty' | null
}

type NumberName = {
  [K in SettingName]: (typeof settings)[K]['unit'] extends 'ms' | 'count' | 'bytes' ? K : never
}[SettingName]

export type ConfigOutcome =
  | { readonly ok: true; readonly config: Config }
  /** One line each: what is wrong and what to set. */
  | { readonly ok: false; readonly problems: readonly string[] }

const roles = z.enum(['all', 'gateway', 'worker'])
const loopback = new Set(['127.0.0.1', '::1', 'localhost', '[::1]'])

/** Checks the environment as a whole, so that a start fails with every mistake at once. */
export function configOf(env: Env, roleText: string): ConfigOutcome {
  const problems = [...env.problems]
  const { values, secrets } = env
  const choice = <T extends string>(name: SettingName, allowed: readonly T[]): T => {
    const parsed = z.enum(allowed as [T, ...T[]]).safeParse(values[name])
    if (!parsed.success) problems.push(`${settings[name].env} must be one of ${allowed.join(', ')}`)
    return parsed.success ? (parsed.data as T) : (allowed[0] as T)
  }
  const numbers = numbersOf(env, problems)
  const role = roles.safeParse(roleText)
  if (!role.success) problems.push('--role must be all, gateway or worker')
  checkAddresses(env, problems)
  const lark = larkOf(env, problems)
  const larkEvents = choice('larkEvents', ['websocket', 'webhook'])
  if (lark !== null && larkEvents === 'webhook' && lark.encryptKey === null && lark.verificationToken === null) {
    problems.push(
      'LARK_EVENTS=webhook needs LARK_ENCRYPT_KEY or LARK_VERIFICATION_TOKEN: without one of them anybody could send events',
    )
  }
  const adminToken = secrets.ADMIN_TOKEN ?? null
  if (adminToken === null && !loopback.has(values.host)) {
    problems.push(
      `HOST=${values.host} can be reached from other machines: set ADMIN_TOKEN (at least 32 random characters)`,
    )
  }
  if (role.success && role.data !== 'all') problems.push(...lackingFor(role.data, env))
  const endpoint = endpointOf(env, lark, problems)
  if (endpoint === 'acp' && values.command === '') {
    problems.push('MANAGER_ENDPOINT=acp needs MANAGER_COMMAND, the command line of the agent')
  }
  const logFormat = values.logFormat === '' ? null : choice('logFormat', ['json', 'pretty'])
  const url = secrets.DATABASE_URL
  const config: Config = {
    role: role.success ? role.data : 'all',
    host: values.host,
    port: numbers.port,
    publicUrl: values.publicUrl === '' ? null : values.publicUrl.replace(/\/+$/, ''),
    dataDir: resolve(values.dataDir),
    database: url === undefined ? null : { url, directUrl: secrets.DATABASE_DIRECT_URL ?? url },
    redisUrl: secrets.REDIS_URL ?? null,
    adminToken,
    lark,
    larkEvents,
    owners: listOf(values.owners),
    chats: {
      atAll: chatsOf(env, 'atAllChats', problems),
      open: chatsOf(env, 'openChats', problems),
      bots: chatsOf(env, 'botChats', problems),
    },
    reactions: { received: values.received, done: values.done, failed: values.failed },
    receiptPolicy: choice('receiptPolicy', ['clear', 'retain']),
    onRecall: choice('onRecall', ['hold', 'send', 'drop']),
    recall: choice('recall', ['off', 'local']),
    pacing: choice('larkPacing', ['on', 'off']) === 'on',
    endpoint,
    command: values.command,
    codex: {
      bin: values.codexBin,
      homes: join(resolve(values.dataDir), 'codex'),
      model: values.model,
      effort: values.effort,
      sandbox: choice('codexSandbox', sandboxModes),
      network: choice('codexNetwork', ['on', 'off']) === 'on',
      credential: env.forCodex,
    },
    claude: {
      bin: values.claudeBin,
      sdk: values.claudeSdk === '' ? PACKAGE : pathToFileURL(resolve(values.claudeSdk)).href,
      homes: join(resolve(values.dataDir), 'claude'),
      model: values.model,
      effort: values.effort,
      permissionMode: choice('claudePermissions', permissionModes),
      credential: env.forClaude,
    },
    numbers,
    logLevel: choice('logLevel', ['info', 'debug', 'warn', 'error']),
    logFormat,
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, config }
}

function listOf(text: string): ReadonlySet<string> {
  const ids = text.split(',').map((id) => id.trim())
  return new Set(ids.filter((id) => id !== ''))
}

/** A name of a chat in the place of its id would open nothing, silently. */
function chatsOf({ values }: Env, name: 'atAllChats' | 'openChats' | 'botChats', problems: string[]) {
  const ids = listOf(values[name])
  if ([...ids].some((id) => !/^oc_\w+$/.test(id))) {
    problems.push(`${settings[name].env} must be chat ids such as oc_6b51577fb131…, with commas between`)
  }
  return ids
}

/** What a process needs that does not work alone: everything that one process alone could make for itself. */
function lackingFor(role: 'gateway' | 'worker', { secrets }: Env): readonly string[] {
  const lacking: string[] = []
  if (secrets.DATABASE_URL === undefined) {
    lacking.push(`--role ${role} needs DATABASE_URL: the embedded database belongs to one process`)
  }
  if (secrets.LARK_APP_ID === undefined && secrets.LARK_APP_SECRET === undefined) {
    lacking.push(
      `--role ${role} needs LARK_APP_ID and LARK_APP_SECRET: the sandbox lives in one process, each would have its own`,
    )
  }
  if (secrets.ADMIN_TOKEN === undefined) {
    lacking.push(`--role ${role} needs ADMIN_TOKEN (at least 32 random characters), the same for every process`)
  }
  return lacking
}

/** Says which variable is wrong and never what it holds: a database address carries its password. */
function checkAddresses({ secrets, values }: Env, problems: string[]): void {
  for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL'] as const) {
    if (secrets[name] === undefined || isAddress(secrets[name], databaseSchemes)) continue
    problems.push(
      `${name} must be an address such as postgres://user:password@host:5432/name; in a password write % : / ? # @ as %25 %3A %2F %3F %23 %40`,
    )
  }
  if (secrets.REDIS_URL !== undefined && !isAddress(secrets.REDIS_URL, redisSchemes)) {
    problems.push('REDIS_URL must be an address such as redis://host:6379 or rediss://host:6380')
  }
  if (values.publicUrl !== '' && !isAddress(values.publicUrl, webSchemes)) {
    problems.push('PUBLIC_URL must be a URL such as https://manager.example.com')
  }
  if (values.claudeBaseUrl !== '' && !isAddress(values.claudeBaseUrl, webSchemes)) {
    problems.push('ANTHROPIC_BASE_URL must be a URL such as https://api.anthropic.com')
  }
  if (!isAddress(values.larkBaseUrl, webSchemes)) {
    problems.push('LARK_BASE_URL must be a URL such as https://open.feishu.cn')
  }
}

/** The longest wait of a timer; a longer one would end at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

function numbersOf(env: Env, problems: string[]): Record<NumberName, number> {
  const numbers = {} as Record<NumberName, number>
  for (const [name, setting] of Object.entries(settings) as [SettingName, Setting][]) {
    if (setting.unit === 'text' || setting.unit === 'on/off') continue
    const least = setting.least ?? 1
    const most = setting.most ?? (setting.unit === 'ms' ? LONGEST_TIMER_MS : Number.MAX_SAFE_INTEGER)
    const parsed = z.coerce.number().int().min(least).max(most).safeParse(env.values[name])
    if (!parsed.success) {
      const range = setting.most === undefined ? `at least ${least}` : `from ${least} to ${most}`
      problems.push(`${setting.env} must be a whole number, ${range} (${setting.unit})`)
    }
    numbers[name as NumberName] = parsed.success ? parsed.data : Number(setting.fallback)
  }
  return numbers
}

function larkOf(env: Env, problems: string[]): LarkApp | null {
  const { LARK_APP_ID, LARK_APP_SECRET, LARK_ENCRYPT_KEY, LARK_VERIFICATION_TOKEN } = env.secrets
  if (LARK_APP_ID === undefined && LARK_APP_SECRET === undefined) return null
  if (LARK_APP_ID === undefined || LARK_APP_SECRET === undefined) {
    problems.push('LARK_APP_ID and LARK_APP_SECRET belong together: set both, or neither for the sandbox')
    return null
  }
  return {
    appId: LARK_APP_ID,
    appSecret: LARK_APP_SECRET,
    baseUrl: env.values.larkBaseUrl.replace(/\/+$/, ''),
    encryptKey: LARK_ENCRYPT_KEY ?? null,
    verificationToken: LARK_VERIFICATION_TOKEN ?? null,
  }
}

/** On a real tenant `codex`, always; only the sandbox starts on `rehearsal`. Finding a provider key selects nothing. */
function endpointOf(env: Env, lark: LarkApp | null, problems: string[]): Endpoint {
  const said = env.values.endpoint
  if (said === '') return lark === null ? 'rehearsal' : 'codex'
  const known = [...endpoints, ...hostsWithoutChat].find((name) => name === said)
  if (known === undefined) problems.push(`MANAGER_ENDPOINT must be one of ${endpoints.join(', ')}`)
  return known ?? 'rehearsal'
}
