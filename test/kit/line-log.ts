import type { LogFields, Logger } from '../../src/lib/log.js'

/** Keeps every line, of every level, as the text that would be written. */
export function lineLog(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = []
  const write =
    (level: string) =>
    (message: string, fields: LogFields = {}): void =>
      void lines.push(JSON.stringify({ level, ...fields, message }))
  const log: Logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
  return { log, lines }
}
