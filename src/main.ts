#!/usr/bin/env node
import { readEnv } from './app/env.js'
import { ownCommands } from './app/own-commands.js'

/** The roof keeps `start`, `migrate` and `setup`; every other word goes to the command line, an HTTP client. */
const env = readEnv()
const argv = process.argv.slice(2)
process.exitCode = ownCommands.has(argv[0] ?? '') ? await own(argv) : await client(argv)
// Open handles of libraries must not keep a stopped process alive.
if (ownCommands.has(argv[0] ?? '')) process.exit()

async function own(words: readonly string[]): Promise<number> {
  const { runOwn } = await import('./app/commands.js')
  return await runOwn(words, env)
}

async function client(words: readonly string[]): Promise<number> {
  const { runCli } = await import('./cli/main.js')
  const { clientFor } = await import('./app/client.js')
  return await runCli(words, clientFor(env))
}
