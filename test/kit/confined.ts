import { execFileSync } from 'node:child_process'
import { createConfiner, type Confiner } from '../../src/runtime/confine/confiner.js'

/** Can whole processes be confined on this machine? Tests that need it are skipped, and counted, where not. */
export const hasBwrap = ((): boolean => {
  try {
    execFileSync('bwrap', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

export const confinerIn = (dataDir: string, home: string | null = null, path = process.env['PATH']): Confiner =>
  createConfiner({ searchPath: path, dataDir, home })
