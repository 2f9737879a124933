import type { Logger } from '../lib/log.js'

/** What the SDK calls; it hands over lists of anything, bodies and addresses with tickets among them. */
export interface SdkLogger {
  error(...words: unknown[]): void
  warn(...words: unknown[]): void
  info(...words: unknown[]): void
  debug(...words: unknown[]): void
  trace(...words: unknown[]): void
}

/**
 * Lets through only the SDK's own short sentences on faults. Its lower levels print whole events and the connection's
 * address with its ticket, and an error object holds the request with the app secret.
 */
export function sdkLogger(log: Logger): SdkLogger {
  const say = (level: 'warn' | 'error', words: unknown[]): void => {
    log[level]('lark sdk', { reason: sentence(words) })
  }
  const nothing = (): void => {}
  return {
    error: (...words) => say('error', words),
    warn: (...words) => say('warn', words),
    info: nothing,
    debug: nothing,
    trace: nothing,
  }
}

function sentence(words: unknown[]): string {
  return words
    .flat(2)
    .filter((word) => typeof word === 'string')
    .join(' ')
    .replace(/\w+:\/\/\S+/g, '(address)')
    .replace(/(\{|\[["{])[^]*$/, '(data)')
    .slice(0, 160)
}
