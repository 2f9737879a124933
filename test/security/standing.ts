import type { Db } from '../../src/stores/db.js'

/** Everything that says what anybody may do, and what was done by somebody's word. */
export type Standing = Readonly<Record<string, unknown>>

/** Facts that only a person, an operator or the host's own rules may bring about. */
const byWord = [
  'approval-asked',
  'approval-settled',
  'cancel-requested',
  'cancel-acknowledged',
  'request-held',
  'request-released',
  'request-rejected',
  'withheld-settled',
]

/**
 * What the host has granted and carried out. The same before and after means: no permission, no decision, no control
 * word, no stopped turn, nobody bound, nothing in another's name. That something was refused may well be on record.
 */
export async function standingOf({ sql }: Db): Promise<Standing> {
  const [row] = await sql<Standing[]>`
    select
      (select coalesce(json_agg(g order by g.id), '[]') from collab.grants g) as grants,
      (select coalesce(json_agg(p order by p.open_id), '[]') from collab.principals p) as principals,
      (select coalesce(json_agg(json_build_array(t.agent, t.seat, t.session, t.epoch, t.revoked_at)
        order by t.seat, t.epoch), '[]') from collab.tokens t where t.lane is null) as "attachedTokens",
      (select coalesce(json_agg(distinct t.agent), '[]') from collab.tokens t) as "agentsWithTokens",
      (select coalesce(json_agg(a order by a.agent), '[]')
        from (select agent, goal, role, responsibility, endpoint from work.agents) a) as agents,
      (select coalesce(json_agg(m order by m.id), '[]') from collab.conversation_marks m) as marks,
      (select coalesce(json_agg(c order by c.message_id), '[]') from collab.card_choices c) as choices,
      (select count(*)::int from collab.turns where stopped_by is not null or ended = 'interrupted') as stopped,
      (select coalesce(json_agg(l.act order by l.at, l.id), '[]')
        from collab.audit_lines l where l.act not like 'refused%') as acts,
      (select coalesce(json_object_agg(kind, n), '{}') from (
        select kind, count(*)::int as n from collab.observations where kind = any(${byWord}) group by kind
      ) k) as facts,
      (select count(*)::int from collab.observations
        where kind = 'request-continued' and actor ->> 'kind' = 'agent') as related,
      (select coalesce(json_agg(distinct o.payload #>> '{opened,authority,openId}'), '[]')
        from collab.observations o where o.kind = 'request-opened') as "inTheNameOf"`
  return row ?? {}
}
