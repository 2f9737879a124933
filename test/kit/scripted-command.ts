import { rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { must } from '../../src/lib/assert.js'
import { sha256 } from '../../src/lib/digest.js'

/** The scripted ACP agent as one plain file, so that a test can start it in a moment and with any environment. */
async function bundle(): Promise<string> {
  const entry = fileURLToPath(new URL('scripted-acp-agent.ts', import.meta.url))
  const built = await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: { ssr: entry, write: false, target: 'node20', minify: false },
  })
  const output = 'output' in built ? built : must(Array.isArray(built) ? built[0] : undefined, 'the bundle')
  const code = output.output[0].code
  const path = join(tmpdir(), `scripted-acp-agent-${sha256(code).slice(0, 16)}.mjs`)
  // Several test files may do this at once; each moves a whole file into the same place.
  await writeFile(`${path}.${process.pid}`, code)
  await rename(`${path}.${process.pid}`, path)
  return path
}

/** Gives command lines (MANAGER_COMMAND) that start the scripted agent with the given flags. */
export async function scriptedAgent(): Promise<(...flags: readonly string[]) => string> {
  const path = await bundle()
  return (...flags) => [process.execPath, path, ...flags].map((word) => `"${word}"`).join(' ')
}
