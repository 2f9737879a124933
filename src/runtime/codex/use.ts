import type { Named } from '../use.js'
import { fields, list, text, type Fields } from './read.js'

/**
 * What codex asks to do, thing by thing; null where its question does not say it whole. A command is run in a folder, and
 * is never taken for a change of the files that its words name.
 *
 * @param item the item that was announced before, with the changes of a patch
 */
export function namedBy(method: string, params: Fields, item: Fields): readonly Named[] | null {
  switch (method) {
    case 'item/commandExecution/requestApproval':
      return commandOf(params, item)
    case 'item/fileChange/requestApproval':
      // More than these files is asked for with a root.
      return text(params['grantRoot']) === null ? changesOf(item) : null
    default:
      return null
  }
}

function commandOf(params: Fields, item: Fields): readonly Named[] | null {
  const kind = text(params['kind'])
  // What is typed into a command that runs is another act, and wider permissions are more than the command.
  if (kind !== null && kind !== 'command') return null
  if (Object.keys(fields(params['additionalPermissions'])).length > 0) return null
  const network = params['networkApprovalContext']
  const hosts: Named[] = []
  if (network !== null && network !== undefined) {
    const host = text(fields(network)['host'])
    if (host === null) return null
    hosts.push({ effect: 'network', host })
  }
  const named = text(params['command']) !== null
  // A question about the network alone names no command; one that names both is about both.
  if (!named && hosts.length > 0) return hosts
  if (!named && text(item['command']) === null) return null
  return [...hosts, { effect: 'execute', path: text(params['cwd']) ?? text(item['cwd']) }]
}

function changesOf(item: Fields): readonly Named[] | null {
  const named: Named[] = []
  for (const change of list(item['changes'])) {
    const { path, kind } = fields(change)
    if (typeof path !== 'string') return null
    named.push({ effect: 'write', path })
    const to = fields(kind)['move_path'] ?? fields(kind)['movePath']
    if (to === null || to === undefined) continue
    if (typeof to !== 'string') return null
    named.push({ effect: 'write', path: to })
  }
  return named.length === 0 ? null : named
}
