import { refusalStatus } from '../collab/refusal-status.js'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Refusal, RefusalReason } from '../collab/decision.js'
import type { Language } from '../collab/delivery.js'
import type { GrantRefusal } from '../exchange/grant-add.js'
import type { RetryRefusal } from '../exchange/retry.js'
import type { SessionRefusal } from '../exchange/sessions.js'
import type { GoalRefusal } from './goal-door.js'
import { languageOf } from './language.js'
import { problemTitles } from './problem-titles.js'

/** What the door itself refuses, before any verb is asked. */
export type DoorProblem =
  | 'not-signed-in'
  | 'csrf-missing'
  | 'not-found'
  | 'not-allowed-here'
  | 'bad-request'
  | 'if-match-missing'
  | 'if-match-malformed'
  | 'idempotency-key-missing'
  | 'idempotency-key-malformed'
  | 'idempotency-key-reused'
  | 'conflict'
  | 'too-large'
  | 'not-webhook-mode'
  | 'unavailable'
  | 'internal'

const doorStatusOf = {
  'not-signed-in': 401,
  'csrf-missing': 403,
  'not-found': 404,
  'not-allowed-here': 403,
  'bad-request': 400,
  'if-match-missing': 428,
  'if-match-malformed': 400,
  'idempotency-key-missing': 400,
  'idempotency-key-malformed': 400,
  'idempotency-key-reused': 422,
  conflict: 409,
  'too-large': 413,
  'not-webhook-mode': 404,
  unavailable: 503,
  internal: 500,
} as const satisfies Record<DoorProblem, ContentfulStatusCode>

/** Refusals of a retry. */
const retryStatusOf = {
  'delivery-unknown': 404,
  'part-unknown': 404,
  'not-parked': 409,
  'message-without-part': 400,
  'message-of-another-part': 409,
} as const satisfies Record<RetryRefusal, ContentfulStatusCode>

/** Refusals of the work owner. */
const goalStatusOf = {
  'goal-unknown': 404,
  'goal-exists': 409,
  'goal-stopped': 409,
  'goal-active': 409,
  'goal-elsewhere': 409,
  'agent-elsewhere': 409,
  'agent-reserved': 409,
} as const satisfies Record<GoalRefusal, ContentfulStatusCode>

/** Refusals of a stop or a replacement of a session. */
const sessionStatusOf = {
  'session-unknown': 404,
  'session-ended': 409,
  'nothing-running': 409,
  'session-busy': 409,
} as const satisfies Record<SessionRefusal, ContentfulStatusCode>

/** Refusals of a standing permission. */
const grantStatusOf = {
  'grant-unknown': 404,
  'agent-unknown': 404,
  'conversation-unknown': 404,
  'not-an-owner': 422,
  'reason-unsound': 422,
  'scope-unsound': 422,
  'effect-not-possible': 422,
  'parent-ended': 409,
  'other-principal': 422,
  'wider-scope': 422,
  'wider-effects': 422,
  'wider-audience': 422,
  'ends-later': 422,
} as const satisfies Record<GrantRefusal, ContentfulStatusCode>

const chatStatusOf = { 'chat-unknown': 404, 'policy-not-isolated': 409 } as const

export type ProblemCode =
  DoorProblem | RefusalReason | RetryRefusal | GoalRefusal | SessionRefusal | GrantRefusal | keyof typeof chatStatusOf

const statuses: Readonly<Record<ProblemCode, ContentfulStatusCode>> = {
  ...doorStatusOf,
  ...refusalStatus,
  ...retryStatusOf,
  ...goalStatusOf,
  ...sessionStatusOf,
  ...grantStatusOf,
  ...chatStatusOf,
}

/** The calm sentence for a code; null for a code that is none of ours. */
export function titleOf(code: ProblemCode, language: Language): string
export function titleOf(code: string, language: Language): string | null
export function titleOf(code: string, language: Language): string | null {
  return Object.hasOwn(problemTitles, code) ? problemTitles[code as ProblemCode][language] : null
}

export function statusOf(code: ProblemCode): ContentfulStatusCode {
  return statuses[code]
}

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: ProblemCode
  readonly detail?: string
}

/** A problem document (RFC 9457). `extra` holds members that a client may act on, never a body or a token. */
export function problem(
  c: Context,
  code: ProblemCode,
  extra: Readonly<Record<string, string | number>> = {},
): Response {
  const language = languageOf(c.req.header('accept-language'))
  const status = statusOf(code)
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json; charset=utf-8',
    'content-language': language,
    'cache-control': 'no-store',
    vary: 'accept-language',
  }
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="lark-manager"'
  if (status === 503) headers['retry-after'] = '2'
  const document = { type: `urn:lark-manager:problem:${code}`, title: titleOf(code, language), status, code, ...extra }
  return c.body(JSON.stringify(document), status, headers)
}

/** A refusal in HTTP, with what the caller needs to go on. */
export function refused(c: Context, refusal: Refusal): Response {
  switch (refusal.reason) {
    case 'stale-revision':
      return problem(c, refusal.reason, { head: refusal.head })
    case 'fence-held':
      return problem(c, refusal.reason, { holder: refusal.holder })
    case 'turn-running':
      return problem(c, refusal.reason, { turn: refusal.turn })
    default:
      return problem(c, refusal.reason)
  }
}
