import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

test('the sandbox runs as its own process and says where it is in one line', async () => {
  const main = fileURLToPath(new URL('../../src/sandbox/main.ts', import.meta.url))
  const args = ['--import', 'tsx', main, '--port', '0', '--rates', 'off', '--app-id', 'cli_0000000000000001']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill())
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)))
  })
  const { url, ids } = JSON.parse(line) as { url: string; ids: { dm: string; alice: string } }
  const token = await fetch(`${url}/open-apis/auth/v3/tenant_access_token/internal`, {
    method: 'POST',
    body: JSON.stringify({ app_id: 'cli_0000000000000001', app_secret: 'sandbox-secret' }),
  })
  expect(await token.json()).toMatchObject({ code: 0, expire: 7_200 })
  const body = JSON.stringify({ chatId: ids.dm, from: ids.alice, text: 'hi' })
  const said = (await (await fetch(`${url}/sandbox/say`, { method: 'POST', body })).json()) as { id: string }
  const stats = (await (await fetch(`${url}/sandbox/stats`)).json()) as { reactions: object }
  expect(Object.keys(stats.reactions)).toEqual([said.id])
})
