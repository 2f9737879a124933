import type { WorkCommand } from '../../collab/ports.js'
import { digestOf } from '../../lib/digest.js'
import type { SqlLike } from '../db.js'

/** Keeps a command before its owner is called. `different`: the same operation said something else before. */
export async function keepCommand(sql: SqlLike, command: WorkCommand, at: number): Promise<'kept' | 'different'> {
  const digest = digestOf(command)
  await sql`
    insert into collab.work_commands (operation, agent, command, digest, said_at)
    values (${command.operation}, ${command.agent}, ${JSON.stringify(command)}::text::jsonb, ${digest}, ${at})
    on conflict do nothing`
  const [row] = await sql<{ digest: string }[]>`
    select digest from collab.work_commands where operation = ${command.operation}`
  return row?.digest === digest ? 'kept' : 'different'
}

/** The command of one operation of that agent; null for everybody else's. */
export async function commandOf(sql: SqlLike, operation: string, agent: string): Promise<WorkCommand | null> {
  const [row] = await sql<{ command: WorkCommand }[]>`
    select command from collab.work_commands where operation = ${operation} and agent = ${agent}`
  return row?.command ?? null
}
