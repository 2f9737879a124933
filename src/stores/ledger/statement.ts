import { deliveriesInto } from '../deliveries/deliveries.js'

/** Inserts rows whose keys are the columns; what they do not name the database fills by itself. */
const into =
  (table: string) =>
  (rows: string, columns: string): string => `
    insert into collab.${table} (${columns})
    select ${columns} from jsonb_populate_recordset(null::collab.${table}, ${rows})`

/**
 * What one command may write, in the order in which it is named. Each takes its rows as one JSON parameter. Parts that
 * return nothing run from the last to the first: `released` stands after `assigned`, since the index allows one
 * effectful attempt that stands.
 */
const parts = {
  said: (rows: string) => `
    insert into collab.texts (digest, access_scope, body)
    select distinct on (digest, "accessScope") digest, "accessScope", body
    from jsonb_to_recordset(${rows}) as t(digest text, "accessScope" text, body text)
    on conflict do nothing`,
  opened: into('work_requests'),
  revised: into('request_revisions'),
  briefed: into('semantic_contexts'),
  assigned: into('dispatch_attempts'),
  released: (rows: string) => `
    update collab.dispatch_attempts a set fence_released_at = r.at
    from jsonb_to_recordset(${rows}) as r(id text, at bigint)
    where a.id = r.id and a.fence_released_at is null`,
  answered: into('results'),
  intended: into('effect_intents'),
  observed: into('observations'),
  journalled: (rows: string) => `
    insert into collab.turn_inputs as i (request, lane, position, state, because, settled_at)
    select request, lane, position, state, because, settled_at
    from jsonb_to_recordset(${rows})
      as n(request text, lane text, position bigint, state text, because text, settled_at bigint)
    on conflict (request) do update
      set lane = excluded.lane, state = excluded.state, because = excluded.because, settled_at = excluded.settled_at`,
  owed: (rows: string) => `${deliveriesInto(rows)} on conflict do nothing`,
  /** The head of a request that begins. Two that begin at once meet at its key. */
  headed: into('request_heads'),
  moved: (rows: string) => `
    update collab.request_heads h set revision = n.revision, seq = n.seq
    from jsonb_to_recordset(${rows}) as n(request text, revision int, seq int) where h.request = n.request`,
  woken: (rows: string) => `
    insert into collab.wakes as w (kind, subject, generation, due_at, state)
    select kind, subject, 1, due_at, 'pending'
    from jsonb_to_recordset(${rows}) as n(kind text, subject text, due_at bigint)
    on conflict (kind, subject) do update set
      generation = w.generation + 1,
      due_at = case when w.state = 'pending' then least(w.due_at, excluded.due_at) else excluded.due_at end,
      state = case when w.state = 'running' then 'running' else 'pending' end,
      enqueued_at = null
    returning kind, subject, generation`,
} as const satisfies Record<string, (rows: string, columns: string) => string>

type Part = keyof typeof parts
const order = Object.keys(parts) as readonly Part[]

export type Rows = Readonly<Record<Part, readonly object[]>>

/** One text for each set of parts, made once: a few dozen, which every connection prepares when it first needs them. */
const texts = new Map<string, string>()

/**
 * The one statement that writes these rows, with its parameters. It names only the parts that have any: a table that is
 * named is opened with all its indexes, also for no row at all. It returns the wakes.
 */
export function statementOf(rows: Rows): { readonly text: string; readonly parameters: readonly string[] } {
  const named = order.filter((part) => rows[part].length > 0)
  const key = named.join(' ')
  const text = texts.get(key) ?? textOf(named, rows)
  texts.set(key, text)
  return { text, parameters: named.map((part) => JSON.stringify(rows[part])) }
}

function textOf(named: readonly Part[], rows: Rows): string {
  const said = named.map((part, n) => {
    const columns = Object.keys(rows[part][0] ?? {}).map((name) => `"${name}"`)
    return { part, words: parts[part](`$${n + 1}::text::jsonb`, columns.join(', ')) }
  })
  const last = said.at(-1)?.words ?? 'select 1'
  const before = said.slice(0, -1).map(({ part, words }) => `${part} as (${words})`)
  return before.length === 0 ? last : `with ${before.join(', ')} ${last}`
}
