import { Option, type Command } from 'commander'
import type { Json } from './client.js'
import { finish, firstLine, list, object, plain, queryOf, timeText, type Cx } from './context.js'
import { grantWords } from './grant-words.js'
import { exitCodes, type ExitCode } from './io.js'
import type { CliWords } from './words.js'

type Options = Readonly<Record<string, unknown>>

/** An end that nobody named: a permission without one is asked for in so many words. */
const DAYS = '30'

/** `grant add|list|revoke`: what agents may do without a question. */
export function grantCommands(
  program: Command,
  on: {
    readonly words: CliWords
    readonly cx: () => Cx
    readonly language: Cx['language']
    readonly end: (code: ExitCode) => void
  },
): void {
  const { cx, end, words: common } = on
  const words = grantWords[on.language]
  const grant = program.command('grant').description(words.grants)
  grant
    .command('list')
    .description(words.list)
    .option('--limit <n>', common.limit, '20')
    .option('--cursor <cursor>', common.cursor)
    .addOption(new Option('--json', common.json))
    .action(async (options: Options) => end(await listGrants(cx(), options)))
  grant
    .command('add <agent>')
    .description(words.add)
    .option('--path <directory>', words.path)
    .option('--host <name>', words.host)
    .option('--network <host>', words.network)
    .option('--chat <id>', words.chat)
    .option('--goal <id>', words.goal)
    .option('--effects <list>', words.effects)
    .option('--conversation <id>', words.conversation)
    .option('--owner-private', words.ownerPrivate)
    .option('--owner <openId>', words.owner)
    .option('--reason <text>', words.reason)
    .option('--days <n>', words.days, DAYS)
    .option('--no-end', words.noEnd)
    .option('--parent <id>', words.parent)
    .option('--key <key>', common.key)
    .addOption(new Option('--json', common.json))
    .action(async (agent: string, options: Options) => end(await add(cx(), agent, options)))
  grant
    .command('revoke <id>')
    .description(words.revoke)
    .option('--key <key>', common.key)
    .action(async (id: string, options: Options) => end(await revoke(cx(), id, options)))
}

async function listGrants(cx: Cx, options: Options): Promise<ExitCode> {
  const answer = await cx.client.get(`/api/v1/grants${queryOf(options, ['limit', 'cursor'])}`)
  return finish(cx, answer, options['json'] === true, (body) => [
    ...list(body['items']).map((item) => rowOf(cx, item)),
    ...(list(body['items']).length === 0 ? [cx.words.nothing] : []),
    ...(body['nextCursor'] === null ? [] : [`${cx.words.more} --cursor ${String(body['nextCursor'])}`]),
  ])
}

function rowOf(cx: Cx, item: Json): string {
  const words = grantWords[cx.language]
  const state = words.effective[item['effective'] as keyof typeof words.effective] ?? plain(item['effective'])
  const end = item['expiresAt'] === null ? words.noEndWord : `${words.until} ${timeText(item['expiresAt'])}`
  const where = item['conversation'] === null ? words.private : `${words.here} ${plain(item['conversation'])}`
  return [
    String(item['id']),
    state,
    plain(item['agent']),
    end,
    where,
    `x${String(item['used'])}`,
    whatOf(cx, item),
    ...list(item['lastUses'])
      .slice(0, 1)
      .map((use) => `(${timeText(use['at'])} ${plain(use['turn'])})`),
  ].join('  ')
}

function whatOf(cx: Cx, item: Json): string {
  const words = grantWords[cx.language]
  if (item['scope'] !== null) {
    const scope = object(item['scope'])
    const effects = (Array.isArray(item['effects']) ? item['effects'] : []).map(
      (effect: unknown) => words.effect[effect as keyof typeof words.effect] ?? plain(effect),
    )
    const place =
      scope['kind'] === 'path'
        ? `${plain(scope['host'])}:${plain(scope['prefix'])}/`
        : plain(scope['host'] ?? scope['chat'] ?? scope['goal'])
    return `${effects.join(',')} ${place}`
  }
  // Its first line is often only the name of a tool; what is allowed stands below it.
  return firstLine(String(item['operation'] ?? cx.words.erased).replaceAll(/\s*\n\s*/gu, ' · '), 120)
}

async function add(cx: Cx, agent: string, options: Options): Promise<ExitCode> {
  const words = grantWords[cx.language]
  const body = bodyOf(agent, options)
  if (body === null) {
    cx.io.stderr(`${words.wrong}\n`)
    return exitCodes.usage
  }
  const answer = await cx.client.post('/api/v1/grants', body, { 'idempotency-key': keyOf(cx, options) })
  return finish(cx, answer, options['json'] === true, (given) => [`${words.given} ${plain(given['grant'])}`])
}

function bodyOf(agent: string, options: Options): object | null {
  const { path, network, chat, goal, host, conversation, ownerPrivate, reason, days, end, parent, owner } = options
  if ([path, network, chat, goal].filter((one) => one !== undefined).length !== 1) return null
  if ((conversation === undefined) === (ownerPrivate === undefined)) return null
  if (typeof reason !== 'string' || (end !== false && !/^\d{1,4}$/u.test(String(days)))) return null
  const effects = network !== undefined ? 'network' : chat !== undefined ? 'read' : String(options['effects'] ?? '')
  const scope =
    network !== undefined
      ? { kind: 'network', host: network }
      : chat !== undefined
        ? { kind: 'chat', chat }
        : goal !== undefined
          ? { kind: 'goal', goal }
          : { kind: 'path', prefix: path, ...(host === undefined ? {} : { host }) }
  return {
    agent,
    scope,
    effects: effects.split(',').map((one) => one.trim()),
    conversation: conversation ?? null,
    reason,
    days: end === false ? null : Number(days),
    ...(parent === undefined ? {} : { parent }),
    ...(owner === undefined ? {} : { openId: owner }),
  }
}

async function revoke(cx: Cx, id: string, options: Options): Promise<ExitCode> {
  const answer = await cx.client.post(
    `/api/v1/grants/${encodeURIComponent(id)}/revoke`,
    {},
    { 'idempotency-key': keyOf(cx, options) },
  )
  return finish(cx, answer, false, (receipt) => [String(receipt['outcome'])])
}

function keyOf(cx: Cx, options: Options): string {
  const key = options['key']
  return typeof key === 'string' ? key : cx.client.newId()
}
