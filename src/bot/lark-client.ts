import type { Meter } from '../collab/ports.js'
import type { BotId } from '../collab/refs.js'
import type { Logger } from '../lib/log.js'
import { MINUTE, SECOND, type Clock } from '../lib/time.js'
import { Fields } from './ingress/content/read.js'
import {
  pathOf,
  type ApiAnswer,
  type ApiCall,
  type ApiReply,
  type ApiSilence,
  type LarkClient,
  type ApiStream,
} from './lark-api.js'
import { fileNameOf, silenceOf } from './lark-wire.js'

export interface LarkClientParts {
  readonly bot: BotId
  readonly appSecret: string
  /** `https://open.feishu.cn`, `https://open.larksuite.com` or the sandbox. */
  readonly baseUrl: string
  readonly clock: Clock
  readonly meter: Meter
  readonly log: Logger
  readonly fetch?: typeof fetch
  readonly timeouts?: Partial<Timeouts>
}

export interface Timeouts {
  readonly callMs: number
  readonly uploadMs: number
  /** Between two pieces of a download. */
  readonly idleMs: number
}

const defaults: Timeouts = { callMs: 10 * SECOND, uploadMs: 60 * SECOND, idleMs: 30 * SECOND }

/** Token missing, invalid or of a bad format: dropped and asked for again, once (Lark: generic error codes). */
export const tokenCodes: ReadonlySet<number> = new Set([99991661, 99991663, 99991664, 99991665, 99991671])

/** The same token is handed out again until 30 minutes are left, so it is not worth keeping to its very end. */
const TOKEN_MARGIN_MS = 3 * MINUTE

/**
 * A thin client over `fetch`. The SDK's own is not used for calls: it has no time limit, keeps a token that the
 * platform has refused, asks for one per concurrent call, sends bodies with GET, leaves path parameters as they are,
 * and its error log line holds the message and the bearer token.
 */
