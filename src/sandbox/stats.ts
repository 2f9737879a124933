import type { Clock } from '../lib/time.js'
import type { ApiName } from './faults.js'

/** What the sandbox counted. Times are milliseconds of the sandbox's clock. */
export interface SandboxStats {
  /** Calls per API and code; code 0 is success, -1 an answer that was never given. */
  readonly calls: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** Per message id: when it was said, and when each reaction on it was accepted. */
  readonly reactions: Readonly<Record<string, { readonly saidAt: number; readonly reactedAt: readonly number[] }>>
  /** When each message of the bot was stored. */
  readonly sends: readonly { readonly messageId: string; readonly chatId: string; readonly at: number }[]
}

export interface StatsBook {
  count(api: ApiName, code: number): void
  said(messageId: string): void
  reacted(messageId: string): void
  sent(messageId: string, chatId: string): void
  read(): SandboxStats
}

export function createStats(clock: Clock): StatsBook {
  const calls = new Map<string, Map<number, number>>()
  const reactions = new Map<string, { saidAt: number; reactedAt: number[] }>()
  const sends: { messageId: string; chatId: string; at: number }[] = []
  return {
    count(api, code) {
      const codes = calls.get(api) ?? new Map<number, number>()
      codes.set(code, (codes.get(code) ?? 0) + 1)
      calls.set(api, codes)
    },
    said: (messageId) => void reactions.set(messageId, { saidAt: clock.now(), reactedAt: [] }),
    reacted: (messageId) => void reactions.get(messageId)?.reactedAt.push(clock.now()),
    sent: (messageId, chatId) => void sends.push({ messageId, chatId, at: clock.now() }),
    read: () => ({
      calls: Object.fromEntries([...calls].map(([api, codes]) => [api, Object.fromEntries(codes)])),
      reactions: Object.fromEntries([...reactions].map(([id, entry]) => [id, structuredClone(entry)])),
      sends: [...sends],
    }),
  }
}
