import { lstat, mkdir, readFile, readlink, symlink, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionProfile } from '../../collab/audience.js'
import type { CodexDeps } from './options.js'

/** Where the owner's own codex keeps its sign-in. */
export function ownersSignIn(env: Readonly<Record<string, string>>): string | null {
  const home = env['CODEX_HOME'] ?? (env['HOME'] === undefined ? null : join(env['HOME'], '.codex'))
  return home === null ? null : join(home, 'auth.json')
}

/** One for each class of audience: what a confined agent has said and heard is not in the owner's sessions. */
export function homeOf(deps: Pick<CodexDeps, 'homes'>, kind: SessionProfile['kind']): string {
  return join(deps.homes, kind)
}

/**
 * Makes the private CODEX_HOME: sessions of the gateway's own, and the owner's sign-in by reference. The sign-in is
 * never copied, so a renewed one is renewed in its own place, and it is never read here. A file that somebody put in
 * its place, and a `config.toml`, are the operator's.
 *
 * @throws when the folder cannot be made
 */
export async function ensureHome(deps: CodexDeps, kind: SessionProfile['kind']): Promise<string> {
  const home = homeOf(deps, kind)
  await mkdir(home, { recursive: true, mode: 0o700 })
  const [link, target] = [join(home, 'auth.json'), ownersSignIn(deps.env)]
  const present = await lstat(link).catch(() => null)
  if (present?.isSymbolicLink() === true && (await readlink(link)) !== target) await unlink(link)
  else if (present !== null) return home
  if (target !== null && (await exists(target))) await symlink(target, link).catch(ignoreRace)
  return home
}

export type SignIn = 'signed-in' | 'own-provider' | 'none'

/** Is there a sign-in, or a model provider that the operator set up in the private home? Neither is read for its secret. */
export async function signInOf(deps: Pick<CodexDeps, 'homes' | 'env'>, kind: SessionProfile['kind']): Promise<SignIn> {
  const home = homeOf(deps, kind)
  const config = await readFile(join(home, 'config.toml'), 'utf8').catch(() => '')
  if (/^\s*model_provider\s*=/mu.test(config)) return 'own-provider'
  const target = ownersSignIn(deps.env)
  const present = (await exists(join(home, 'auth.json'))) || (target !== null && (await exists(target)))
  return present ? 'signed-in' : 'none'
}

async function exists(path: string): Promise<boolean> {
  const present = await lstat(path).catch(() => null)
  return present !== null
}

/** Two sessions may make the same home at once. */
function ignoreRace(error: unknown): void {
  if ((error as { code?: unknown }).code !== 'EEXIST') throw error
}
