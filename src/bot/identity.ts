import type { BotIdentity } from '../collab/channel.js'
import { errorLabel, type Logger } from '../lib/log.js'
import { MINUTE, SECOND } from '../lib/time.js'
import { Fields } from './ingress/content/read.js'
import type { LarkClient } from './lark-api.js'

export interface IdentityParts {
  readonly client: LarkClient
  readonly log: Logger
  /** From 0 to 1. */
  readonly random: () => number
  readonly onIdentity: (identity: BotIdentity) => void
  readonly firstWaitMs?: number
}

export interface Identity {
  current(): BotIdentity | null
  error(): string | null
  start(): void
  stop(): void
}

/**
 * Asks the platform who we are until it says so (Lark: bot/v3/info, whose answer is not under `data`). Until then no
 * group message is judged.
 */
export function createIdentity(parts: IdentityParts): Identity {
  const { log } = parts
  let current: BotIdentity | null = null
  let error: string | null = 'not asked yet'
  let running = false
  let failures = 0
  let timer: NodeJS.Timeout | undefined

  async function ask(): Promise<void> {
    const answer = await parts.client.call({ api: 'bot.info', method: 'GET', path: '/open-apis/bot/v3/info' })
    if (!running) return
    const bot = new Fields(answer.got === 'reply' ? answer.body : null).object('bot')
    const openId = bot.string('open_id')
    if (answer.got === 'reply' && answer.code === 0 && openId !== '') {
      current = { openId, name: bot.string('app_name') }
      error = null
      log.info('bot identity known')
      parts.onIdentity(current)
      return
    }
    again(
      answer.got === 'nothing'
        ? `${answer.because}${answer.code === null ? '' : ` ${answer.code}`}`
        : `code ${answer.code ?? answer.status}`,
    )
  }

  function again(reason: string): void {
    error = reason
    const wait = Math.min(MINUTE, (parts.firstWaitMs ?? SECOND) * 2 ** Math.min(failures, 16))
    failures += 1
    const waitMs = wait * (0.5 + parts.random() / 2)
    log.warn('bot identity not known yet', { reason, ms: Math.ceil(waitMs) })
    schedule(waitMs)
  }

  function schedule(waitMs: number): void {
    timer = setTimeout(() => {
      ask().catch((fault: unknown) => {
        log.error('bot identity: failed', { error: errorLabel(fault) })
        if (running && current === null) again('failed')
      })
    }, waitMs)
  }

  return {
    current: () => current,
    error: () => error,
    start() {
      if (running || current !== null) return
      running = true
      schedule(0)
    },
    stop() {
      running = false
      clearTimeout(timer)
    },
  }
}
