import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import type { SandboxOptions } from './sandbox.js'
import { seedIds, seedSandboxWorld } from './seed.js'
import { serveSandbox } from './serve.js'

/**
 * The sandbox as its own process, for a benchmark or a gateway started elsewhere. Prints one JSON line when it is
 * ready and ends with its parent's signal. Its own clock and ids: nothing of the gateway runs in here.
 *
 * --port N (0 picks one)  --latency MS  --rates on|off  --app-id ID  --app-secret SECRET
 * --events webhook|websocket  --event-url URL  --encrypt-key KEY  --verification-token TOKEN
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    latency: { type: 'string', default: '0' },
    rates: { type: 'string', default: 'on' },
    'app-id': { type: 'string', default: 'cli_a1b2c3d4e5f60718' },
    'app-secret': { type: 'string', default: 'sandbox-secret' },
    events: { type: 'string', default: 'websocket' },
    'event-url': { type: 'string' },
    'encrypt-key': { type: 'string' },
    'verification-token': { type: 'string' },
  },
})

const eventUrl = values['event-url']
if (values.events === 'webhook' && eventUrl === undefined) throw new Error('--events webhook needs --event-url')
const events: SandboxOptions['events'] =
  values.events === 'webhook' && eventUrl !== undefined ? { mode: 'webhook', url: eventUrl } : { mode: 'websocket' }

const { url, sandbox } = await serveSandbox(
  {
    clock: { now: () => Date.now() },
    newId: randomUUID,
    app: {
      appId: values['app-id'],
      appSecret: values['app-secret'],
      ...(values['encrypt-key'] === undefined ? {} : { encryptKey: values['encrypt-key'] }),
      ...(values['verification-token'] === undefined ? {} : { verificationToken: values['verification-token'] }),
    },
    events,
    rates: values.rates !== 'off',
    control: true,
  },
  Number(values.port),
)
seedSandboxWorld(sandbox)
sandbox.faults.latency(Number(values.latency))
process.stdout.write(`${JSON.stringify({ url, ids: seedIds })}\n`)
