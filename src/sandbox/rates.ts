import { MINUTE, SECOND, type Clock } from '../lib/time.js'

/** Limits that cannot be raised. Source: api-call-guide frequency control; message/create; message-card/patch. */
export const limits = { perApiPerSecond: 50, perApiPerMinute: 1_000, perTargetPerSecond: 5 } as const

export interface Rates {
  /** The app-wide limit of one API: null when the call may pass, else the limit hit and the wait in whole seconds. */
  api(name: string): { readonly limit: number; readonly resetSeconds: number } | null
  /** 5 per second to one chat, one person or one patched card. False means 230020. */
  target(key: string): boolean
}

export const noRates: Rates = { api: () => null, target: () => true }

/** Sliding windows on the sandbox's clock; only calls that pass are counted. */
export function createRates(clock: Clock): Rates {
  const calls = new Map<string, number[]>()
  const within = (key: string, windowMs: number): number[] => {
    const since = clock.now() - windowMs
    const kept = (calls.get(key) ?? []).filter((at) => at > since)
    calls.set(key, kept)
    return kept
  }
  return {
    api(name) {
      const minute = within(`api:${name}`, MINUTE)
      const now = clock.now()
      const second = minute.filter((at) => at > now - SECOND)
      const full =
        second.length >= limits.perApiPerSecond
          ? { limit: limits.perApiPerSecond, oldest: second[0], windowMs: SECOND }
          : minute.length >= limits.perApiPerMinute
            ? { limit: limits.perApiPerMinute, oldest: minute[0], windowMs: MINUTE }
            : null
      if (full === null) {
        minute.push(now)
        return null
      }
      const waitMs = (full.oldest ?? now) + full.windowMs - now
      return { limit: full.limit, resetSeconds: Math.max(1, Math.ceil(waitMs / SECOND)) }
    },
    target(key) {
      const second = within(`target:${key}`, SECOND)
      if (second.length >= limits.perTargetPerSecond) return false
      second.push(clock.now())
      return true
    },
  }
}
