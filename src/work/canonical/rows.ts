import type { TodoView } from '../../collab/ports.js'
import type { AgentId, Instant } from '../../collab/refs.js'
import { unreachable } from '../../lib/assert.js'
import type { ClaimRow, TodoRow, WorkChange, WorkState } from './decide.js'
import type { WorkSql } from './sql.js'

/** What one command needs to see besides its goal; read under the goal's lock. */
export async function readAround(
  sql: WorkSql,
  agent: AgentId,
  todo: string | null,
): Promise<Pick<WorkState, 'registeredAt' | 'todo' | 'claim' | 'ownClaim'>> {
  const [registered] = await sql<{ goal: string }[]>`select goal from work.agents where agent = ${agent}`
  const registeredAt = registered?.goal ?? null
  if (todo === null) return { registeredAt, todo: null, claim: null, ownClaim: null }
  const [row] = await sql<TodoRow[]>`
    select id, goal, title, state, revision, epoch from work.todos where id = ${todo}`
  // The one that stands first, then the newest of each agent: both answers are in these rows.
  const claims = await sql<ClaimRow[]>`
    select todo, epoch, agent, until, ended from work.claims
    where todo = ${todo} and (ended_at is null or agent = ${agent}) order by epoch desc limit 2`
  return {
    registeredAt,
    todo: row ?? null,
    claim: claims.find((claim) => claim.ended === null) ?? null,
    ownClaim: claims.find((claim) => claim.agent === agent) ?? null,
  }
}

/** Writes what was decided, in its order: a claim ends before the next one begins. */
export async function applyChange(sql: WorkSql, change: WorkChange, by: AgentId, at: Instant): Promise<void> {
  switch (change.kind) {
    case 'todo-put': {
      const { id, goal, title, state, revision, epoch } = change.todo
      await sql`
        insert into work.todos (id, goal, title, state, revision, epoch, created_at, changed_at, changed_by)
        values (${id}, ${goal}, ${title}, ${state}, ${revision}, ${epoch}, ${at}, ${at}, ${by})
        on conflict (id) do update set title = excluded.title, state = excluded.state, revision = excluded.revision,
          changed_at = excluded.changed_at, changed_by = excluded.changed_by`
      return
    }
    case 'claim-begun': {
      const { todo, epoch, agent, until } = change.claim
      await sql`
        with numbered as (update work.todos set epoch = ${epoch} where id = ${todo})
        insert into work.claims (todo, epoch, agent, claimed_at, until)
        values (${todo}, ${epoch}, ${agent}, ${at}, ${until})`
      return
    }
    case 'claim-renewed':
      await sql`update work.claims set until = ${change.until} where todo = ${change.todo} and epoch = ${change.epoch}`
      return
    case 'claim-ended':
      await sql`
        update work.claims set ended_at = ${at}, ended = ${change.ended}
        where todo = ${change.todo} and epoch = ${change.epoch} and ended_at is null`
      return
    case 'vision-put':
      await sql`
        update work.goals set direction = ${change.direction}, acceptance = ${change.acceptance},
          vision_revision = ${change.revision}, changed_at = ${at} where id = ${change.goal}`
      return
    default:
      unreachable(change)
  }
}

/** A claim whose lease ran out is not shown: it holds nobody off. Oldest first. */
export async function todosOf(sql: WorkSql, goal: string, now: Instant): Promise<readonly TodoView[]> {
  const rows = await sql<(Omit<TodoView, 'claim'> & { agent: AgentId | null; epoch: number; until: Instant })[]>`
    select t.id, t.goal, t.title, t.state, t.revision, c.agent, c.epoch, c.until
    from work.todos t left join work.claims c on c.todo = t.id and c.ended_at is null and c.until > ${now}
    where t.goal = ${goal} order by t.created_at, t.id`
  return rows.map(({ agent, epoch, until, ...todo }) => ({
    ...todo,
    claim: agent === null ? null : { agent, epoch, until },
  }))
}
