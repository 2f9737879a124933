import type { TurnEvent } from '../collab/ports.js'
import { unreachable } from '../lib/assert.js'
import { storableText } from '../lib/storable.js'

/** What an agent says goes into the ledger: text that Postgres cannot keep must not cost the answer. */
export function storableEvent(event: TurnEvent): TurnEvent {
  switch (event.kind) {
    case 'started':
      return { ...event, hostTurn: storableText(event.hostTurn) }
    case 'approval':
      return { ...event, operation: storableText(event.operation) }
    case 'refused-by-host': {
      const operation = event.operation === null ? null : storableText(event.operation)
      return { ...event, operation, rule: storableText(event.rule), tool: storableText(event.tool) }
    }
    case 'ended-with-turn':
      return { ...event, tool: storableText(event.tool), command: storableText(event.command) }
    case 'file-left-out':
      return { ...event, fileName: storableText(event.fileName) }
    case 'file':
      return { ...event, fileName: storableText(event.fileName), mediaType: storableText(event.mediaType) }
    case 'ended': {
      if (event.ended !== 'completed') return event
      const conclusion = event.conclusion === null ? null : storableText(event.conclusion)
      return { ...event, final: storableText(event.final), conclusion }
    }
    case 'activity':
      return event
    default:
      return unreachable(event)
  }
}
