import { readFile, writeFile } from 'node:fs/promises'
import type { CliFiles, CliIo } from '../cli/io.js'
import { newId } from './chance.js'
import { readKept } from './data-dir.js'
import type { Env } from './env.js'

/** What the command line needs: where the gateway is, a token, a terminal. */
export function clientFor(env: Env): CliIo {
  return {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    env: {
      url: gatewayUrl(env),
      token: env.secrets.ADMIN_TOKEN ?? kept(env, 'admin-token') ?? '',
      agentToken: env.agentToken,
      lang: env.language,
    },
    stdio: { input: process.stdin, output: process.stdout },
    fetch: (url, init) => fetch(url, init),
    files,
    newId,
  }
}

const files: CliFiles = {
  read: (path) => readFile(path).catch(() => null),
  write: (path, bytes) =>
    writeFile(path, bytes, { flag: 'wx', mode: 0o600 }).then(
      () => 'written' as const,
      (error: NodeJS.ErrnoException) => (error.code === 'EEXIST' ? 'exists' : 'failed'),
    ),
}

/** Where it was told to be, or where the gateway of this DATA_DIR says that it is. */
function gatewayUrl(env: Env): string {
  if (env.values.publicUrl !== '') return env.values.publicUrl
  return kept(env, 'url') ?? `http://${env.values.host}:${env.values.port}`
}

/** A gateway on this machine leaves its address and its loopback token in DATA_DIR, readable by its own user only. */
const kept = (env: Env, name: 'url' | 'admin-token'): string | null => readKept(env.values.dataDir, name)
