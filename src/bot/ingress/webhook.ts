import type { Meter } from '../../collab/ports.js'
import type { BotId } from '../../collab/refs.js'
import { errorLabel, type Logger } from '../../lib/log.js'
import { HOUR, SECOND, type Clock } from '../../lib/time.js'
import { within } from '../limit.js'
import { readBody } from './body.js'
import { Fields } from './content/read.js'
import type { Receive } from './receive.js'
import { aesKeyOf, open, parseJson, secret, signatureHolds } from './seal.js'

export interface WebhookParts {
  readonly bot: BotId
  /** Null when the app has none: then the Verification Token is the only proof. */
  readonly encryptKey: string | null
  readonly verificationToken: string | null
  readonly clock: Clock
  readonly receive: Receive
  readonly log: Logger
  readonly meter: Meter
}

/** 1 MiB: the largest event holds one message, and a message holds at most 150 KB (Lark: create). */
export const BODY_LIMIT = 1024 * 1024
/** The re-push ladder lasts 7 h 5 min; whether a re-push is signed anew is not documented. */
export const OLDEST_MS = 8 * HOUR
/** Lark gives 3 s and then pushes again, except a press on a card. */
const EVENT_LIMIT_MS = 2.5 * SECOND

type Opened = { readonly ok: true; readonly envelope: unknown; readonly signed: boolean } | Refused
type Refused = { readonly ok: false; readonly status: 400 | 401; readonly because: string }

const refused = (status: 400 | 401, because: string): Refused => ({ ok: false, status, because })

/**
 * The webhook door of one bot. Answers 200 only when the event is stored (or was before), 503 when the store cannot
 * take it, so that the platform pushes again; 405, 413, 401 and 400 before anything is stored.
 */
export function createWebhook(parts: WebhookParts): (request: Request) => Promise<Response> {
  const { log, clock, meter } = parts
  const isToken = parts.verificationToken === null ? null : secret(parts.verificationToken)
  const aesKey = parts.encryptKey === null ? null : aesKeyOf(parts.encryptKey)

  function tokenHolds(envelope: Fields): boolean {
    if (isToken === null) return true
    const given = envelope.object('header').string('token') || envelope.string('token')
    return isToken(given)
  }

  /** From raw bytes to an envelope that is proved to come from the platform, except for the token. */
  function unseal(request: Request, body: Uint8Array): Opened {
    const key = parts.encryptKey
    if (key === null || aesKey === null) {
      const envelope = parseJson(body)
      if (envelope === undefined) return refused(400, 'not JSON in UTF-8')
      return { ok: true, envelope, signed: false }
    }
    const signature = request.headers.get('x-lark-signature')
    const timestamp = request.headers.get('x-lark-request-timestamp') ?? ''
    const nonce = request.headers.get('x-lark-request-nonce') ?? ''
    const signed = signature !== null
    if (signed && !signatureHolds({ signature, timestamp, nonce }, key, body)) return refused(401, 'signature')
    if (signed && tooOld(timestamp)) return refused(401, 'timestamp')
    const sealed = new Fields(parseJson(body)).string('encrypt')
    const bytes = sealed === '' ? null : open(sealed, aesKey)
    const envelope = bytes === null ? undefined : parseJson(bytes)
    // Without a signature every fault gets one answer: a different one would tell a stranger whether the padding fits.
    if (!signed && !isUrlCheck(envelope)) return refused(401, 'not signed')
    if (sealed === '') return refused(400, 'not encrypted')
    if (envelope === undefined) return refused(400, 'cannot be decrypted')
    return { ok: true, envelope, signed }
  }

  function tooOld(timestamp: string): boolean {
    if (!/^\d{9,14}$/.test(timestamp)) return true
    const at = timestamp.length > 11 ? Number(timestamp) : Number(timestamp) * 1000
    return clock.now() - at > OLDEST_MS
  }

  async function store(envelope: unknown): Promise<Response> {
    try {
      const outcome = await within(parts.receive(envelope, 'webhook'), EVENT_LIMIT_MS)
      if (typeof outcome === 'object') return answer(200, outcome.answer)
      if (outcome === 'late') {
        // It may still be stored; the same event again is then a duplicate.
        log.warn('event not stored in time', {})
        return answer(503)
      }
      return outcome === 'malformed' ? answer(400) : answer(200)
    } catch (error) {
      log.error('event not stored', { error: errorLabel(error) })
      return answer(503)
    }
  }

  return async (request) => {
    if (request.method !== 'POST') return answer(405)
    const from = clock.now()
    let body: Uint8Array | null
    try {
      body = await readBody(request, BODY_LIMIT)
    } catch {
      // The line broke while the body came in.
      return answer(400)
    }
    if (body === null) return answer(413)
    const opened = unseal(request, body)
    if (!opened.ok) {
      log.warn('webhook refused', { reason: opened.because, code: opened.status })
      return answer(opened.status)
    }
    const envelope = new Fields(opened.envelope)
    // Nothing proves the sender when neither secret is set.
    if ((parts.encryptKey === null && parts.verificationToken === null) || !tokenHolds(envelope)) {
      log.warn('webhook refused', { reason: 'token', code: 401 })
      return answer(401)
    }
    if (isUrlCheck(opened.envelope)) {
      const challenge = envelope.string('challenge')
      return challenge === '' ? answer(400) : answer(200, { challenge })
    }
    const response = await store(opened.envelope)
    meter.observe('ingress_ack_seconds', (clock.now() - from) / 1000)
    return response
  }
}

function isUrlCheck(envelope: unknown): boolean {
  return new Fields(envelope).string('type') === 'url_verification'
}

const jsonHeaders = { 'content-type': 'application/json' }

/** The platform reads 200 and a body that is an object; a card click shows nothing for `{}`. */
function answer(status: number, body: Readonly<Record<string, unknown>> = {}): Response {
  // Not `Response.json`: the server writes a plain text at once, and that one only through a stream.
  return new Response(JSON.stringify(body), { status, headers: jsonHeaders })
}
