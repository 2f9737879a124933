/**
 * What a log line may carry. Ids, codes, counts and durations; never a message body, a token or a private path.
 * The names are fixed so that a search over the logs finds every line of one exchange.
 */
export interface LogFields {
  readonly eventId?: string
  readonly requestId?: string
  readonly deliveryId?: string
  readonly messageId?: string
  readonly chatId?: string
  readonly turnId?: string
  readonly queue?: string
  readonly jobId?: string
  readonly code?: number | string
  readonly reason?: string
  readonly api?: string
  readonly logId?: string
  readonly count?: number
  readonly ms?: number
  readonly error?: string
}

export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** The name and first line of an error, never its config, request or stack: those can hold bodies and tokens. */
export function errorLabel(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  const code = (error as { code?: unknown }).code
  const label = typeof code === 'string' || typeof code === 'number' ? `${error.name} ${code}` : error.name
  return `${label}: ${error.message.split('\n', 1)[0]?.slice(0, 200) ?? ''}`
}
