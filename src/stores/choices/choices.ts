import type { Choice } from '../../collab/choice.js'
import type { DeliverySource } from '../../collab/delivery.js'
import type { Notice } from '../../collab/notice.js'
import type { SqlLike } from '../db.js'

export interface CardChoice {
  readonly bot: string
  readonly messageId: string
  readonly eventId: string
  readonly act: Choice['act']
  readonly openId: string
  readonly chosenAt: number
}

/** The choice that stands for a card: this one, or the one that was made first. */
export async function chooseOnCard(
  sql: SqlLike,
  choice: CardChoice,
): Promise<CardChoice & { readonly became: Notice | null }> {
  const [row] = await sql<(CardChoice & { became: Notice | null })[]>`
    insert into collab.card_choices as c (bot, message_id, event_id, act, open_id, chosen_at)
    values (${choice.bot}, ${choice.messageId}, ${choice.eventId}, ${choice.act}, ${choice.openId}, ${choice.chosenAt})
    on conflict (bot, message_id) do update set act = c.act
    returning bot, message_id as "messageId", event_id as "eventId", act, open_id as "openId",
      chosen_at as "chosenAt", became`
  if (row === undefined) throw new Error('a choice was neither made nor found')
  return row
}

export async function noteBecame(sql: SqlLike, bot: string, messageId: string, became: Notice): Promise<void> {
  await sql`
    update collab.card_choices set became = ${JSON.stringify(became)}::text::jsonb
    where bot = ${bot} and message_id = ${messageId} and became is null`
}

/** What we said in a message of ours; null when it is none, or no notice. */
export async function noticeOfMessage(
  sql: SqlLike,
  bot: string,
  messageId: string,
): Promise<Extract<DeliverySource, { kind: 'notice' }> | null> {
  const [row] = await sql<{ source: DeliverySource }[]>`
    select d.source from collab.delivery_parts p join collab.deliveries d on d.id = p.delivery
    where p.message_id = ${messageId} and d.bot = ${bot} limit 1`
  return row?.source.kind === 'notice' ? row.source : null
}

/**
 * The cards that ask for a choice about what a conversation holds and have none yet, newest first. The kinds are those
 * of the index `deliveries_asking`, word by word.
 */
export async function undecidedCards(
  sql: SqlLike,
  place: { readonly bot: string; readonly conversation: string },
  since: number,
  most: number,
): Promise<readonly { readonly messageId: string; readonly notice: Notice }[]> {
  return await sql<{ messageId: string; notice: Notice }[]>`
    select p.message_id as "messageId", d.source -> 'notice' as notice
    from collab.deliveries d join collab.delivery_parts p on p.delivery = d.id
    where d.source #>> '{notice,kind}' in
        ('late-held', 'backlog-held', 'stopped', 'nothing-running', 'fresh-context', 'result-withheld')
      and d.bot = ${place.bot} and d.created_at > ${since}
      and (d.source #>> '{notice,conversation}' = ${place.conversation} or exists (
        select 1 from collab.work_requests w where w.id = d.request and w.conversation = ${place.conversation}
          and d.source #>> '{notice,kind}' = 'result-withheld'))
      and p.msg_type = 'interactive' and p.message_id is not null and p.state in ('accepted', 'verified')
      and not exists (select 1 from collab.card_choices c where c.bot = d.bot and c.message_id = p.message_id)
    order by d.created_at desc, d.id desc limit ${most}`
}
