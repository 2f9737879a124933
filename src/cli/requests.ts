import type { Json } from './client.js'
import { finish, firstLine, list, object, plain, queryOf, timeText, type Cx } from './context.js'
import { deliveryLines } from './deliveries.js'
import type { ExitCode } from './io.js'

type Options = Readonly<Record<string, unknown>>

export async function listRequests(cx: Cx, options: Options): Promise<ExitCode> {
  const query = queryOf(options, ['state', 'conversation', 'agent', 'limit', 'cursor'])
  const answer = await cx.client.get(`/api/v1/requests${query}`)
  return finish(cx, answer, options['json'] === true, (body) => [
    ...list(body['items']).map((item) => rowOf(cx, item)),
    ...(list(body['items']).length === 0 ? [cx.words.nothing] : []),
    ...(body['nextCursor'] === null ? [] : [`${cx.words.more} --cursor ${String(body['nextCursor'])}`]),
  ])
}

function rowOf(cx: Cx, item: Json): string {
  const next = object(item['next'])
  const waits = item['next'] === null ? '' : `  [${String(next['owner'])}: ${String(next['condition'])}]`
  const asked = firstLine(list(item['asks'])[0]?.['text'] ?? cx.words.erased, 80)
  return `${String(item['id'])}  ${String(item['state']).padEnd(6)}  ${timeText(item['openedAt'])}  ${asked}${waits}`
}

export async function showRequest(cx: Cx, id: string, options: Options): Promise<ExitCode> {
  const answer = await cx.client.get(`/api/v1/requests/${encodeURIComponent(id)}`)
  return finish(cx, answer, options['json'] === true, (body) => linesOf(cx, body))
}

function linesOf(cx: Cx, view: Json): readonly string[] {
  const { words } = cx
  const axes = object(view['axes'])
  const next = object(view['next'])
  return [
    `${String(view['id'])}  ${String(view['state'])}  ${words.revisionWord} ${String(view['revision'])}`,
    `${words.opened}: ${timeText(view['openedAt'])}`,
    ...['assignment', 'judgment', 'control', 'delivery'].map((axis) => `${axis}: ${String(axes[axis])}`),
    ...(view['cancellation'] === null ? [] : [cancellationLine(cx, object(view['cancellation']))]),
    view['next'] === null ? words.nothingOwed : `${words.next}: ${String(next['owner'])}, ${String(next['condition'])}`,
    '',
    ...list(view['asks']).flatMap((ask) => [`[${String(ask['state'])}]`, ...indented(ask['text'] ?? words.erased)]),
    ...list(view['results']).flatMap((result) => [
      '',
      `${String(result['kind'])} ${String(result['id'])}:`,
      ...(result['supersedes'] === null ? [] : [`  (${words.renews} ${String(result['supersedes'])})`]),
      ...indented(result['text'] ?? words.erased),
      ...list(result['files']).map((file) => `  + ${plain(file['fileName'])} (${String(file['size'])} B)`),
    ]),
    ...list(view['briefs']).flatMap((brief) => briefLines(cx, brief)),
    ...list(view['work']).flatMap((one) => [
      '',
      ...list(one['refs']).map(
        (ref) => `${words.work}: ${plain(ref['ref'])} (${words.revisionWord} ${plain(ref['revision'])})`,
      ),
    ]),
    ...list(view['refusals']).flatMap((one) => refusalLines(cx, one)),
    ...list(view['deliveries']).flatMap((delivery) => ['', ...deliveryLines(delivery)]),
    ...list(view['attempts']).flatMap((attempt) => list(attempt['turns']).flatMap((turn) => turnLines(cx, turn))),
    '',
    ...list(view['observations']).map((fact) => {
      const detail = fact['detail'] === null ? '' : ` (${plain(fact['detail'])})`
      return `${String(fact['seq']).padStart(4)}  ${timeText(fact['at'])}  ${String(fact['kind'])}${detail}`
    }),
  ]
}

/** What an agent saved of its work, and what its earlier ones said that this one does not. */
function briefLines(cx: Cx, brief: Json): readonly string[] {
  const { words } = cx
  const entries = Object.entries(object(brief['said'])).flatMap(([part, texts]) =>
    (texts as readonly unknown[]).map((text) => `  ${part}: ${plain(text)}`),
  )
  return [
    '',
    `${words.saved} ${plain(brief['agent'])}, ${timeText(brief['at'])} (${words.revisionWord} ${plain(brief['revision'])}):`,
    ...(brief['said'] === null ? indented(words.erased) : entries),
    ...list(brief['leftOut']).map((one) => `  ${words.leftOut} ${plain(one['part'])}: ${plain(one['text'])}`),
  ]
}

/** What was not done: whose refusal it was, what mends it, and the operation. */
function refusalLines(cx: Cx, refusal: Json): readonly string[] {
  const by = String(refusal['by'])
  const whose: Readonly<Record<string, string>> = cx.words.refusedBy
  const tool = refusal['tool'] === null ? '' : `, ${plain(refusal['tool'])}`
  return [
    '',
    `${cx.words.notDone}: ${whose[by] ?? by} [${plain(refusal['rule'])}${tool}]`,
    ...(refusal['operation'] === null ? [] : indented(refusal['operation'])),
  ]
}

/** One turn with its four stamps, and the commands that ended with it. */
function turnLines(cx: Cx, turn: Json): readonly string[] {
  const { words } = cx
  const stamps = (
    [
      [words.accepted, 'acceptedAt'],
      [words.started, 'presentedAt'],
      [words.firstAnswer, 'firstAnswerAt'],
      [words.completed, 'completedAt'],
    ] as const
  ).map(([name, key]) => `${name} ${turn[key] === null ? '-' : timeText(turn[key])}`)
  const ended = turn['endedWith'] as readonly unknown[]
  return [
    '',
    `${words.turn}: ${stamps.join(', ')}`,
    ...ended.flatMap((command) => indented(`${words.endedWith} ${plain(command ?? words.erased)}`)),
  ]
}

/** Asked for, in effect, or too late for what had already happened. */
function cancellationLine(cx: Cx, cancellation: Json): string {
  const { words } = cx
  const said = (text: string): string => `${words.cancellation}: ${text}`
  if (cancellation['stands'] === 'asked') return said(words.cancelAsked)
  if (cancellation['stands'] === 'acknowledged') return said(words.cancelTaken)
  const happened = list(cancellation['happened']).map((one) => {
    if (one['what'] === 'effect') return `${plain(one['effectKind'])} (${plain(one['target'])})`
    if (one['what'] === 'work') return `${plain(one['ref'])} (${words.revisionWord} ${plain(one['revision'])})`
    return words.answeredAlready
  })
  const rest = cancellation['rest'] === true ? `; ${words.cancelRest}` : ''
  return said(`${words.cancelTooLate}: ${happened.join('; ')}${rest}`)
}

function indented(text: unknown): readonly string[] {
  return plain(text)
    .split('\n')
    .map((line) => `  ${line}`)
}
