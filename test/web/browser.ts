import { serve } from '@hono/node-server'
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { chromium, type Browser } from 'playwright-core'
import type { Web } from '../../src/web/server.js'

const executablePath = '/usr/bin/chromium'

/** Why tests with a browser cannot run here, or null. In CI the absence is a failure. */
export const chromiumMissing: string | null = existsSync(executablePath)
  ? null
  : 'chromium is not installed: apt-get install --no-install-recommends chromium fonts-noto-cjk'

if (chromiumMissing !== null && process.env['CI'] === 'true') throw new Error(chromiumMissing)

export const launch = (): Promise<Browser> => chromium.launch({ executablePath, args: ['--no-sandbox'] })

/** Serves the door on a free port; its public address is known before it exists. */
export async function listening(
  make: (publicUrl: string) => Web,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  let web: Web | null = null
  const server = serve({
    fetch: (request: Request) => web?.fetch(request) ?? new Response(null, { status: 503 }),
    port: 0,
    hostname: '127.0.0.1',
  })
  await new Promise<void>((resolve) => server.once('listening', () => resolve()))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  web = make(url)
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        if ('closeAllConnections' in server) server.closeAllConnections()
      }),
  }
}
