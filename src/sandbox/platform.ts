import type { Clock } from '../lib/time.js'
import { refuse, refused, succeed, type Answer, type Refused } from './answer.js'
import type { Events } from './events.js'
import type { Ids } from './ids.js'
import type { MentionBook } from './mentions.js'
import type { Rates } from './rates.js'
import type { SandboxChange, State } from './state.js'

/** What every call of the REST surface stands on. */
export interface Platform {
  readonly clock: Clock
  readonly ids: Ids
  readonly state: State
  readonly rates: Rates
  readonly book: MentionBook
  readonly events: Events
  readonly appId: string
  readonly botName: string
  /** false: listing messages answers 99991672, as without the history scope. */
  readonly readableHistory: boolean
  push(envelope: object): void
  changed(change: SandboxChange): void
}

export const ok = (platform: Platform, data: object): Answer => succeed(data, platform.ids.logId())

export function no(platform: Platform, what: Refused | number, detail?: string): Answer {
  const refusal = typeof what === 'number' ? refused(what, detail) : what
  return refuse(refusal, platform.ids.logId(), refusal.refused === 234002 ? 401 : 400)
}

/** One REST call after its body was read. */
export interface Call {
  readonly request: Request
  readonly url: URL
  readonly params: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  /** The body as an object; null when it is none. */
  readonly json: Readonly<Record<string, unknown>> | null
  /** Only of a multipart body. */
  readonly form: UploadBody | null
}

/** A multipart body, read whole. */
export interface UploadBody {
  readonly fields: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, { readonly bytes: Uint8Array; readonly fileName: string }>>
}

export type Handler = (platform: Platform, call: Call) => Answer
