import type { Result } from './messages.js'
import type { Trouble } from '../trouble.js'

/**
 * What a result that is an error means. Status and the program's own typed word decide; its sentence is looked at only
 * where neither says more than that the request was refused, and it is never passed on: it may repeat a message.
 *
 * @param fault the typed word of the message before it, such as `rate_limit`; null when there was none
 */
export function troubleOf(result: Pick<Result, 'text' | 'terminal' | 'status'>, fault: string | null): Trouble {
  const { status } = result
  if (status === 401 || status === 403 || fault === 'authentication_failed' || fault === 'oauth_org_not_allowed') {
    const detail = 'Claude Code is not signed in, or its sign-in has expired: sign in with `claude`, or renew its key'
    return { because: 'signed-out', detail }
  }
  if (status === 402 || fault === 'billing_error') {
    return { because: 'rate-limit', detail: 'the model provider asks for payment' }
  }
  if (status === 429 || fault === 'rate_limit') {
    return { because: 'rate-limit', detail: 'the model provider limits its use for now' }
  }
  if (/prompt is too long|context (?:window|length|limit)/iu.test(result.text)) {
    return { because: 'context-full', detail: 'the conversation no longer fits into the model' }
  }
  if (result.terminal === 'max_turns') {
    return { because: 'unavailable', detail: 'the agent used up the steps that one turn may take' }
  }
  const kind = status ?? fault ?? result.terminal ?? 'an error'
  return { because: 'unavailable', detail: `the model provider failed (${kind})` }
}
