import { SECOND, type Clock } from '../lib/time.js'
import type { Ids } from './ids.js'
import type { Carrier, PushOutcome } from './push.js'
import { encrypt, sign } from './seal.js'
import type { Timers } from './timers.js'

const ANSWER_WAIT = 3 * SECOND
const CHALLENGE_WAIT = 1 * SECOND

export interface Webhook extends Carrier {
  /** The console's URL check: true when the receiver gave the challenge back within a second. */
  checkUrl(challenge: string): Promise<boolean>
}

export interface WebhookOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly ids: Ids
  readonly url: string
  readonly fetch: typeof fetch
  readonly encryptKey: string | undefined
  readonly verificationToken: string | undefined
}

/**
 * Posts one event to the app's request URL. Delivered means HTTP 200 within 3 s.
 * With an Encrypt Key the body is `{"encrypt"}` and signed over its raw bytes; the URL check is sealed but not signed.
 * Each push is stamped anew: whether the real retries are is not documented.
 */
export function createWebhook(options: WebhookOptions): Webhook {
  const { clock, timers, ids, encryptKey } = options
  const seal = (plain: string): string =>
    encryptKey === undefined
      ? plain
      : JSON.stringify({ encrypt: encrypt(encryptKey, plain, Buffer.from(ids.hex(32), 'hex')) })

  const post = async (body: string, signed: boolean, waitMs: number): Promise<PushOutcome> => {
    const abort = new AbortController()
    let late = false
    const cancel = timers.set(() => {
      late = true
      abort.abort()
    }, waitMs)
    const headers: Record<string, string> = { 'content-type': 'application/json; charset=utf-8' }
    if (signed && encryptKey !== undefined) {
      const timestamp = String(Math.floor(clock.now() / SECOND))
      const nonce = ids.hex(12)
      headers['x-lark-request-timestamp'] = timestamp
      headers['x-lark-request-nonce'] = nonce
      headers['x-lark-signature'] = sign(encryptKey, timestamp, nonce, body)
    }
    try {
      const init = { method: 'POST', headers, body, signal: abort.signal, redirect: 'manual' } as const
      const response = await options.fetch(options.url, init)
      const answer = await response.text()
      return response.status === 200 ? { pushed: true, answer } : { pushed: false, because: 'refused' }
    } catch {
      return { pushed: false, because: late ? 'timeout' : 'unreachable' }
    } finally {
      cancel()
    }
  }

  return {
    carry: (_eventId, envelope) => post(seal(JSON.stringify(envelope)), true, ANSWER_WAIT),
    async checkUrl(challenge) {
      const check = { challenge, token: options.verificationToken ?? '', type: 'url_verification' }
      const outcome = await post(seal(JSON.stringify(check)), false, CHALLENGE_WAIT)
      if (!outcome.pushed) return false
      try {
        return (JSON.parse(outcome.answer) as { challenge?: unknown }).challenge === challenge
      } catch {
        return false
      }
    },
  }
}
