import type { ToolCaller } from '../collab/agent-tools.js'
import type { CallerRefusal } from '../exchange/tokens.js'

export type Authenticate = (bearer: string) => Promise<ToolCaller | { readonly refused: CallerRefusal }>

/** Bytes of one call. */
export const bodyLimitBytes = 1024 * 1024

/** Told only to whoever holds a token that was ours: it helps an executor to stop. A stranger hears nothing more. */
const told: Readonly<Record<CallerRefusal | 'no-bearer', string>> = {
  'no-bearer': 'unauthorized',
  unknown: 'unauthorized',
  revoked: 'unauthorized',
  expired: 'expired: ask the operator for a new token',
  'stale-epoch': 'stale-epoch: this session was replaced',
}

export interface TurnedAway {
  readonly because: CallerRefusal | 'no-bearer'
  /** For the one who called. */
  readonly said: string
}

/** The caller behind a request, or the answer that turns it away. */
export async function callerIn(request: Request, authenticate: Authenticate): Promise<ToolCaller | TurnedAway> {
  const bearer = /^bearer +([\x21-\x7e]{1,500})\s*$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  if (bearer === undefined) return turnedAway('no-bearer')
  const caller = await authenticate(bearer)
  return 'refused' in caller ? turnedAway(caller.refused) : caller
}

const turnedAway = (because: TurnedAway['because']): TurnedAway => ({ because, said: told[because] })

export const challenge = { 'www-authenticate': 'Bearer realm="lark-manager"' } as const

/**
 * A page of another site can make a browser call this machine, also under a name of its own that leads here. A browser
 * always says where such a call comes from; agents say nothing.
 *
 * @param origins of ours, without a trailing slash
 */
export function comesFromElsewhere(request: Request, origins: () => readonly string[]): boolean {
  const origin = request.headers.get('origin')
  return origin !== null && !origins().includes(origin)
}

/** The body as text, or null when it is over the limit. What is declared is believed only when it is too much. */
export async function textWithin(request: Request, limit: number): Promise<string | null> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) return null
  if (request.body === null) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body) {
    size += chunk.byteLength
    if (size > limit) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
  })
}
