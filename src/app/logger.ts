import { pino } from 'pino'
import pretty from 'pino-pretty'
import type { LogFields, Logger } from '../lib/log.js'
import type { Config } from './config.js'

/** Logs go to stderr: stdout belongs to the two lines of `start` and to the CLI's answers. */
export function createLogger(config: Pick<Config, 'logLevel' | 'logFormat'>): Logger & { flush(): void } {
  const format = config.logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json')
  const stream =
    format === 'pretty'
      ? pretty({ destination: 2, sync: true, ignore: 'pid,hostname', colorize: process.stderr.isTTY })
      : pino.destination({ dest: 2, sync: true })
  const log = pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream)
  const line = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string, fields?: LogFields) =>
    log[level](fields ?? {}, message)
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    flush: () => log.flush(),
  }
}
