import type { WorkSource } from '../collab/observation.js'
import type { WorkAuthority } from '../collab/ports.js'
import type { WorkSql } from './canonical/sql.js'

/** A goal whose owner cannot be asked; its reads throw this, so that they never look like an empty goal. */
export class WorkSourceUnavailable extends Error {
  override readonly name = 'WorkSourceUnavailable'
}

/**
 * Sends each command and read to the owner of its goal. An unknown goal is canonical's to refuse. A source that is not
 * connected is `unavailable` with its reason.
 *
 * @param sources what is connected in this process
 */
export function createSelectedWork(deps: {
  readonly sql: WorkSql
  readonly sources: { readonly canonical: WorkAuthority } & Partial<Record<WorkSource, WorkAuthority>>
}): WorkAuthority {
  const { sql, sources } = deps
  const ownerOf = async (goal: string): Promise<WorkAuthority | { readonly missing: string }> => {
    const [row] = await sql<{ source: string }[]>`select source from work.goals where id = ${goal}`
    const source = row?.source ?? 'canonical'
    const owner = isSource(source) ? sources[source] : undefined
    return owner ?? { missing: `the work of this goal is owned by ${source}, which is not connected here` }
  }
  const reading = async (goal: string): Promise<WorkAuthority> => {
    const owner = await ownerOf(goal)
    if ('missing' in owner) throw new WorkSourceUnavailable(owner.missing)
    return owner
  }
  return {
    async apply(command) {
      const owner = await ownerOf(command.goal)
      return 'missing' in owner ? { outcome: 'unavailable', because: owner.missing } : owner.apply(command)
    },
    todos: async (goal) => (await reading(goal)).todos(goal),
    vision: async (goal) => (await reading(goal)).vision(goal),
  }
}

const isSource = (name: string): name is WorkSource => name === 'canonical' || name === 'loopx'
