import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What the recording agent wrote of one prompt. */
export interface RecordedPrompt {
  readonly text: string
  /** Types of the content blocks, in order. */
  readonly kinds: readonly string[]
  /** The files named in it; a size in bytes, or null when nothing is there. */
  readonly files: readonly { readonly path: string; readonly size: number | null }[]
}

/** The program itself, for `node`. */
export const recordingAgent = fileURLToPath(new URL('recording-agent.mjs', import.meta.url))

/** The environment that makes a gateway hand its turns to the recording agent. */
export const recordingEnv = { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: `"${process.execPath}" "${recordingAgent}"` }

/**
 * The same agent, which answers prompt n only when no file `hold-n` is in this folder. It is installed there, in an
 * environment of its own: confined, it sees the folder as its installation.
 */
export function heldRecordingEnv(folder: string): typeof recordingEnv {
  const program = join(folder, 'agent.mjs')
  copyFileSync(recordingAgent, program)
  writeFileSync(join(folder, 'pyvenv.cfg'), '')
  return { ...recordingEnv, MANAGER_COMMAND: `"${process.execPath}" "${program}" "${folder}"` }
}

/** Everything that the agents of a gateway were handed, in order within a lane. */
export function recordedPrompts(dataDir: string): readonly RecordedPrompt[] {
  const workspaces = join(dataDir, 'workspaces')
  if (!existsSync(workspaces)) return []
  return readdirSync(workspaces, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('prompts.jsonl'))
    .flatMap((path) => readFileSync(join(workspaces, path), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RecordedPrompt)
}
