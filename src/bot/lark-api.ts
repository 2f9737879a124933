/** One call to the platform and what came of it; the words that client, classifier and channel share. */

export type ApiName =
  | 'token'
  | 'bot.info'
  | 'message.create'
  | 'message.reply'
  | 'message.patch'
  | 'message.get'
  | 'message.list'
  | 'reaction.create'
  | 'reaction.delete'
  | 'reaction.list'
  | 'image.upload'
  | 'file.upload'
  | 'resource.get'

export interface ApiCall {
  readonly api: ApiName
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With `:name` for each of `params`. */
  readonly path: string
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: Readonly<Record<string, unknown>>
  readonly form?: ApiForm
}

/** A multipart body. `length` in bytes; `body` begins anew for each call. */
export interface ApiForm {
  readonly contentType: string
  readonly length: number
  body(): ReadableStream<Uint8Array>
}

/** The platform said something: `code` is its own number, null when the answer did not come from it (a proxy). */
export interface ApiReply {
  readonly got: 'reply'
  readonly status: number
  readonly code: number | null
  readonly msg: string
  readonly logId: string | null
  /** Milliseconds to wait, from `x-ogw-ratelimit-reset`. */
  readonly resetMs: number | null
  readonly body: unknown
}

/**
 * No answer. `not-sent` and `no-token`: the call surely had no effect. `timeout` and `connection-lost`: it may have
 * had one.
 */
export interface ApiSilence {
  readonly got: 'nothing'
  readonly because: 'timeout' | 'connection-lost' | 'not-sent' | 'no-token'
  readonly code: number | null
}

export type ApiAnswer = ApiReply | ApiSilence

export interface ApiStream {
  readonly got: 'stream'
  readonly bytes: AsyncIterable<Uint8Array>
  readonly fileName: string | null
  /** As declared; null when it was not. */
  readonly size: number | null
  /** Ends it without reading it. */
  cancel(): void
}

export interface LarkClient {
  call(call: ApiCall): Promise<ApiAnswer>
  /** A GET whose answer is bytes. */
  stream(call: ApiCall): Promise<ApiAnswer | ApiStream>
}

/** A path with its parameters encoded. The SDK leaves them as they are. */
export function pathOf(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/:([a-z_]+)/g, (_, name: string) => {
    const value = params[name] ?? ''
    // A dot segment would be folded into another path, encoded or not.
    if (value === '' || /^\.+$/.test(value)) throw new Error(`path parameter ${name} cannot stand in a path`)
    return encodeURIComponent(value)
  })
}
