import type { VisionView, WorkAuthority, WorkCommand, WorkOutcome } from '../../collab/ports.js'
import { digestOf } from '../../lib/digest.js'
import type { Clock } from '../../lib/time.js'
import { decideWork, limits } from './decide.js'
import { outcomeOfLoss } from './lost.js'
import { lockGoal, nowOf, priorOperation, recordOperation } from './operation.js'
import { createGoalOwner, type GoalOwner } from './owner.js'
import { receiptOf } from './receipt.js'
import { applyChange, readAround, todosOf } from './rows.js'
import type { WorkSql, WorkTx } from './sql.js'

export interface CanonicalDeps {
  readonly sql: WorkSql
  readonly tx: WorkTx
  readonly clock: Clock
}

/**
 * The work owner in our own Postgres: agents change todos, claims and the vision through `apply`, the operator has the
 * rest. Each command is one transaction with its receipt; the same operation again answers `already`, also after the
 * goal moved on or was stopped. A refusal is not recorded.
 *
 * Reads throw when the database cannot be reached: an empty answer always means that there is nothing.
 *
 * @source RFC §5.12
 */
export function createCanonicalAuthority(deps: CanonicalDeps): WorkAuthority & GoalOwner {
  const { sql, tx, clock } = deps
  return {
    ...createGoalOwner(deps),
    async apply(command) {
      const wrong = wrongName(command)
      if (wrong !== null) return { outcome: 'conflict', because: wrong }
      try {
        return await tx((inside) => applyOnce(inside, command, clock))
      } catch (error) {
        const outcome = outcomeOfLoss(error)
        if (outcome === null) throw error
        return outcome
      }
    },
    todos: (goal) => todosOf(sql, goal, nowOf(clock)),
    async vision(goal) {
      const [row] = await sql<VisionView[]>`
        select id as goal, direction, acceptance, vision_revision as revision from work.goals where id = ${goal}`
      return row ?? null
    },
  }
}

/** Lock, look for the operation, read, decide, write: this order is the rule that every race is decided by. */
async function applyOnce(sql: WorkSql, command: WorkCommand, clock: Clock): Promise<WorkOutcome> {
  const goal = await lockGoal(sql, command.goal)
  if (goal === null) return { outcome: 'conflict', because: 'no such goal' }
  const digest = digestOf(command)
  const prior = await priorOperation(sql, goal.id, command.operation, digest)
  if (prior === 'other')
    return { outcome: 'conflict', because: 'this operation was already carried out with other content' }
  if (prior !== null) return { outcome: 'already', receipt: prior }
  if (goal.source !== 'canonical') return { outcome: 'unavailable', because: `its work is owned by ${goal.source}` }
  // After the lock: waiting for it must not let a lease look longer than it is.
  const now = nowOf(clock)
  const todo = 'todo' in command.change ? command.change.todo : null
  const decision = decideWork({ now, goal, ...(await readAround(sql, command.agent, todo)) }, command)
  if (decision.outcome === 'conflict') return decision
  for (const change of decision.changes) await applyChange(sql, change, command.agent, now)
  const receipt = receiptOf(command.operation, decision.changes)
  await recordOperation(sql, goal.id, digest, receipt, now)
  return { outcome: 'committed', receipt }
}

function wrongName(command: WorkCommand): string | null {
  const { operation } = command
  if (operation === '' || operation.length > limits.operation)
    return `an operation has 1 to ${limits.operation} characters`
  const names = [operation, command.goal, command.agent, 'todo' in command.change ? (command.change.todo ?? '') : '']
  return names.some((name) => name.includes('\u0000')) ? 'a name holds a NUL character' : null
}
