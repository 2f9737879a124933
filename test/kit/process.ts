import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { until, type Platform } from './platform.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A gateway as its owner runs it: `src/main.ts start` in a process of its own, on the platform's database and sandbox. */
export interface GatewayProcess {
  /** Where it listens; changes with every start. */
  readonly url: string
  readonly pid: number
  /** Everything it has written to stderr since it was first started. */
  log(): string
  /** Stops it where it stands, as a blocked event loop does, until `resume`. */
  pause(): void
  resume(): void
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>
  /** Starts it again when it has ended. */
  start(): Promise<void>
  /** Asks it to end; the exit code. */
  stop(): Promise<number | null>
}

/**
 * Starts one and waits until it is ready. A caller that is done calls `kill` or `stop`.
 *
 * @param second it works beside another one, which holds the connection to the platform: it is never ready by itself
 */
export async function startProcess(platform: Pick<Platform, 'env'>, second = false): Promise<GatewayProcess> {
  let child: ChildProcess | null = null
  let url = ''
  let log = ''
  process.once('exit', () => child?.kill('SIGKILL'))

  const start = async (): Promise<void> => {
    if (child !== null) return
    const begun = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts', 'start'], {
      cwd: root,
      env: platform.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child = begun
    let out = ''
    begun.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')))
    begun.stderr.on('data', (chunk: Buffer) => (log += chunk.toString('utf8')))
    const ready = await until(
      () => {
        if (begun.exitCode !== null) throw new Error(`the gateway ended with ${begun.exitCode}:\n${log.slice(-2_000)}`)
        return begun.signalCode !== null ? ['', ''] : /^ready (\S+)$/m.exec(out)
      },
      'the ready line',
      40_000,
    )
    url = ready[1] ?? ''
    if (second) return
    // Ready to serve; the platform's next push would come 15 s later if it found no connection now.
    await until(async () => (await fetch(`${url}/readyz`)).ok, 'readiness').catch(async (error: Error) => {
      const standing = await (await fetch(`${url}/readyz`)).text()
      throw new Error(`${error.message}: ${standing}\n${log.slice(-3_000)}`)
    })
  }
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    const running = child
    child = null
    if (running === null) return null
    if (running.exitCode !== null || running.signalCode !== null) return running.exitCode
    const ended = once(running, 'exit')
    running.kill(signal)
    await ended
    return running.exitCode
  }

  await start()
  return {
    get url() {
      return url
    },
    get pid() {
      return child?.pid ?? 0
    },
    log: () => log,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    kill: async () => void (await end('SIGKILL')),
    start,
    stop: () => end('SIGTERM'),
  }
}
