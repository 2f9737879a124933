import { finish, type Cx } from './context.js'
import { exitCodes, type ExitCode } from './io.js'

type Options = Readonly<Record<string, unknown>>

export function correctRequest(cx: Cx, id: string, text: string, options: Options): Promise<ExitCode> {
  return revise(cx, id, { kind: 'correction', text }, options)
}

export function cancelRequest(cx: Cx, id: string, options: Options): Promise<ExitCode> {
  return revise(cx, id, { kind: 'cancellation' }, options)
}

/** Without `--revision` the newest is read first: whoever types a command means the request as it stands. */
async function revise(cx: Cx, id: string, body: object, options: Options): Promise<ExitCode> {
  const path = `/api/v1/requests/${encodeURIComponent(id)}`
  let revision = options['revision']
  if (revision === undefined) {
    const seen = await cx.client.get(path)
    if (seen.got !== 'answer') return finish(cx, seen, false, () => [])
    revision = seen.body['revision']
  }
  if (!/^\d{1,9}$/.test(String(revision))) {
    cx.io.stderr(`${cx.words.revisionWrong}\n`)
    return exitCodes.usage
  }
  const key = options['key']
  const answer = await cx.client.post(`${path}/revisions`, body, {
    'if-match': `"${String(revision)}"`,
    'idempotency-key': typeof key === 'string' ? key : cx.client.newId(),
  })
  return finish(cx, answer, false, (receipt) => [
    `${String(receipt['outcome'])}, ${cx.words.revisionWord} ${String(receipt['revision'])}`,
  ])
}
