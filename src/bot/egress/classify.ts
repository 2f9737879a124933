import type { Fetched, ReactReply, SendReply } from '../../collab/channel.js'
import { unreachable } from '../../lib/assert.js'
import { HOUR, MINUTE, SECOND } from '../../lib/time.js'
import type { ApiAnswer, ApiName, ApiReply } from '../lark-api.js'
import { classOf, classOfWords, type CodeClass } from './codes.js'

/** The platform names a wait only for its gateway limit; the others are ours. */
const WAIT_MS = { rate: 2 * SECOND, paused: 30 * SECOND, down: 15 * SECOND, token: MINUTE, quota: HOUR } as const

/** An answer that is not success: what it means for this call. */
function meaningOf(api: ApiName, reply: ApiReply): CodeClass | 'not-from-lark' {
  const { status, code, msg } = reply
  if (code !== null && code !== 0) {
    const known = classOf(api, code)
    if (known !== null) return known
    if (status === 429) return 'rate-limit'
    // A number that no table knows: with a plain refusal it is one, otherwise nobody knows what happened.
    return status >= 400 && status < 500 ? 'configuration' : 'unknown-outcome'
  }
  if (code === null && status >= 400 && status < 500) {
    const worded = classOfWords(api, msg)
    if (worded !== null) return worded
  }
  if (status === 429) return 'rate-limit'
  if (status === 413) return 'too-long'
  // Success without what was asked for, or a fault on the way.
  if (status < 400 || status >= 500 || status === 408) return 'unknown-outcome'
  return 'not-from-lark'
}

export type Unsent = Exclude<SendReply, { readonly reply: 'taken' }>

/**
 * What a create, a reply or an upload without its success came to. Only an explicit word of the platform is a
 * refusal; a cut line, a time limit and a server's fault are ambiguous.
 */
export function unsent(api: ApiName, answer: ApiAnswer): Unsent {
  if (answer.got === 'nothing') {
    if (answer.because === 'not-sent') return later('channel-down', WAIT_MS.down, answer.code)
    if (answer.because === 'no-token') return later('channel-down', WAIT_MS.token, answer.code)
    return { reply: 'ambiguous', because: answer.because, code: answer.code }
  }
  const { code } = answer
  const refused = (because: Extract<Unsent, { reply: 'refused' }>['because']): Unsent => ({
    reply: 'refused',
    because,
    code,
    detail: detailOf(answer),
  })
  const meaning = meaningOf(api, answer)
  switch (meaning) {
    case 'rate-limit':
      return later('rate-limit', answer.resetMs ?? WAIT_MS.rate, code)
    case 'quota':
      return later('rate-limit', answer.resetMs ?? WAIT_MS.quota, code)
    case 'paused':
      return later('channel-down', WAIT_MS.paused, code)
    case 'token':
      return later('channel-down', WAIT_MS.token, code)
    case 'not-from-lark':
      return later('channel-down', WAIT_MS.down, code)
    case 'unknown-outcome':
      return { reply: 'ambiguous', because: 'server-error', code }
    case 'busy':
      return { reply: 'ambiguous', because: 'being-sent', code }
    case 'too-large':
      return refused('too-long')
    case 'message-gone':
      return refused('target-gone')
    case 'unknown-emoji':
    case 'reaction-gone':
    case 'unsupported':
      return refused('bad-format')
    case 'target-gone':
    case 'not-permitted':
    case 'bad-format':
    case 'too-long':
    case 'content-audit':
    case 'cannot-reply-here':
    case 'configuration':
      return refused(meaning)
    default:
      return unreachable(meaning)
  }
}

/** A reaction that was not placed or not taken away. A look-up that is refused uses the same words. */
export function unreacted(api: ApiName, answer: ApiAnswer): ReactReply | { readonly reaction: 'gone' } {
  if (answer.got === 'nothing') {
    if (answer.because === 'not-sent') return { reaction: 'later', retryAfterMs: WAIT_MS.down }
    if (answer.because === 'no-token') return { reaction: 'later', retryAfterMs: WAIT_MS.token }
    return { reaction: 'unknown', code: answer.code }
  }
  const { code } = answer
  const meaning = meaningOf(api, answer)
  switch (meaning) {
    case 'rate-limit':
      return { reaction: 'later', retryAfterMs: answer.resetMs ?? WAIT_MS.rate }
    case 'busy':
      return { reaction: 'later', retryAfterMs: SECOND }
    case 'paused':
      return { reaction: 'later', retryAfterMs: WAIT_MS.paused }
    case 'token':
      return { reaction: 'later', retryAfterMs: WAIT_MS.token }
    case 'not-from-lark':
      return { reaction: 'later', retryAfterMs: WAIT_MS.down }
    case 'quota':
      return { reaction: 'refused', because: 'quota', code }
    case 'unknown-emoji':
      return { reaction: 'refused', because: 'unknown-emoji', code }
    case 'message-gone':
    case 'target-gone':
      return { reaction: 'refused', because: 'message-gone', code }
    case 'reaction-gone':
      return { reaction: 'gone' }
    case 'unknown-outcome':
      return { reaction: 'unknown', code }
    default:
      return { reaction: 'refused', because: 'not-permitted', code }
  }
}

export type Unread = Extract<Fetched<never>, { readonly fetched: false }>['because']

/** A read that gave nothing: gone for good, closed to us, or worth another try. */
export function unread(api: ApiName, answer: ApiAnswer): Unread {
  if (answer.got === 'nothing') return 'unavailable'
  const meaning = meaningOf(api, answer)
  switch (meaning) {
    case 'message-gone':
      return 'gone'
    case 'too-large':
      return 'too-large'
    case 'unsupported':
      return 'unsupported'
    case 'not-permitted':
    case 'target-gone':
    case 'configuration':
    case 'bad-format':
      return 'not-permitted'
    default:
      return 'unavailable'
  }
}

function later(because: 'rate-limit' | 'channel-down', retryAfterMs: number, code: number | null): Unsent {
  return { reply: 'later', because, retryAfterMs, code }
}

/** For the operator: the real cause of a refused card stands in the sentence. */
function detailOf(reply: ApiReply): string {
  const inner = /ErrCode:\s*(\d+)/.exec(reply.msg)?.[1]
  const log = reply.logId === null ? '' : ` (log id ${reply.logId})`
  return `${inner === undefined ? '' : `ErrCode ${inner}: `}${reply.msg}${log}`
}
