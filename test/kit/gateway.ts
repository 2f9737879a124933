import { configOf, type Config } from '../../src/app/config.js'
import { readEnv } from '../../src/app/env.js'
import { startGateway, type Gateway } from '../../src/app/gateway.js'
import { silentLogger, type Logger } from '../../src/lib/log.js'
import type { ServedSandbox } from '../../src/sandbox/serve.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import type { Db } from '../../src/stores/db.js'
import { openPlatform, until, type Platform, type PlatformOptions } from './platform.js'

export { APP_ID, TOKEN, until } from './platform.js'

export interface TestGateway extends Platform {
  readonly gateway: Gateway
  /** With the operator's token. */
  api(path: string, init?: RequestInit): Promise<Response>
  /** Stops the gateway and starts another one on the same database and sandbox. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export interface TestGatewayOptions extends PlatformOptions {
  readonly logger?: Logger
  /** Runs before the gateway starts. */
  readonly before?: (served: ServedSandbox, db: Db) => Promise<void> | void
}

/**
 * A whole gateway in this process on a database of its own, against a sandbox served over real HTTP and WebSocket.
 * Alice is bound as the owner.
 */
export async function testGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const platform = await openPlatform(options)
  const { token, dataDir } = platform
  await options.before?.(platform.served, platform.db)
  const env = readEnv(platform.env)
  const config = checked(configOf(env, 'all'))
  const log = options.logger ?? silentLogger
  const begin = async (): Promise<Gateway> => {
    const holder = { path: dataDir, installation: `test-${dataDir}`, release: () => {} }
    const outcome = await startGateway(config, env, holder, log)
    if (!outcome.ok) throw new Error(outcome.problem)
    await until(async () => (await fetch(`${outcome.gateway.url}/readyz`)).ok, 'readiness')
    return outcome.gateway
  }
  let gateway = await begin()
  return {
    ...platform,
    get gateway() {
      return gateway
    },
    api: (path, init = {}) =>
      fetch(`${gateway.url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
      }),
    async restart() {
      await gateway.stop()
      gateway = await begin()
    },
    async stop() {
      await gateway.stop()
      await platform.close()
    },
  }
}

function checked(outcome: ReturnType<typeof configOf>): Config {
  if (!outcome.ok) throw new Error(outcome.problems.join('\n'))
  return outcome.config
}

/** The readable text of a message of ours, whatever its type. */
export function textOf(message: WorldMessage): string {
  return message.content
}
