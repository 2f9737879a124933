import { lstat, realpath } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { OperationUse, ResourceUse } from '../collab/grant.js'
import { normalHost, stepsOf, type Effect } from '../collab/grant-scope.js'
import { storableText } from '../lib/storable.js'

/** What a runtime names by kind, before anybody has looked at the disk. */
export type Named =
  | { readonly effect: Extract<Effect, 'read' | 'write' | 'execute'>; readonly path: string | null }
  | { readonly effect: 'network'; readonly host: string }

/** Steps of a path that is looked at; what is deeper is not looked for. */
const DEEPEST = 200

/**
 * What an operation would do, with every path as it really is: links are followed as far as something exists, and what
 * does not exist yet lies below that. A path that cannot be resolved stays unresolved, and nothing covers it.
 *
 * Looked up when the agent asks. What changes on the disk between the answer and the act is not seen: a grant counts
 * where nobody else moves links below it (docs/runtimes.md).
 *
 * @param base where a relative path begins: the folder in which the agent works
 * @returns null when nothing is named
 */
export async function useOf(named: readonly Named[], base: string): Promise<OperationUse | null> {
  const host = hostname()
  const uses = await Promise.all(
    named.map(async (one): Promise<readonly ResourceUse[]> => {
      const { effect } = one
      if (effect === 'network') return [{ effect, resource: { kind: 'network', host: one.host } }]
      const paths = one.path === null ? [null] : await realOf(one.path, base)
      return paths.map((path) => ({ effect, resource: { kind: 'path', host, path } }))
    }),
  )
  const [first, ...rest] = uses.flat()
  return first === undefined ? null : [first, ...rest]
}

/** Where a path really is. A link is a place of its own beside the one to which it leads: both are touched. */
async function realOf(path: string, base: string): Promise<readonly (string | null)[]> {
  const whole = isAbsolute(path) ? path : join(base, path)
  // `..` behind a link leads elsewhere than it reads: only a path without it is looked at.
  if (path === '' || path.split('/').includes('..') || stepsOf(whole) === null) return [null]
  const target = await follow(whole)
  if (target === null || !(await isLink(whole))) return [target]
  const folder = await follow(dirname(whole))
  return [target, folder === null ? null : join(folder, basename(whole))]
}

/** The nearest thing that exists, without links, and below it what does not exist yet. */
async function follow(path: string): Promise<string | null> {
  const missing: string[] = []
  for (let here = path, n = 0; n < DEEPEST; here = dirname(here), n++) {
    try {
      const real = join(await realpath(here), ...missing)
      return storableText(real) === real ? real : null
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ENOENT' || here === dirname(here)) return null
      // A link to what does not exist is there, and would be followed by whoever writes.
      if (await isLink(here)) return null
      missing.unshift(basename(here))
    }
  }
  return null
}

async function isLink(path: string): Promise<boolean> {
  return await lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  )
}

/** The host of an address on the web; null for anything else. */
export function hostOf(url: unknown): string | null {
  if (typeof url !== 'string') return null
  try {
    const { protocol, hostname: host } = new URL(url)
    return protocol === 'http:' || protocol === 'https:' ? normalHost(host) : null
  } catch {
    return null
  }
}
