import { lstat, mkdir, readlink, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { confinedEnv } from '../confine/confiner.js'
import { MARK } from '../marked.js'
import { openAsItself } from '../own-file.js'
import type { ClaudeDeps } from './options.js'

/**
 * Switches of the program: no traffic but to the model, no update of itself, no commands that outlive their turn, and no
 * notes that pass from one conversation to another.
 *
 * @source code.claude.com/docs/en/env-vars; each was seen to work in test/runtime/claude*.test.ts or in docs/runtimes.md
 */
const switches = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  CLAUDE_CODE_DISABLE_CRON: '1',
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  // Each command begins in the workspace: what was allowed for good means the same wherever the last one went.
  CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR: '1',
  // About 8 s of waiting: a short fault passes by itself, a longer one is told. Its own 10 are three minutes of silence.
  CLAUDE_CODE_MAX_RETRIES: '4',
} as const

/** The folder in which the owner's sessions here and the program's own state are, apart from the owner's own `claude`. */
export const configFolder = (homes: string): string => join(homes, 'owner')

const temporaryFolder = (folder: string): string => join(folder, 'tmp')

/** Keys that the program also reads from a file descriptor, and the variables that name it. */
const descriptors: Readonly<Record<string, string>> = {
  ANTHROPIC_API_KEY: 'CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR',
  CLAUDE_CODE_OAUTH_TOKEN: 'CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR',
}

/**
 * The whole environment of one process, and by inheritance of the agent's commands; and the key, where the program can
 * be given it in another way, on its file descriptor 3.
 *
 * @param home of a confined session, which has it for all that it keeps; null: the owner's
 */
export function environmentOf(
  settings: Pick<ClaudeDeps, 'env' | 'credential' | 'homes'>,
  mark: string,
  home: string | null,
): { readonly env: Readonly<Record<string, string>>; readonly secret: string | null } {
  const env: Record<string, string> = {
    ...switches,
    ...(home === null ? settings.env : confinedEnv(settings.env, home)),
    ...settings.credential,
    CLAUDE_CONFIG_DIR: home ?? configFolder(settings.homes),
    // Outputs of commands go there: the system's folder is open to every user of the machine.
    CLAUDE_CODE_TMPDIR: temporaryFolder(home ?? configFolder(settings.homes)),
    [MARK]: mark,
  }
  for (const [name, descriptor] of Object.entries(descriptors)) {
    const { [name]: secret, ...rest } = env
    if (secret !== undefined) return { env: { ...rest, [descriptor]: '3' }, secret }
  }
  return { env, secret: null }
}

/** Makes the folder of a confined session; no sign-in is linked there, for its commands could read it. */
export async function prepareConfinedHome(home: string): Promise<void> {
  await mkdir(temporaryFolder(home), { recursive: true, mode: 0o700 })
}

/**
 * Makes the private folder. The owner's sign-in is reused by a link to where the owner's own `claude` keeps it: it is
 * neither read nor copied by us, and signing in or out there is signing in or out here. With a credential of its own
 * the runtime gets no link.
 */
export async function prepareHome(settings: ClaudeDeps): Promise<void> {
  const folder = configFolder(settings.homes)
  await mkdir(temporaryFolder(folder), { recursive: true, mode: 0o700 })
  const place = join(folder, '.credentials.json')
  const target = Object.keys(settings.credential).some(isCredential) ? null : ownersSignIn(settings.env)
  const present = await lstat(place).catch(() => null)
  // A file of its own: somebody signed in with this very folder.
  if (present !== null && !present.isSymbolicLink()) return
  if (present !== null && (await readlink(place)) === target) return
  await rm(place, { force: true })
  if (target === null) return
  await symlink(target, place).catch((error: unknown) => {
    // Another gateway on the same folder was faster.
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error
  })
}

export type SignIn = 'key' | 'signed-in' | 'unseen' | 'none'

/** Is there a sign-in, as far as can be seen without reading one? */
export async function signInOf(settings: Pick<ClaudeDeps, 'homes' | 'env' | 'credential'>): Promise<SignIn> {
  if (Object.keys(settings.credential).some(isCredential)) return 'key'
  // Elsewhere the system's own keychain holds it.
  if (process.platform !== 'linux') return 'unseen'
  const own = await lstat(join(configFolder(settings.homes), '.credentials.json')).catch(() => null)
  if (own !== null && !own.isSymbolicLink()) return 'signed-in'
  const target = ownersSignIn(settings.env)
  return target !== null && (await lstat(target).catch(() => null)) !== null ? 'signed-in' : 'none'
}

/** Of the variables that only this runtime gets: those that sign in. */
export const isCredential = (name: string): boolean => /KEY|TOKEN/u.test(name)

/** Where the owner's own `claude` keeps its sign-in; null when no home is known. */
export function ownersSignIn(env: Readonly<Record<string, string>>): string | null {
  const folder = env['CLAUDE_CONFIG_DIR'] ?? (env['HOME'] === undefined ? undefined : join(env['HOME'], '.claude'))
  return folder === undefined ? null : join(folder, '.credentials.json')
}

/** Bytes of a workspace's instructions that are given to the model. */
const LONGEST_INSTRUCTIONS = 64 * 1024

/**
 * What the workspace's AGENTS.md says. The program itself reads no settings and no instructions of any folder, so they
 * are handed over with the system prompt. A link is not followed: the agent can put one there, and we read with the
 * gateway's rights.
 */
export async function instructionsIn(workspace: string): Promise<string> {
  try {
    const path = join(workspace, 'AGENTS.md')
    if (!(await lstat(path)).isFile()) return ''
    const file = await openAsItself(path)
    try {
      const buffer = Buffer.alloc(LONGEST_INSTRUCTIONS)
      const { bytesRead } = await file.read(buffer, 0, LONGEST_INSTRUCTIONS, 0)
      return buffer.subarray(0, bytesRead).toString('utf8')
    } finally {
      await file.close()
    }
  } catch {
    return ''
  }
}
