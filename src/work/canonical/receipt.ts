import type { WorkReceipt } from '../../collab/observation.js'
import { unreachable } from '../../lib/assert.js'
import type { WorkChange } from './decide.js'

export type WorkRef = WorkReceipt['refs'][number]

export const refOf = (kind: 'goal' | 'vision' | 'todo' | 'lease' | 'agent', id: string, revision: number): WorkRef => ({
  ref: `${kind}:${id}`,
  revision: String(revision),
})

/** What a command touched. A lease's revision is its epoch; it is no revision of its todo (RFC §5.12). */
export function receiptOf(operation: string, changes: readonly WorkChange[]): WorkReceipt {
  return { owner: 'canonical', operation, refs: changes.map(touched) }
}

function touched(change: WorkChange): WorkRef {
  switch (change.kind) {
    case 'todo-put':
      return refOf('todo', change.todo.id, change.todo.revision)
    case 'claim-begun':
      return refOf('lease', change.claim.todo, change.claim.epoch)
    case 'claim-renewed':
    case 'claim-ended':
      return refOf('lease', change.todo, change.epoch)
    case 'vision-put':
      return refOf('vision', change.goal, change.revision)
    default:
      return unreachable(change)
  }
}
