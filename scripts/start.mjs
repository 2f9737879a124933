// `npm start`: installs what is missing, builds when the sources changed, then starts in this very process, so that
// signals and the exit code need no passing on. stdout is left to the program; all else goes to stderr.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, buildNeeded, prepareModules, requireNode, root } from './prepare.mjs'

requireNode()
const digest = buildNeeded()
prepareModules({ dev: digest !== null })
if (digest !== null) build(digest)

countSignalsOnce()
const main = join(root, 'dist', 'src', 'main.js')
process.argv = [process.execPath, main, 'start', ...process.argv.slice(2)]
await import(pathToFileURL(main).href)

/**
 * Ctrl-C reaches this process twice under npm: from the terminal, and from npm, which passes on what it got itself. The
 * program takes a second signal for "at once", so what follows within a quarter of a second is the same one.
 */
function countSignalsOnce() {
  const emit = process.emit.bind(process)
  const last = new Map()
  process.emit = (name, ...rest) => {
    if (name === 'SIGINT' || name === 'SIGTERM') {
      const now = performance.now()
      const before = last.get(name)
      if (before !== undefined && now - before < 250) return true
      last.set(name, now)
    }
    return emit(name, ...rest)
  }
}
