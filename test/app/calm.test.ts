import { describe, expect, test } from 'vitest'
import { calmProblem, databaseProblem } from '../../src/app/calm.js'

const coded = (message: string, fields: object) => Object.assign(new Error(message), fields)
const refused = coded('connect ECONNREFUSED 127.0.0.1:5432', { code: 'ECONNREFUSED' })

describe('a database that cannot be reached', () => {
  test('is told with its code, the variable and what to do', () => {
    expect(databaseProblem(refused, 'DATABASE_URL')).toBe(
      'cannot reach the database (ECONNREFUSED): start it or correct DATABASE_URL',
    )
  })

  test('is recognised inside of what the libraries make of it', () => {
    const wrapped = new Error('Failed query: select 1\nparams: secret', { cause: refused })
    const many = new AggregateError([refused, refused])
    for (const error of [wrapped, many]) expect(databaseProblem(error, 'DATABASE_URL')).toContain('(ECONNREFUSED)')
    const password = coded('password authentication failed for user "lark"', { code: '28P01' })
    expect(databaseProblem(password, 'DATABASE_DIRECT_URL')).toMatch(/\(28P01\).*DATABASE_DIRECT_URL$/)
  })

  test('is not what every error is taken for', () => {
    for (const error of [new Error('x'), coded('x', { code: '42P01' }), null, 'x'])
      expect(databaseProblem(error, 'DATABASE_URL')).toBeNull()
  })
})

describe('an error that nobody expected', () => {
  const dataDir = '/srv/private/data'

  test.each([dataDir, `${dataDir}/lock.json`, '/srv/private'])(
    'in or above the data folder is about DATA_DIR',
    (path) => {
      const error = coded(`EACCES: permission denied, open '${path}'`, { code: 'EACCES', path })
      expect(calmProblem(error, dataDir)).toBe(
        'cannot use DATA_DIR (EACCES): it must name a folder in which this user may write',
      )
    },
  )

  test('in another folder names no folder', () => {
    const path = '/srv/other/file'
    const told = calmProblem(coded(`ENOENT: no such file, open '${path}'`, { code: 'ENOENT', path }), dataDir)
    expect(told).toBe('cannot use a file that is needed (ENOENT)')
  })

  test('is one line without a stack, a path or an address', () => {
    const error = new Error(
      "no way to postgres://lark:secret@db/lark from '/srv/private/x.js'\n    at /srv/private/x.js",
    )
    expect(calmProblem(error, dataDir)).toBe("Error: no way to … from '…'")
    expect(calmProblem('text', dataDir)).toBe('unknown error')
  })

  test('keeps what the reason says', () => {
    const reason = 'no Postgres found: run `npm ci`, or set DATABASE_URL'
    expect(calmProblem(new Error(reason), dataDir)).toBe(`Error: ${reason}`)
  })
})