export function createLarkClient(parts: LarkClientParts): LarkClient {
  const { clock, meter, log } = parts
  const limits = { ...defaults, ...parts.timeouts }
  const doFetch = parts.fetch ?? fetch
  let token: { readonly value: string; readonly until: number } | null = null
  let asking: Promise<string | ApiSilence> | null = null

  /** One request at a time, however many calls wait for it. */
  function tokenValue(): Promise<string | ApiSilence> {
    if (token !== null && clock.now() < token.until) return Promise.resolve(token.value)
    asking ??= askToken().finally(() => (asking = null))
    return asking
  }

  async function askToken(): Promise<string | ApiSilence> {
    const answer = await once(
      {
        api: 'token',
        method: 'POST',
        path: '/open-apis/auth/v3/tenant_access_token/internal',
        body: { app_id: parts.bot, app_secret: parts.appSecret },
      },
      null,
    )
    if (answer.got === 'nothing') return { ...answer, because: 'no-token' }
    if (answer.got === 'stream') return { got: 'nothing', because: 'no-token', code: null }
    const body = new Fields(answer.body)
    const value = body.string('tenant_access_token')
    if (answer.code !== 0 || value === '') return { got: 'nothing', because: 'no-token', code: answer.code }
    const lifeMs = (body.number('expire') ?? 0) * SECOND
    token = { value, until: clock.now() + Math.max(0, lifeMs - TOKEN_MARGIN_MS) }
    return value
  }

  async function withToken<T extends ApiAnswer | ApiStream>(run: (bearer: string) => Promise<T>) {
    for (const last of [false, true]) {
      const bearer = await tokenValue()
      if (typeof bearer !== 'string') return bearer
      const answer = await run(bearer)
      if (last || answer.got !== 'reply' || answer.code === null || !tokenCodes.has(answer.code)) return answer
      // Another call may already hold a newer one.
      if (token?.value === bearer) token = null
    }
    throw new Error('unreachable')
  }

  async function once(call: ApiCall, bearer: string | null, asStream = false): Promise<ApiAnswer | ApiStream> {
    const url = new URL(pathOf(call.path, call.params ?? {}), parts.baseUrl)
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, value)
    }
    const from = clock.now()
    const abort = new AbortController()
    const limitMs = call.form === undefined ? limits.callMs : limits.uploadMs
    let timer = setTimeout(() => abort.abort(), limitMs)
    const restart = (ms: number): void => {
      clearTimeout(timer)
      timer = setTimeout(() => abort.abort(), ms)
    }
    let kept = false
    try {
      const response = await doFetch(url, {
        method: call.method,
        headers: {
          ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
          ...(call.body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }),
          ...(call.form === undefined
            ? {}
            : { 'content-type': call.form.contentType, 'content-length': String(call.form.length) }),
        },
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
        ...(call.form === undefined ? {} : { body: call.form.body(), duplex: 'half' }),
        signal: abort.signal,
        redirect: 'error',
      })
      if (asStream && response.ok && isFile(response)) {
        kept = true
        note(call, '0', from, null)
        return streamed(response, {
          piece: () => restart(limits.idleMs),
          done: () => clearTimeout(timer),
          cancel: () => abort.abort(),
        })
      }
      const reply = replyOf(response, await response.text())
      note(call, reply.code === null ? `http-${reply.status}` : String(reply.code), from, reply)
      return reply
    } catch (error) {
      const silence = silenceOf(error, abort.signal.aborted)
      note(call, silence.because, from, null)
      return silence
    } finally {
      if (!kept) clearTimeout(timer)
    }
  }

  /** Api, code, log id and time; never a body, and never the platform's sentence, which can quote one. */
  function note(call: ApiCall, code: string, from: number, reply: ApiReply | null): void {
    const ms = clock.now() - from
    meter.api(call.api, code, ms / 1000)
    if (code === '0') return
    log.warn('lark call not accepted', {
      api: call.api,
      code,
      ms,
      ...(reply?.logId === null || reply === null ? {} : { logId: reply.logId }),
    })
  }

  return {
    async call(call) {
      const answer = await withToken((bearer) => once(call, bearer))
      if (answer.got === 'stream') throw new Error('a stream where none was asked for')
      return answer
    },
    stream: (call) => withToken((bearer) => once(call, bearer, true)),
  }
}

/** A JSON file is a file: only an answer without a file's headers is read as the platform's own words. */
function isFile(response: Response): boolean {
  const type = response.headers.get('content-type') ?? ''
  return response.headers.has('content-disposition') || !type.startsWith('application/json')
}

interface Watch {
  readonly piece: () => void
  readonly done: () => void
  readonly cancel: () => void
}

function streamed(response: Response, { piece, done, cancel }: Watch): ApiStream {
  const size = Number(response.headers.get('content-length') ?? Number.NaN)
  async function* bytes(): AsyncGenerator<Uint8Array> {
    try {
      if (response.body === null) return
      piece()
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        yield chunk
        piece()
      }
    } finally {
      done()
    }
  }
  return {
    got: 'stream',
    bytes: bytes(),
    fileName: fileNameOf(response.headers.get('content-disposition')),
    size: Number.isFinite(size) ? size : null,
    cancel() {
      done()
      cancel()
    },
  }
}

/** The code counts whatever the HTTP status is: token errors were seen with 200 and with 400. */
function replyOf(response: Response, text: string): ApiReply {
  let body: unknown = null
  try {
    body = JSON.parse(text)
  } catch {
    // Not the platform's answer, then; the status is all that is known.
  }
  const fields = new Fields(body)
  const reset = Number(response.headers.get('x-ogw-ratelimit-reset') ?? Number.NaN)
  return {
    got: 'reply',
    status: response.status,
    code: fields.number('code'),
    msg: fields.string('msg').slice(0, 300),
    logId: response.headers.get('x-tt-logid') ?? (fields.object('error').string('log_id') || null),
    resetMs: Number.isFinite(reset) && reset >= 0 ? Math.ceil(reset * SECOND) : null,
    body,
  }
}
