import type { Command } from 'commander'
import { Option } from 'commander'
import type { Json } from './client.js'
import { finish, list, object, plain, queryOf, timeText, type Cx } from './context.js'
import type { ExitCode } from './io.js'
import type { CliWords } from './words.js'

type Options = Readonly<Record<string, unknown>>

/** `session list|show|stop|replace`: what continues which conversation, and how to end that. */
export function sessionCommands(
  program: Command,
  on: { readonly words: CliWords; readonly cx: () => Cx; readonly end: (code: ExitCode) => void },
): void {
  const { words, cx, end } = on
  const json = new Option('--json', words.json)
  const session = program.command('session').description(words.sessions)
  session
    .command('list')
    .description(words.sessionList)
    .option('--live', words.sessionLive)
    .option('--limit <n>', words.limit, '20')
    .option('--cursor <cursor>', words.cursor)
    .addOption(json)
    .action(async (options: Options) => end(await listSessions(cx(), options)))
  session
    .command('show <id>')
    .description(words.sessionShow)
    .addOption(json)
    .action(async (id: string, options: Options) => end(await showSession(cx(), id, options)))
  for (const act of ['stop', 'replace'] as const) {
    session
      .command(`${act} <id>`)
      .description(act === 'stop' ? words.sessionStop : words.sessionReplace)
      .option('--key <key>', words.key)
      .action(async (id: string, options: Options) => end(await changeSession(cx(), id, act, options)))
  }
}

async function listSessions(cx: Cx, options: Options): Promise<ExitCode> {
  const query = queryOf({ ...options, ...(options['live'] === true ? { live: 'true' } : {}) }, [
    'live',
    'limit',
    'cursor',
  ])
  const answer = await cx.client.get(`/api/v1/sessions${query}`)
  return finish(cx, answer, options['json'] === true, (body) => [
    ...list(body['items']).map((item) => rowOf(cx, item)),
    ...(list(body['items']).length === 0 ? [cx.words.nothing] : []),
    ...(body['nextCursor'] === null ? [] : [`${cx.words.more} --cursor ${String(body['nextCursor'])}`]),
  ])
}

function rowOf(cx: Cx, item: Json): string {
  const { words } = cx
  const state = item['endedAt'] !== null ? words.sessionEnded : item['running'] === null ? words.idle : words.working
  const who = plain(item['agent'] ?? '-').padEnd(12)
  return `${String(item['id'])}  ${state}  ${who}  ${plain(item['runtime'])}  ${timeText(item['boundAt'])}`
}

async function showSession(cx: Cx, id: string, options: Options): Promise<ExitCode> {
  const answer = await cx.client.get(`/api/v1/sessions/${encodeURIComponent(id)}`)
  return finish(cx, answer, options['json'] === true, (body) => [
    rowOf(cx, body),
    ...['conversation', 'session', 'epoch', 'turns', 'running', 'because']
      .filter((name) => body[name] !== null)
      .map((name) => `${name}: ${plain(body[name])}`),
    ...effectiveLines(object(body['effective'])),
  ])
}

/** What is in force; what is no single value is written out. */
function effectiveLines(effective: Json): readonly string[] {
  return Object.entries(effective).flatMap(([name, value]) => {
    if (name === 'confinement') return confinementLines(object(value))
    if (name === 'differs') return [`differs: ${list(value).map(plain).join(', ')}`]
    return [`${name}: ${plain(value ?? '?')}`]
  })
}

function confinementLines(of: Json): readonly string[] {
  const paths = list(of['paths']).map((one) => `${plain(one['access'])} ${plain(one['path'])}`)
  return [
    ...['profile', 'reads', 'writes', 'network'].map((name) => `${name}: ${plain(of[name] ?? '?')}`),
    `confined by: ${plain(of['by'] ?? '?')}`,
    ...(paths.length === 0 ? [] : [`granted: ${paths.join(', ')}`]),
  ]
}

async function changeSession(cx: Cx, id: string, act: 'stop' | 'replace', options: Options): Promise<ExitCode> {
  const key = options['key']
  const answer = await cx.client.post(
    `/api/v1/sessions/${encodeURIComponent(id)}/${act}`,
    {},
    { 'idempotency-key': typeof key === 'string' ? key : cx.client.newId() },
  )
  return finish(cx, answer, false, (receipt) => [String(receipt['outcome'])])
}
