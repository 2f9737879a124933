import { Option, type Command } from 'commander'
import type { Json } from './client.js'
import { finish, firstLine, list, plain, queryOf, timeText, type Cx } from './context.js'
import type { ExitCode } from './io.js'
import type { CliWords } from './words.js'

type Options = Readonly<Record<string, unknown>>

/** `grant list|revoke`: what agents may do without a question. */
export function grantCommands(
  program: Command,
  on: { readonly words: CliWords; readonly cx: () => Cx; readonly end: (code: ExitCode) => void },
): void {
  const { words, cx, end } = on
  const grant = program.command('grant').description(words.grants)
  grant
    .command('list')
    .description(words.grantList)
    .option('--limit <n>', words.limit, '20')
    .option('--cursor <cursor>', words.cursor)
    .addOption(new Option('--json', words.json))
    .action(async (options: Options) => end(await listGrants(cx(), options)))
  grant
    .command('revoke <id>')
    .description(words.grantRevoke)
    .option('--key <key>', words.key)
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
  const { words } = cx
  const state = item['revokedAt'] === null ? words.grantStands : words.grantRevoked
  // Its first line is often only the name of a tool; what is allowed stands below it.
  const what = firstLine(String(item['operation'] ?? words.erased).replaceAll(/\s*\n\s*/gu, ' · '), 120)
  return `${String(item['id'])}  ${state}  ${plain(item['agent'])}  ${timeText(item['issuedAt'])}  x${String(item['used'])}  ${what}`
}

async function revoke(cx: Cx, id: string, options: Options): Promise<ExitCode> {
  const key = options['key']
  const answer = await cx.client.post(
    `/api/v1/grants/${encodeURIComponent(id)}/revoke`,
    {},
    { 'idempotency-key': typeof key === 'string' ? key : cx.client.newId() },
  )
  return finish(cx, answer, false, (receipt) => [String(receipt['outcome'])])
}
