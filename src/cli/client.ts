import type { Language } from '../collab/delivery.js'

/** What the gateway answered, or why there is no answer. */
export type Answer =
  | { readonly got: 'answer'; readonly body: Json; readonly revision: string | null }
  | { readonly got: 'problem'; readonly status: number; readonly title: string; readonly body: Json }
  | { readonly got: 'unreachable'; readonly detail: string }

/** A file, or why there is none. */
export type Download =
  { readonly got: 'file'; readonly bytes: Uint8Array; readonly headers: Headers } | Exclude<Answer, { got: 'answer' }>

export type Json = Readonly<Record<string, unknown>>

export interface Client {
  get(path: string): Promise<Answer>
  post(path: string, body: object, headers: Readonly<Record<string, string>>): Promise<Answer>
  put(path: string, body: object, headers: Readonly<Record<string, string>>): Promise<Answer>
  /** Sends a file as plain bytes. */
  upload(path: string, bytes: Uint8Array, headers: Readonly<Record<string, string>>): Promise<Answer>
  /** Asks for a file as plain bytes. */
  download(path: string, body: object): Promise<Download>
  newId(): string
  /** The same gateway as somebody else. */
  withToken(token: string): Client
}

/** The HTTP API with a bearer. Texts of problems come in the asked language. */
export function createClient(options: {
  readonly url: string
  readonly token: string
  readonly language: Language
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly newId: () => string
}): Client {
  const base = options.url.replace(/\/+$/, '')
  const send = (path: string, init: RequestInit, accept: string): Promise<Response> =>
    options.fetch(base + path, {
      ...init,
      // A proxy's sign-in page must not be taken for an answer.
      redirect: 'manual',
      headers: {
        ...init.headers,
        accept,
        'accept-language': options.language,
        authorization: `Bearer ${options.token}`,
      },
    })
  const call = async (path: string, init: RequestInit): Promise<Answer> => {
    try {
      const response = await send(path, init, JSON_TYPE)
      return answerOf(response, await response.text())
    } catch (error) {
      return { got: 'unreachable', detail: causeOf(error) }
    }
  }
  const write = (method: string, path: string, body: object, headers: Readonly<Record<string, string>>) =>
    call(path, { method, body: JSON.stringify(body), headers: { ...headers, 'content-type': JSON_TYPE } })
  return {
    get: (path) => call(path, { method: 'GET' }),
    post: (path, body, headers) => write('POST', path, body, headers),
    put: (path, body, headers) => write('PUT', path, body, headers),
    upload: (path, bytes, headers) =>
      call(path, { method: 'POST', body: new Uint8Array(bytes), headers: { ...headers, 'content-type': OCTETS } }),
    async download(path, body) {
      try {
        const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': JSON_TYPE } }
        const response = await send(path, init, OCTETS)
        const { headers } = response
        if (response.ok) return { got: 'file', bytes: new Uint8Array(await response.arrayBuffer()), headers }
        const answer = answerOf(response, await response.text())
        return answer.got === 'answer' ? { got: 'unreachable', detail: `HTTP ${response.status}` } : answer
      } catch (error) {
        return { got: 'unreachable', detail: causeOf(error) }
      }
    },
    newId: options.newId,
    withToken: (token) => createClient({ ...options, token }),
  }
}

const JSON_TYPE = 'application/json'
const OCTETS = 'application/octet-stream'

function answerOf(response: Response, text: string): Answer {
  const body = objectIn(text)
  if (body === null) return { got: 'unreachable', detail: `HTTP ${response.status}` }
  if (response.ok) return { got: 'answer', body, revision: response.headers.get('etag') }
  const title = typeof body['title'] === 'string' ? body['title'] : `HTTP ${response.status}`
  return { got: 'problem', status: response.status, title, body }
}

/** The innermost reason: `fetch failed` alone helps nobody. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return 'unknown'
  const code = (cause as { code?: unknown }).code
  return typeof code === 'string' ? code : cause.message
}

function objectIn(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null
  } catch {
    return null
  }
}
