import { describe, expect, test } from 'vitest'
import { clientFor } from '../../src/app/client.js'
import { readEnv } from '../../src/app/env.js'
import { runCli } from '../../src/cli/main.js'

describe('the address that the command line is given', () => {
  const run = async (env: Record<string, string>, ...argv: string[]) => {
    let err = ''
    let asked = ''
    const io = clientFor(readEnv({ DATA_DIR: '/nonexistent', ...env }))
    const code = await runCli(argv, {
      ...io,
      stdout: () => {},
      stderr: (text) => void (err += text),
      fetch: (url) => {
        asked = url
        return Promise.reject(new Error('away'))
      },
    })
    return { code, err, asked }
  }

  test.each(['notaurl', 'ftp://host', 'http://:80', 'http://host:port', 'postgres://lark:hunter2@db'])(
    'a wrong one is a wrong call, and is not repeated: %s',
    async (url) => {
      for (const ended of [
        await run({}, '--url', url, 'request', 'list'),
        await run({ PUBLIC_URL: url }, 'agent', 'list'),
      ]) {
        expect(ended).toMatchObject({ code: 2, asked: '' })
        expect(ended.err).toMatch(/--url or PUBLIC_URL/)
        expect(ended.err).not.toContain(url)
      }
    },
  )

  test('a right one is asked; without one, host and port', async () => {
    const named = await run({}, '--url', 'https://manager.example.com/', 'request', 'list')
    expect(named).toMatchObject({ code: 3 })
    expect(named.asked).toMatch(/^https:\/\/manager\.example\.com\/api\/v1\/requests/)
    expect((await run({ HOST: '', PORT: '' }, 'request', 'list')).asked).toMatch(/^http:\/\/127\.0\.0\.1:3000\//)
  })
})
