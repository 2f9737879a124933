import { storableText } from '../lib/storable.js'
import type { AgentId, TextDigest } from './refs.js'

/** What an effect does to the thing it is about (RFC §5.3). */
export const effects = ['read', 'write', 'execute', 'network', 'delegate', 'publish', 'administer'] as const
export type Effect = (typeof effects)[number]

/**
 * What a permission is about. `operation` is one exact sentence of a runtime with whatever it does; every other scope is
 * matched against what the runtime names by kind.
 */
export type Scope =
  | { readonly kind: 'operation'; readonly digest: TextDigest }
  /** Everything below one directory of one host, and the directory itself. */
  | { readonly kind: 'path'; readonly host: string; readonly prefix: string }
  /** One host of the network by its exact name; `*.name` for every name below it, but not for itself. */
  | { readonly kind: 'network'; readonly host: string }
  | { readonly kind: 'goal'; readonly goal: string }
  | { readonly kind: 'chat'; readonly chat: string }
  | { readonly kind: 'agent'; readonly agent: AgentId }

/** Which effects a scope can have at all; an exact operation has no list, it is allowed as it stands. */
const possible: Readonly<Record<Scope['kind'], readonly Effect[]>> = {
  operation: [],
  path: ['read', 'write', 'execute'],
  network: ['network'],
  goal: ['read', 'write', 'administer'],
  chat: ['read', 'publish', 'administer'],
  agent: ['read', 'delegate', 'administer'],
}

export function isPossible(scope: Scope, wanted: readonly Effect[]): boolean {
  if (scope.kind === 'operation') return wanted.length === 0
  return wanted.length > 0 && wanted.every((effect) => possible[scope.kind].includes(effect))
}

/** A thing that is about to be acted on. A path that could not be resolved is null: nothing covers it. */
export type Resource =
  /** Absolute and real: every link of it was followed by whoever looked at the disk. */
  | { readonly kind: 'path'; readonly host: string; readonly path: string | null }
  | Exclude<Scope, { kind: 'operation' | 'path' }>

/** Characters of one name; of a path as long as Linux takes. */
const LONGEST = 4_096
/** Cannot be seen, or turn the reading direction: a name with one of them is another than it looks. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/**
 * The steps of an absolute path; null for one that is not absolute or goes up. Nothing is decoded, folded or composed:
 * two spellings are two paths, and a path that a file system would take for the same is at worst not covered.
 */
export function stepsOf(path: string): readonly string[] | null {
  if (!path.startsWith('/') || path.includes('\0') || path.length > LONGEST) return null
  const steps = path.split('/').filter((step) => step !== '' && step !== '.')
  return steps.includes('..') ? null : steps
}

/**
 * A host as it is compared: lower case, punycode, numbers of an address in their usual form. Null for what is more than
 * a host (a port, a user, a path), or no host.
 */
export function normalHost(host: string): string | null {
  const v6 = /^\[[0-9a-f:.]+\]$/iu.test(host)
  if (host === '' || host.length > 253 || hidden.test(host) || (!v6 && /[\s/\\?#@:%[\]*]/u.test(host))) return null
  try {
    const name = new URL(`http://${host}`).hostname
    return name === '' || name.endsWith('.') ? null : name
  } catch {
    return null
  }
}

/** Only what is asked for by its own sign has everything below it; the whole net and a top level never. */
function hostPattern(host: string): string | null {
  if (!host.startsWith('*.')) return normalHost(host)
  const name = normalHost(host.slice(2))
  return name === null || !name.includes('.') || /^[\d.]+$/u.test(name) || name.startsWith('[') ? null : `*.${name}`
}

/** The scope as it is kept and compared; null for one that cannot be granted. The root of a host cannot. */
export function normalScope(scope: Scope): Scope | null {
  switch (scope.kind) {
    case 'operation':
      return /^[0-9a-f]{64}$/u.test(scope.digest) ? scope : null
    case 'path': {
      const steps = isName(scope.prefix, LONGEST) ? stepsOf(scope.prefix) : null
      if (steps === null || steps.length === 0 || !isName(scope.host)) return null
      return { kind: 'path', host: scope.host, prefix: `/${steps.join('/')}` }
    }
    case 'network': {
      const host = hostPattern(scope.host)
      return host === null ? null : { kind: 'network', host }
    }
    case 'goal':
      return isName(scope.goal) ? scope : null
    case 'chat':
      return isName(scope.chat) ? scope : null
    case 'agent':
      return isName(scope.agent) ? scope : null
  }
}

function isName(name: string, longest = 253): boolean {
  return name.trim() !== '' && name.length <= longest && !hidden.test(name) && storableText(name) === name
}

/** Whether everything that the inner scope allows is allowed by the outer one. */
export function within(inner: Scope, outer: Scope): boolean {
  switch (inner.kind) {
    case 'operation':
      return outer.kind === 'operation' && outer.digest === inner.digest
    case 'path':
      return reaches(outer, { kind: 'path', host: inner.host, path: inner.prefix })
    case 'network':
      if (outer.kind !== 'network') return false
      return inner.host === outer.host || isBelow(inner.host.replace(/^\*\./u, ''), outer.host)
    default:
      return reaches(outer, inner)
  }
}

/** Whether a scope reaches a thing. An operation is matched by its words and never here. */
export function reaches(scope: Scope, thing: Resource): boolean {
  switch (scope.kind) {
    case 'operation':
      return false
    case 'path': {
      if (thing.kind !== 'path' || thing.path === null || thing.host !== scope.host) return false
      const [above, steps] = [stepsOf(scope.prefix), stepsOf(thing.path)]
      if (above === null || above.length === 0 || steps === null) return false
      return above.every((step, n) => steps[n] === step)
    }
    case 'network': {
      if (thing.kind !== 'network') return false
      const host = normalHost(thing.host)
      return host !== null && (host === scope.host || isBelow(host, scope.host))
    }
    case 'goal':
      return thing.kind === 'goal' && thing.goal === scope.goal
    case 'chat':
      return thing.kind === 'chat' && thing.chat === scope.chat
    case 'agent':
      return thing.kind === 'agent' && thing.agent === scope.agent
  }
}

/** A name below one that was granted with `*.`: at least one whole label more. */
function isBelow(host: string, pattern: string): boolean {
  if (!pattern.startsWith('*.')) return false
  const end = pattern.slice(1)
  return host.length > end.length && host.endsWith(end)
}

/** The deepest directory that holds all of these files; null when nothing but the root does. */
export function commonDirectory(paths: readonly string[]): string | null {
  const folders = paths.map((path) => stepsOf(path)?.slice(0, -1) ?? [])
  const [first = [], ...rest] = folders
  const common = first.filter((_, n) => rest.every((steps) => first.slice(0, n + 1).every((s, k) => steps[k] === s)))
  return common.length === 0 ? null : `/${common.join('/')}`
}
