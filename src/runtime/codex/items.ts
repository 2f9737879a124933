import type { TurnEvent } from '../../collab/ports.js'
import { readableOperation as shown } from '../operation.js'
import { fields, list, text, type Fields } from './read.js'

export type Activity = Extract<TurnEvent, { kind: 'activity' }>['activity']

/** What a kind of item says about what the agent does; unknown kinds are work of some other sort. */
export function activityOf(type: string | null): Activity {
  switch (type) {
    case 'reasoning':
      return 'thinking'
    case 'agentMessage':
      return 'answering'
    case 'commandExecution':
    case 'fileChange':
    case 'mcpToolCall':
    case 'dynamicToolCall':
    case 'collabAgentToolCall':
    case 'webSearch':
    case 'imageView':
      return 'tool'
    default:
      return 'other'
  }
}

/**
 * The exact operation that codex asks to be allowed, as far as it tells it.
 *
 * @param item the item that was announced before, with the changes of a patch
 */
export function operationOf(method: string, params: Fields, item: Fields): string {
  const reason = text(params['reason'])
  const why = reason === null || reason === '' ? [] : [`reason given: ${reason}`]
  switch (method) {
    case 'item/commandExecution/requestApproval': {
      const network = fields(params['networkApprovalContext'])
      const host = text(network['host'])
      const command = text(params['command']) ?? text(item['command'])
      const what = command ?? (host === null ? 'a command that codex does not name' : `network access to ${host}`)
      return shown([what, ...place(text(params['cwd'])), ...why])
    }
    case 'item/fileChange/requestApproval': {
      const paths = list(item['changes']).flatMap((change) => {
        const path = text(fields(change)['path'])
        return path === null ? [] : [path]
      })
      const root = text(params['grantRoot'])
      const files = paths.length === 0 ? ['files that codex does not name'] : paths
      return shown([
        'change files:',
        ...files,
        ...(root === null ? [] : [`and write below ${root} from now on`]),
        ...why,
      ])
    }
    case 'mcpServer/elicitation/request': {
      const meta = fields(params['_meta'])
      const tool = text(meta['tool_name'])
      const server = text(params['serverName']) ?? 'a tool server'
      if (tool === null)
        return shown([`${server} asks: ${text(params['message']) ?? 'for something that it does not say'}`])
      return shown([`tool ${tool} of ${server}`, JSON.stringify(meta['tool_params'] ?? {})])
    }
    case 'item/permissions/requestApproval':
      return shown(['wider permissions:', JSON.stringify(params['permissions'] ?? {}), ...why])
    default:
      return shown([method])
  }
}

/** A command of codex as it was given, without the shell that codex wraps it into. */
export function commandOf(item: Fields): string {
  const [only, ...more] = list(item['commandActions'])
  const given = more.length === 0 ? text(fields(only)['command']) : null
  return shown([given ?? text(item['command']) ?? 'a command that codex does not name'])
}

const place = (cwd: string | null): readonly string[] => (cwd === null ? [] : [`in ${cwd}`])
