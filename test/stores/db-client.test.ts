import { describe, expect, test } from 'vitest'
import { silentLogger, type Logger } from '../../src/lib/log.js'
import { openClient } from '../../src/stores/client.js'
import { isConnectionLost, sqlState } from '../../src/stores/db.js'

/** Nothing is connected until the first statement, so these need no server. */
const open = (url: string, logger: Logger = silentLogger) => openClient({ url, max: 3, logger, name: 'probe' })

describe('the settings of a client', () => {
  test('with a pooler nothing depends on the session, and the mark itself is not sent', () => {
    const { options } = open('postgres://u:p@db.example/x?pgbouncer=true&sslmode=require')
    expect(options).toMatchObject({ prepare: false, ssl: 'require', connection: { application_name: 'probe' } })
    expect(Object.keys(options.connection ?? {})).toEqual(['application_name'])
  })

  test('without one, statements are prepared and a forgotten transaction is ended by the server', () => {
    const { options } = open('postgres://u:p@db.example/x')
    expect(options).toMatchObject({ prepare: true, connection: { idle_in_transaction_session_timeout: 60_000 } })
  })

  test('a lost server is tried again within half a second, however often it was', () => {
    const { options } = open('postgres://u:p@db.example/x')
    const backoff = options.backoff as unknown as (attempt: number) => number
    for (const attempt of [1, 10, 1_000]) {
      expect(backoff(attempt)).toBeGreaterThanOrEqual(0.2)
      expect(backoff(attempt)).toBeLessThanOrEqual(0.5)
    }
  })

  test('a notice of the server is logged by its code, never by its text and never on stdout', () => {
    const lines: unknown[] = []
    const logger: Logger = { ...silentLogger, debug: (message, fields) => lines.push([message, fields]) }
    const { options } = open('postgres://u:p@db.example/x', logger)
    options.onnotice?.({ code: '42P07', message: 'private' })
    expect(lines).toEqual([['database notice', { code: '42P07' }]])
  })
})

describe('reading an error of the database', () => {
  const coded = (code: string, cause?: unknown) => Object.assign(new Error('x', { cause }), { code })

  test('its state is found below what wraps it', () => {
    expect(sqlState(new Error('Failed query', { cause: coded('23505') }))).toBe('23505')
    expect(sqlState(coded('CONNECTION_CLOSED'))).toBeNull()
    expect(sqlState('23505')).toBeNull()
  })

  test('a lost connection is told from an answer of the server', () => {
    for (const code of ['CONNECTION_CLOSED', 'CONNECT_TIMEOUT', 'ECONNREFUSED', '57P01', '57P03', '08006'])
      expect(isConnectionLost(new Error('Failed query', { cause: coded(code) }))).toBe(true)
    for (const code of ['23505', '40001', 'ENOENT']) expect(isConnectionLost(coded(code))).toBe(false)
  })
})
