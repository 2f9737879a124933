import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('the migrations say the same as the tables in src', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lark-manager-drift-'))
  try {
    cpSync(join(root, 'drizzle'), join(folder, 'drizzle'), { recursive: true })
    // The same settings with the copy as their target, so that a difference is written there.
    const ours = pathToFileURL(join(root, 'drizzle', 'config.ts')).pathname
    const out = relative(root, join(folder, 'drizzle'))
    const config = join(folder, 'drift.config.ts')
    writeFileSync(
      config,
      `import ours from ${JSON.stringify(ours)}\nexport default { ...ours, out: ${JSON.stringify(out)} }\n`,
    )
    const kit = join(root, 'node_modules', 'drizzle-kit', 'bin.cjs')
    const args = [kit, 'generate', '--config', relative(root, config), '--name', 'drift']
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
    const journal = readFileSync(join(folder, 'drizzle', 'meta', '_journal.json'), 'utf8')
    expect(journal).toBe(readFileSync(join(root, 'drizzle', 'meta', '_journal.json'), 'utf8'))
    // A rename without a terminal prints an error and ends well, so the sentence itself is asked for.
    expect(stdout).toContain('No schema changes')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
