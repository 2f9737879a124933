import type { TurnFailure } from '../../collab/ports.js'
import { fields, text, type Fields } from './read.js'

/**
 * What an error of a turn means for whoever waits.
 *
 * @param error `turn.error` of `turn/completed`, or `error` of an `error` notification
 * @source codex app-server: CodexErrorInfo is a word, or an object with one word as its key
 */
export function failureOf(error: unknown): { readonly because: TurnFailure; readonly detail: string } {
  const said = fields(error)
  const { word, status } = infoOf(said['codexErrorInfo'])
  const because =
    status === 429 ? 'rate-limit' : status === 401 || status === 403 ? 'signed-out' : (byWord[word] ?? 'unavailable')
  // The provider's own words may repeat what was sent to it: only their kind is told.
  const detail = status === null ? `the model provider failed (${word})` : `the model provider answered ${status}`
  return { because, detail }
}

const byWord: Readonly<Record<string, TurnFailure>> = {
  contextWindowExceeded: 'context-full',
  sessionBudgetExceeded: 'rate-limit',
  usageLimitExceeded: 'rate-limit',
  rateLimitExceeded: 'rate-limit',
  unauthorized: 'signed-out',
  // Rules of the provider about what is asked, and its own end after too many of them.
  cyberPolicy: 'refused-by-provider',
  bioPolicy: 'refused-by-provider',
  misalignmentPolicyViolation: 'refused-by-provider',
  tooManyDenials: 'refused-by-provider',
}

function infoOf(info: unknown): { readonly word: string; readonly status: number | null } {
  const named = text(info)
  if (named !== null) return { word: named, status: null }
  const [word = 'unknown', details] = Object.entries(fields(info))[0] ?? []
  const status = (fields(details) as Fields)['httpStatusCode']
  return { word: word.slice(0, 60), status: typeof status === 'number' ? status : null }
}
