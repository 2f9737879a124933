/** The calls a fault script or a counter can name. */
export const apiNames = [
  'token',
  'bot.info',
  'message.create',
  'message.reply',
  'message.get',
  'message.list',
  'message.patch',
  'message.update',
  'message.delete',
  'reaction.create',
  'reaction.delete',
  'reaction.list',
  'image.upload',
  'image.get',
  'file.upload',
  'file.get',
  'resource.get',
  'chat.get',
  'chat.list',
  'chat.members',
  'card.create',
  'card.content',
  'card.settings',
  'card.update',
  'ws.endpoint',
] as const

export type ApiName = (typeof apiNames)[number]

export type FaultAction =
  | { readonly kind: 'latency'; readonly ms: number }
  /** HTTP 429, code 99991400, with the platform's own wait header; null leaves the header out. */
  | { readonly kind: 'rate-limit'; readonly resetSeconds: number | null }
  /** A bare HTTP status. `stored`: the call takes effect before it fails, as a 504 from a proxy does. */
  | { readonly kind: 'status'; readonly status: number; readonly stored?: boolean }
  /** `stored`: the call takes effect all the same, as behind an inner time limit (2200). */
  | {
      readonly kind: 'code'
      readonly code: number
      readonly msg?: string
      readonly httpStatus?: number
      readonly stored?: boolean
    }
  /** The call takes effect, then the connection is destroyed before the answer. */
  | { readonly kind: 'accept-then-reset' }
  /** The connection is destroyed and nothing happened. */
  | { readonly kind: 'reset-before' }
  /** The connection is destroyed while the call is on its way: it takes effect `ms` later, on the sandbox's timers. */
  | { readonly kind: 'arrive-late'; readonly ms: number }
  /** No answer, ever. `stored`: the call took effect all the same. */
  | { readonly kind: 'hang'; readonly stored?: boolean }

export interface Fault {
  readonly api: ApiName | 'any'
  /** Counted over the calls that match api, chatId and contains, from 1. */
  readonly when?: {
    readonly nth?: number
    readonly every?: number
    readonly chatId?: string
    readonly contains?: string
  }
  readonly do: FaultAction
  /** How often it strikes before it is spent; unlimited when left out, once with `nth`. */
  readonly times?: number
}

/** Deterministic scripts: the same calls in the same order meet the same faults. */
export interface Faults {
  /** Returns a function that takes the script out again. */
  add(fault: Fault): () => void
  /** Every token given out so far stops working: the next call with one answers 99991663. */
  expireToken(): void
  /**
   * The next `count` events the receiver takes are taken in vain: the acknowledgement is lost on its way, so they come
   * again by the ladder.
   */
  loseAcks(count: number): void
  /** A delay in milliseconds before every REST call, on the sandbox's timers; 0 ends it. */
  latency(ms: number): void
  clear(): void
}

export interface FaultCall {
  readonly api: ApiName
  readonly chatId: string | undefined
  readonly body: string
}

export interface FaultScripts extends Faults {
  /** What to do to this call: the summed delay, and the first other action that strikes. */
  takeLostAck(): boolean
  strike(call: FaultCall): { readonly delayMs: number; readonly action: FaultAction | null }
}

export function createFaults(expireToken: () => void): FaultScripts {
  const scripts = new Set<{ readonly fault: Fault; seen: number; struck: number }>()
  let latencyMs = 0
  let acksToLose = 0
  const applies = (fault: Fault, call: FaultCall): boolean =>
    (fault.api === 'any' || fault.api === call.api) &&
    (fault.when?.chatId === undefined || fault.when.chatId === call.chatId) &&
    (fault.when?.contains === undefined || call.body.includes(fault.when.contains))
  return {
    add(fault) {
      const script = { fault, seen: 0, struck: 0 }
      scripts.add(script)
      return () => void scripts.delete(script)
    },
    expireToken,
    loseAcks: (count) => void (acksToLose = count),
    takeLostAck() {
      if (acksToLose <= 0) return false
      acksToLose -= 1
      return true
    },
    latency: (ms) => void (latencyMs = ms),
    clear() {
      scripts.clear()
      latencyMs = 0
      acksToLose = 0
    },
    strike(call) {
      let delayMs = latencyMs
      let action: FaultAction | null = null
      for (const script of scripts) {
        const { fault } = script
        if (!applies(fault, call)) continue
        script.seen += 1
        if (fault.when?.nth !== undefined && script.seen !== fault.when.nth) continue
        if (fault.when?.every !== undefined && script.seen % fault.when.every !== 0) continue
        if (fault.times !== undefined && script.struck >= fault.times) continue
        if (fault.do.kind === 'latency') delayMs += fault.do.ms
        else if (action === null) action = fault.do
        else continue
        script.struck += 1
      }
      return { delayMs, action }
    },
  }
}
