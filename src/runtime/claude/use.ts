import { hostOf, type Named } from '../use.js'

type Input = Readonly<Record<string, unknown>>

const pathIn = (input: Input, name: string): string | null => {
  const path = input[name]
  return typeof path === 'string' ? path : null
}

/**
 * What a tool of Claude Code would do; null for a tool that is not known. Its shell keeps a folder of its own from
 * command to command and does not say which: a command has no place, and only its exact words allow it.
 */
export function namedBy(tool: string, input: Input): readonly Named[] | null {
  switch (tool) {
    case 'Write':
    case 'Edit':
    case 'MultiEdit':
      return [{ effect: 'write', path: pathIn(input, 'file_path') }]
    case 'NotebookEdit':
      return [{ effect: 'write', path: pathIn(input, 'notebook_path') }]
    case 'Read':
      return [{ effect: 'read', path: pathIn(input, 'file_path') }]
    case 'Bash':
      return [{ effect: 'execute', path: null }]
    case 'WebFetch': {
      const host = hostOf(input['url'])
      return host === null ? null : [{ effect: 'network', host }]
    }
    default:
      return null
  }
}
