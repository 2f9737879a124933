import type { RequestPermissionRequest } from '@agentclientprotocol/sdk'
import { hostOf, type Named } from '../use.js'
import { isObject } from './updates.js'

/** Members of an input that say where something is; whatever stands there is taken to be touched as well. */
const places = /path|file|dir|dest|target|source|cwd|folder/iu

/**
 * What an agent asks to do by its own word: the kind of the tool, the places it names, those of its diffs and those of its
 * input. More places only make it harder to cover. Null where the kind does not say it whole.
 */
export function namedBy(toolCall: RequestPermissionRequest['toolCall']): readonly Named[] | null {
  const { kind, rawInput } = toolCall
  switch (kind) {
    case 'read':
      return touching('read', toolCall)
    case 'edit':
    case 'delete':
    case 'move':
      return touching('write', toolCall)
    case 'execute': {
      const cwd = isObject(rawInput) ? rawInput['cwd'] : null
      return [{ effect: 'execute', path: typeof cwd === 'string' && cwd.startsWith('/') ? cwd : null }]
    }
    case 'fetch': {
      const host = isObject(rawInput) ? hostOf(rawInput['url']) : null
      return host === null ? null : [{ effect: 'network', host }]
    }
    default:
      return null
  }
}

function touching(effect: 'read' | 'write', toolCall: RequestPermissionRequest['toolCall']): readonly Named[] | null {
  const located = (toolCall.locations ?? []).map(({ path }) => path)
  const changed = (toolCall.content ?? []).flatMap((one) => (one.type === 'diff' ? [one.path] : []))
  const paths = [...new Set([...located, ...changed, ...pathsIn(toolCall.rawInput)])]
  // A move that names one place does not say where to.
  if (paths.length < (toolCall.kind === 'move' ? 2 : 1)) return null
  return paths.map((path) => ({ effect, path }))
}

function pathsIn(input: unknown, depth = 0): readonly string[] {
  if (depth > 4) return []
  if (Array.isArray(input)) return input.flatMap((one) => pathsIn(one, depth + 1))
  if (!isObject(input)) return []
  return Object.entries(input).flatMap(([name, value]) => {
    if (typeof value === 'string') return places.test(name) && !/content|text|string/iu.test(name) ? [value] : []
    if (Array.isArray(value) && places.test(name)) {
      return value.flatMap((one) => (typeof one === 'string' ? [one] : pathsIn(one, depth + 1)))
    }
    return pathsIn(value, depth + 1)
  })
}
