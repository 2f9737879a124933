import type { UpdateReply } from '../../collab/channel.js'
import type { LarkClient } from '../lark-api.js'
import { unsent } from './classify.js'

/** Lark: message-card/patch. The card is older than 14 days. */
const TOO_OLD = 230031

/** Lark: message-card/patch. Replaces what an own card says; the same call again has no further effect. */
export async function update(client: LarkClient, messageId: string, content: string): Promise<UpdateReply> {
  const answer = await client.call({
    api: 'message.patch',
    method: 'PATCH',
    path: '/open-apis/im/v1/messages/:message_id',
    params: { message_id: messageId },
    body: { content },
  })
  if (answer.got === 'reply' && answer.code === 0) return { update: 'done' }
  if (answer.got === 'reply' && answer.code === TOO_OLD) return { update: 'refused', because: 'too-old' }
  const failed = unsent('message.patch', answer)
  switch (failed.reply) {
    case 'later':
      return { update: 'later', retryAfterMs: failed.retryAfterMs }
    case 'ambiguous':
      return { update: 'unknown' }
    case 'refused':
      return { update: 'refused', because: failed.because === 'target-gone' ? 'gone' : 'not-accepted' }
  }
}
