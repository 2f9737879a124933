/** What one message of the program means for a turn. Reasoning is reduced to the fact that there was some. */
export type Said =
  | {
      readonly kind: 'init'
      readonly model: string | null
      readonly version: string | null
      readonly effort: string | null
      /** Of our tools' server: false when the program could not reach it. */
      readonly toolsReached: boolean | null
    }
  | { readonly kind: 'thinking' | 'answering' }
  /** `quiet`: one that starts no process which could stay. */
  | { readonly kind: 'tool'; readonly quiet: boolean; readonly use?: ToolUse }
  /** Whole words of the agent itself. */
  | { readonly kind: 'text'; readonly text: string }
  /** What went wrong, in the program's own typed word. */
  | { readonly kind: 'fault'; readonly error: string }
  /** A message of ours has reached the conversation. */
  | { readonly kind: 'taken'; readonly message: string }
  /** A tool was refused by a rule, without anybody being asked; `use` is the id of the call. */
  | { readonly kind: 'refused-by-policy'; readonly tool: string; readonly because: string; readonly use: string | null }
  /** The model endpoint failed and is asked again; `attempt` counts from 1. */
  | { readonly kind: 'retry'; readonly attempt: number; readonly status: number | null; readonly error: string | null }
  | { readonly kind: 'result'; readonly result: Result }
  | { readonly kind: 'other' }

/** One call of a tool, once it is whole. */
export interface ToolUse {
  readonly id: string
  readonly name: string
  readonly input: Fields
}

export interface Result {
  readonly isError: boolean
  readonly text: string
  readonly terminal: string | null
  /** HTTP status that the model endpoint answered. */
  readonly status: number | null
  /** Tokens in and out that the program has counted for this message; null when it says none. */
  readonly tokens: number | null
}

/** Reads a message tolerantly: other versions send kinds and members that nobody here knows. */
export function readMessage(message: unknown, server: string): Said {
  const other: Said = { kind: 'other' }
  if (!isObject(message)) return other
  switch (message['type']) {
    case 'system':
      return ofSystem(message, server)
    case 'stream_event':
      return ofStream(message['event'])
    case 'assistant':
      return ofAssistant(message)
    case 'user':
      // A tool's result comes as a message of the user, too; only ours are repeated.
      return message['isReplay'] === true && typeof message['uuid'] === 'string'
        ? { kind: 'taken', message: message['uuid'] }
        : other
    case 'command_lifecycle':
      return message['state'] === 'started' && typeof message['command_uuid'] === 'string'
        ? { kind: 'taken', message: message['command_uuid'] }
        : other
    case 'result':
      return { kind: 'result', result: resultOf(message) }
    default:
      return other
  }
}

function ofSystem(message: Fields, server: string): Said {
  if (message['subtype'] === 'init') {
    const servers = Array.isArray(message['mcp_servers']) ? message['mcp_servers'].filter(isObject) : []
    const ours = servers.find(({ name }) => name === server)
    return {
      kind: 'init',
      model: text(message['model']),
      version: text(message['claude_code_version']),
      effort: text(message['effort']),
      toolsReached: ours === undefined ? null : ours['status'] === 'connected',
    }
  }
  if (message['subtype'] === 'api_retry') {
    const { attempt, error_status: status, error } = message
    return {
      kind: 'retry',
      attempt: typeof attempt === 'number' ? attempt : 1,
      status: typeof status === 'number' ? status : null,
      error: text(error),
    }
  }
  if (message['subtype'] === 'permission_denied') {
    return {
      kind: 'refused-by-policy',
      tool: text(message['tool_name']) ?? 'a tool',
      because: text(message['decision_reason_type']) ?? 'unknown',
      use: text(message['tool_use_id']),
    }
  }
  return { kind: 'other' }
}

/** Whatever is not known by name may have started something. */
const quietTools =
  /^(?:Read|Write|Edit|NotebookEdit|Glob|Grep|WebFetch|WebSearch|ToolSearch|TodoWrite)$|^mcp__lark-manager__/u

function ofStream(event: unknown): Said {
  if (!isObject(event) || event['type'] !== 'content_block_start' || !isObject(event['content_block'])) {
    return { kind: 'other' }
  }
  return activityOf(event['content_block'])
}

function activityOf(block: Fields): Said {
  switch (block['type']) {
    case 'thinking':
    case 'redacted_thinking':
      return { kind: 'thinking' }
    case 'text':
      return { kind: 'answering' }
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return { kind: 'tool', quiet: quietTools.test(text(block['name']) ?? ''), ...useOf(block) }
    default:
      return { kind: 'other' }
  }
}

function useOf(block: Fields): { readonly use?: ToolUse } {
  const [id, name, input] = [text(block['id']), text(block['name']), block['input']]
  // While it is written, a call has no input yet.
  if (id === null || name === null || !isObject(input) || Object.keys(input).length === 0) return {}
  return { use: { id, name, input } }
}

function ofAssistant(message: Fields): Said {
  const error = text(message['error'])
  if (error !== null) return { kind: 'fault', error }
  // What a helper of the agent says is work, not the answer.
  if (message['parent_tool_use_id'] !== null && message['parent_tool_use_id'] !== undefined)
    return { kind: 'tool', quiet: false }
  const content = isObject(message['message']) ? message['message']['content'] : null
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  const words = blocks.flatMap((block) => (block['type'] === 'text' ? [text(block['text']) ?? ''] : []))
  if (words.length > 0) return { kind: 'text', text: words.join('\n\n') }
  return blocks[0] === undefined ? { kind: 'other' } : activityOf(blocks[0])
}

function resultOf(message: Fields): Result {
  const errors = Array.isArray(message['errors']) ? message['errors'].filter((one) => typeof one === 'string') : []
  const status = message['api_error_status']
  return {
    isError: message['is_error'] === true,
    text: text(message['result']) ?? errors.join('\n'),
    terminal: text(message['terminal_reason']) ?? text(message['subtype']),
    status: typeof status === 'number' ? status : null,
    tokens: tokensIn(message['usage']),
  }
}

function tokensIn(usage: unknown): number | null {
  if (!isObject(usage)) return null
  const counted = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens']
    .map((name) => usage[name])
    .filter((value) => typeof value === 'number')
  return counted.length === 0 ? null : counted.reduce((sum, value) => sum + value, 0)
}

type Fields = Readonly<Record<string, unknown>>

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
