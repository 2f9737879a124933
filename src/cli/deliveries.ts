import type { Json } from './client.js'
import { finish, list, plain, queryOf, timeText, type Cx } from './context.js'
import { exitCodes, type ExitCode } from './io.js'

type Options = Readonly<Record<string, unknown>>

export async function listDeliveries(cx: Cx, options: Options): Promise<ExitCode> {
  const answer = await cx.client.get(`/api/v1/deliveries${queryOf(options, ['state', 'limit', 'cursor'])}`)
  return finish(cx, answer, options['json'] === true, (body) => [
    ...list(body['items']).map(rowOf),
    ...(list(body['items']).length === 0 ? [cx.words.nothing] : []),
    ...(body['nextCursor'] === null ? [] : [`${cx.words.more} --cursor ${String(body['nextCursor'])}`]),
  ])
}

function rowOf(item: Json): string {
  const parts = list(item['parts']).filter((part) => part['state'] !== 'superseded')
  const arrived = parts.filter((part) => part['state'] === 'verified' || part['state'] === 'accepted').length
  const state = String(item['state']).padEnd(8)
  return `${String(item['id'])}  ${state}  ${arrived}/${parts.length}  ${timeText(item['createdAt'])}  ${String(item['cause'])}`
}

export async function showDelivery(cx: Cx, id: string, options: Options): Promise<ExitCode> {
  const answer = await cx.client.get(`/api/v1/deliveries/${encodeURIComponent(id)}`)
  return finish(cx, answer, options['json'] === true, deliveryLines)
}

/** A delivery and its parts. */
export function deliveryLines(delivery: Json): readonly string[] {
  return [
    `${String(delivery['id'])}  ${String(delivery['cause'])}  ${String(delivery['state'])}  ${timeText(delivery['createdAt'])}`,
    ...list(delivery['parts']).map((part) => {
      const why = part['because'] === null ? '' : ` (${plain(part['because'])})`
      const sent = part['messageId'] === null ? '' : `  ${String(part['messageId'])}`
      const at =
        part['subIndex'] === 0 ? `${String(part['index'])}` : `${String(part['index'])}.${String(part['subIndex'])}`
      return `  part ${at}  ${String(part['msgType'])}  ${String(part['state'])}${why}  x${String(part['attempts'])}${sent}`
    }),
    ...list(delivery['acts']).map((act) => `  ${timeText(act['at'])}  ${plain(act['who'])}  ${plain(act['act'])}`),
  ]
}

export async function retryDelivery(cx: Cx, id: string, options: Options): Promise<ExitCode> {
  const { part, decision, message, key } = options
  if (part !== undefined && !/^\d{1,6}$/.test(String(part))) {
    cx.io.stderr(`${cx.words.partWrong}\n`)
    return exitCodes.usage
  }
  const body = {
    ...(part === undefined ? {} : { part: Number(part) }),
    ...(decision === undefined ? {} : { decision }),
    ...(message === undefined ? {} : { messageId: message }),
  }
  const headers = { 'idempotency-key': typeof key === 'string' ? key : cx.client.newId() }
  const answer = await cx.client.post(`/api/v1/deliveries/${encodeURIComponent(id)}/retry`, body, headers)
  return finish(cx, answer, false, (done) => [
    done['outcome'] === 'already-delivered' ? cx.words.alreadyDelivered : cx.words.retried,
  ])
}
