import { MINUTE, SECOND, type Clock } from '../lib/time.js'
import type { Ids } from './ids.js'
import { refused, type Refused } from './answer.js'

/** Seconds. Source: authentication-management, tenant_access_token_internal. */
const TOKEN_LIFE = 7_200

/**
 * Tenant tokens: the same one is given again until less than 30 minutes remain, then a new one; both stay valid.
 * Revoking makes every token given out so far unknown (99991663), which the SDK's own cache does not notice.
 */
export interface Tokens {
  issue(): { readonly token: string; readonly expire: number }
  check(authorization: string | null): Refused | null
  revokeAll(): void
}

export function createTokens(clock: Clock, ids: Ids): Tokens {
  const expiry = new Map<string, number>()
  let newest: string | null = null
  return {
    issue() {
      const now = clock.now()
      const until = newest === null ? undefined : expiry.get(newest)
      if (newest !== null && until !== undefined && until - now >= 30 * MINUTE)
        return { token: newest, expire: Math.floor((until - now) / SECOND) }
      newest = ids.accessToken()
      expiry.set(newest, now + TOKEN_LIFE * SECOND)
      return { token: newest, expire: TOKEN_LIFE }
    },
    check(authorization) {
      if (authorization === null || authorization === '') return refused(99991661)
      const token = /^Bearer (\S+)$/.exec(authorization)?.[1]
      if (token === undefined) return refused(99991661)
      if (!/^[tu]-/.test(token)) return refused(99991671)
      const until = expiry.get(token)
      return until === undefined || until <= clock.now() ? refused(99991663) : null
    },
    revokeAll() {
      expiry.clear()
      newest = null
    },
  }
}
