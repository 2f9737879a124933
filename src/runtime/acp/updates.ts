/** What one `session/update` means for a turn. Reasoning is reduced to the fact that there was some. */
export type Update =
  | { readonly kind: 'thinking' }
  | { readonly kind: 'tool' }
  | { readonly kind: 'text'; readonly text: string }
  /** A block of the answer that may be a file. */
  | { readonly kind: 'block'; readonly block: Readonly<Record<string, unknown>> }
  | { readonly kind: 'other' }

export interface SessionUpdate {
  readonly session: string
  readonly update: Update
}

/** Reads an update tolerantly: agents send kinds that this version of the protocol does not know. */
export function readUpdate(params: unknown): SessionUpdate {
  const session = isObject(params) && typeof params['sessionId'] === 'string' ? params['sessionId'] : ''
  const update = isObject(params) && isObject(params['update']) ? params['update'] : {}
  return { session, update: meaning(update) }
}

function meaning(update: Readonly<Record<string, unknown>>): Update {
  switch (update['sessionUpdate']) {
    case 'agent_thought_chunk':
      return { kind: 'thinking' }
    case 'tool_call':
    case 'tool_call_update':
      return { kind: 'tool' }
    case 'agent_message_chunk': {
      const block = update['content']
      if (!isObject(block)) return { kind: 'other' }
      if (block['type'] !== 'text') return { kind: 'block', block }
      return typeof block['text'] === 'string' ? { kind: 'text', text: block['text'] } : { kind: 'other' }
    }
    default:
      return { kind: 'other' }
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
