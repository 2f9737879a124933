import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const binary = ['redis-server', 'valkey-server']
  .flatMap((name) => (process.env['PATH'] ?? '').split(':').map((folder) => join(folder, name)))
  .find((file) => existsSync(file))

/**
 * Why tests with Redis cannot run here, or null: `describe.skipIf(redisMissing !== null)`. In CI the absence is a
 * failure, so this file throws there.
 */
export const redisMissing: string | null =
  binary === undefined ? 'redis-server is not installed: apt-get install --no-install-recommends redis-server' : null

if (redisMissing !== null && process.env['CI'] === 'true') throw new Error(redisMissing)

export interface TestRedis {
  readonly url: string
  readonly port: number
  /** Ends it at once, as a crash would; what it held is gone. */
  kill(): Promise<void>
  /** Starts it again, empty, on the same port. */
  start(): Promise<void>
  /** Removes every key. */
  wipe(): Promise<void>
  stop(): Promise<void>
}

/** A Redis of one's own on a free port of 127.0.0.1, without persistence, with the eviction policy BullMQ asks for. */
export async function startRedis(): Promise<TestRedis> {
  const program = binary
  if (program === undefined) throw new Error(redisMissing ?? 'redis-server is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'lark-manager-redis-'))
  const port = await freePort()
  let child: ChildProcess | null = null

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const running = child
    child = null
    if (running === null || running.exitCode !== null || running.signalCode !== null) return
    const ended = once(running, 'exit')
    running.kill(signal)
    await ended
  }
  const start = async (): Promise<void> => {
    if (child !== null) return
    const settings = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
    child = spawn(program, [...settings, '--maxmemory-policy', 'noeviction'].map(String), { stdio: 'ignore' })
    await untilReady(port, child)
  }

  // A worker that ends without `stop` must not leave a server behind.
  process.once('exit', () => child?.kill('SIGKILL'))
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    start,
    kill: () => end('SIGKILL'),
    wipe: async () => {
      if ((await command(port, 'FLUSHALL')) !== '+OK') throw new Error('redis did not remove its keys')
    },
    stop: async () => {
      await end('SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function untilReady(port: number, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + 10_000
  while (performance.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('redis-server ended while it started')
    if ((await command(port, 'PING').catch(() => '')) === '+PONG') return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('redis-server was not ready within 10 s')
}

/** One inline command; gives the first line of the answer. */
function command(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${line}\r\n`))
    socket.setTimeout(5_000, () => socket.destroy(new Error('redis did not answer')))
    socket.once('error', reject)
    socket.once('data', (answer) => {
      socket.end()
      resolve(answer.toString('utf8').split('\r\n')[0] ?? '')
    })
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
}
