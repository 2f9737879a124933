import { finish, list, object, plain, timeText, type Cx } from './context.js'
import type { Json } from './client.js'
import { exitCodes, type ExitCode } from './io.js'

type Options = Readonly<Record<string, unknown>>

/** One of the agents' tools, called with an agent's own token. */
async function tool(
  cx: Cx,
  name: string,
  given: Json,
  options: Options,
  lines: (body: Json) => readonly string[] = receiptLines,
): Promise<ExitCode> {
  const own = options['key']
  const key = typeof own === 'string' ? own : cx.client.newId()
  const answer = await cx.client.post(`/api/v1/agent/${name}`, given, { 'idempotency-key': key })
  const code = finish(cx, answer, options['json'] === true, lines)
  if (answer.got === 'problem') for (const where of strings(answer.body['where'])) cx.io.stderr(`- ${plain(where)}\n`)
  return code
}

const strings = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [])

function receiptLines(receipt: Json): readonly string[] {
  const more = ['verdict', 'child', 'effect', 'asks']
    .filter((name) => receipt[name] !== undefined)
    .map((name) => `${name} ${String(receipt[name])}`)
  return [[String(receipt['outcome']), ...more].join(', ')]
}

export function readInbox(cx: Cx, options: Options): Promise<ExitCode> {
  const given = { limit: Number(options['limit']), ...only('cursor', options['cursor']) }
  return tool(cx, 'inbox_read', given, options, (body) => [
    ...list(body['items']).flatMap((item) => entryLines(cx, item)),
    ...(list(body['items']).length === 0 ? [cx.words.nothing] : []),
    ...(body['nextCursor'] === null ? [] : [`${cx.words.more} --cursor ${String(body['nextCursor'])}`]),
  ])
}

function entryLines(cx: Cx, item: Json): readonly string[] {
  const head = [item['request'], `${cx.words.revisionWord} ${String(item['revision'])}`, item['intent'], item['from']]
  return [
    `${head.map(plain).join('  ')}  ${timeText(item['openedAt'])}`,
    ...list(item['asks']).map(
      (ask) => `  [${plain(ask['state'])}] ${plain(ask['id'])}  ${plain(ask['text'] ?? cx.words.erased)}`,
    ),
    ...plain(item['brief'])
      .split('\n')
      .map((line) => `  | ${line}`),
    ...list(item['omissions']).map((gap) => `  - ${plain(object(gap)['what'])}: ${plain(object(gap)['because'])}`),
    '',
  ]
}

/** The same judgment for each named ask, several judgments being several calls; or `--into`: one ask taken apart. */
export async function assess(cx: Cx, request: string, options: Options): Promise<ExitCode> {
  const { judgment, reason, recheck, when, of, owner } = options
  const [ask, ...more] = strings(options['ask'])
  const into = strings(options['into'])
  // Taking one ask apart is no judgment, and a judgment needs both its word and its reason.
  const wrong =
    into.length > 0 ? judgment !== undefined || more.length > 0 : judgment === undefined || reason === undefined
  if (wrong) return usage(cx, cx.words.assessWrong)
  const on = { request, onRevision: Number(options['revision']) }
  if (into.length > 0) return tool(cx, 'assess_request', { ...on, split: { ask, into } }, options)
  const until =
    judgment === 'deferred' ? { until: { owner, recheckAt: recheck, ...only('when', when), ...only('of', of) } } : {}
  const asks = strings(options['ask']).map((ask) => ({ ask, judgment, reason, ...until }))
  return tool(cx, 'assess_request', { ...on, asks }, options)
}

/** `--lease-ms` takes a todo, `--release` gives it back. */
export async function claimTodo(cx: Cx, goal: string, todo: string, options: Options): Promise<ExitCode> {
  const { leaseMs, release } = options
  if ((leaseMs === undefined) === (release === undefined)) return usage(cx, cx.words.claimWrong)
  const what = leaseMs === undefined ? { release: Number(release) } : { leaseMs: Number(leaseMs) }
  return await tool(cx, 'todo_claim', { goal, todo, ...what }, options)
}

function usage(cx: Cx, words: string): ExitCode {
  cx.io.stderr(`${words}\n`)
  return exitCodes.usage
}

export function linkWork(cx: Cx, request: string, operation: string, options: Options): Promise<ExitCode> {
  return tool(cx, 'link_work', { request, operation }, options)
}

export function report(cx: Cx, request: string, text: string, options: Options): Promise<ExitCode> {
  const given = {
    request,
    covers: strings(options['ask']),
    text,
    artifacts: strings(options['artifact']),
    ...only('conclusion', options['conclusion']),
    ...only('supersedes', options['supersedes']),
  }
  return tool(cx, 'report_result', given, options)
}

export function ask(cx: Cx, request: string, receiver: string, question: string, options: Options): Promise<ExitCode> {
  const given = {
    request,
    receiver,
    question,
    intent: options['intent'],
    asks: strings(options['ask']),
    brief: options['brief'],
    refs: strings(options['ref']),
    reason: options['reason'],
    direct: options['direct'] === true,
  }
  return tool(cx, 'ask_agent', given, options)
}

/** The operator's: the token is printed once, alone, so that a script can keep it. */
export async function issueToken(cx: Cx, agent: string, options: Options): Promise<ExitCode> {
  const path = `/api/v1/agents/${encodeURIComponent(agent)}/tokens`
  const answer = await cx.client.post(path, only('session', options['session']), {})
  const code = finish(cx, answer, options['json'] === true, (body) => [String(body['token'])])
  if (answer.got === 'answer') cx.io.stderr(`${cx.words.tokenOnce} ${String(answer.body['url'])}\n`)
  return code
}

/** A member only when it was given. */
const only = (name: string, value: unknown): Json => (typeof value === 'string' ? { [name]: value } : {})
