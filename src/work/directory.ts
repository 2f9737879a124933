import type { AgentDirectory, RegisteredAgent } from '../collab/ports.js'
import type { WorkSql } from './canonical/sql.js'

/** Everybody who is registered, with what is known of them; what nobody looked at is null (RFC §5.5). */
export function createDirectory(deps: { readonly sql: WorkSql }): AgentDirectory {
  const { sql } = deps
  const columns = () => sql`
    a.agent, a.goal, g.state as "goalState", a.role, a.responsibility, a.host, a.endpoint, a.abilities, a.capacity,
    a.last_evidence_at as "lastEvidenceAt", a.reachable
    from work.agents a join work.goals g on g.id = a.goal`
  return {
    async find(agent) {
      const [row] = await sql<RegisteredAgent[]>`select ${columns()} where a.agent = ${agent}`
      return row ?? null
    },
    async list({ includeStopped }) {
      return await sql<RegisteredAgent[]>`
        select ${columns()} where ${includeStopped} or g.state = 'active' order by g.created_at desc, g.id, a.agent`
    },
  }
}
