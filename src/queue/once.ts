import { errorLabel, type LogFields, type Logger } from '../lib/log.js'

/** Writes a line when something begins to fail and one when it works again, not one for each failure between. */
export interface Changes {
  failed(error: unknown, fields?: LogFields): void
  worked(): void
}

export function logChanges(logger: Logger, failing: string, well: string, fixed: LogFields = {}): Changes {
  let bad = false
  return {
    failed(error, fields = {}) {
      if (!bad) logger.warn(failing, { ...fixed, ...fields, error: errorLabel(error) })
      bad = true
    },
    worked() {
      if (bad) logger.info(well, fixed)
      bad = false
    },
  }
}
