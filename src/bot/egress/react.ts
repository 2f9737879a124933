import type { ReactReply } from '../../collab/channel.js'
import type { BotId } from '../../collab/refs.js'
import { Fields } from '../ingress/content/read.js'
import type { LarkClient } from '../lark-api.js'
import { unreacted } from './classify.js'

const REACTIONS = '/open-apis/im/v1/messages/:message_id/reactions'
const MOST_PAGES = 20

/** Lark: message-reaction/create. */
export async function react(client: LarkClient, messageId: string, emoji: string): Promise<ReactReply> {
  const answer = await client.call({
    api: 'reaction.create',
    method: 'POST',
    path: REACTIONS,
    params: { message_id: messageId },
    body: { reaction_type: { emoji_type: emoji } },
  })
  if (answer.got === 'reply' && answer.code === 0) {
    const reactionId = new Fields(answer.body).object('data').string('reaction_id')
    // Placed, but without its id it could never be taken away: it is looked up.
    return reactionId === '' ? { reaction: 'unknown', code: 0 } : { reaction: 'placed', reactionId }
  }
  const failed = unreacted('reaction.create', answer)
  return failed.reaction === 'gone' ? { reaction: 'unknown', code: answer.code } : failed
}

/** Lark: message-reaction/delete. A message or a reaction that is gone is taken away as well. */
export async function unreact(
  client: LarkClient,
  messageId: string,
  reactionId: string,
): Promise<ReactReply | { readonly reaction: 'removed' }> {
  const answer = await client.call({
    api: 'reaction.delete',
    method: 'DELETE',
    path: `${REACTIONS}/:reaction_id`,
    params: { message_id: messageId, reaction_id: reactionId },
  })
  if (answer.got === 'reply' && answer.code === 0) return { reaction: 'removed' }
  const failed = unreacted('reaction.delete', answer)
  if (failed.reaction === 'gone') return { reaction: 'removed' }
  if (failed.reaction === 'refused' && failed.because === 'message-gone') return { reaction: 'removed' }
  return failed
}

/** Lark: message-reaction/list. Only a reaction that our own app placed. */
export async function findReaction(
  client: LarkClient,
  bot: BotId,
  messageId: string,
  emoji: string,
): Promise<{ readonly found: string | null } | { readonly found: 'unknown' }> {
  let pageToken: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await client.call({
      api: 'reaction.list',
      method: 'GET',
      path: REACTIONS,
      params: { message_id: messageId },
      query: { reaction_type: emoji, page_size: '50', page_token: pageToken },
    })
    if (answer.got !== 'reply' || answer.code !== 0) {
      const failed = unreacted('reaction.list', answer)
      const gone = failed.reaction === 'refused' && failed.because === 'message-gone'
      return { found: gone ? null : 'unknown' }
    }
    const data = new Fields(answer.body).object('data')
    for (const item of data.list('items').map((one) => new Fields(one))) {
      const operator = item.object('operator')
      if (operator.string('operator_type') === 'app' && operator.string('operator_id') === bot) {
        return { found: item.string('reaction_id') }
      }
    }
    pageToken = data.string('page_token')
    if (!data.boolean('has_more') || pageToken === '') return { found: null }
  }
  return { found: 'unknown' }
}
