import type { BotIdentity, Channel } from '../../collab/channel.js'
import type { BotId } from '../../collab/refs.js'
import type { Clock } from '../../lib/time.js'
import type { LarkClient } from '../lark-api.js'
import { download, fetchBundle, fetchMessage } from './fetch.js'
import { lookUp, readBack } from './look-up.js'
import { planParts, uploadContent, type PlanParts } from './plan.js'
import { findReaction, react, unreact } from './react.js'
import { restate } from './restate.js'
import { send, upload } from './send.js'
import { update } from './update.js'

export interface LarkChannelParts extends PlanParts {
  readonly bot: BotId
  readonly client: LarkClient
  readonly clock: Clock
  readonly identity: () => BotIdentity | null
}

/**
 * Lark as a channel. Answers reply to the message they answer, in direct chats and groups alike: the reader sees what
 * is answered, and a look-up can tell two equal answers apart. Nothing here mentions anybody.
 */
export function createLarkChannel(parts: LarkChannelParts): Omit<Channel, 'history'> {
  const { bot, client, clock } = parts
  const context = () => ({ bot, self: parts.identity() })
  return {
    bot,
    identity: parts.identity,
    plan: (content) => planParts(content, parts),
    restate,
    upload: (part, bytes) => upload(client, part, bytes),
    withUpload: (part, key) => uploadContent(part.msgType, key),
    send: (part) => send(client, part),
    readBack: (messageId, sent, plain) => readBack(client, bot, messageId, sent, plain),
    lookUp: (sent, plain, window) => lookUp(client, bot, clock.now(), sent, plain, window),
    update: (messageId, content) => update(client, messageId, content),
    react: (messageId, emoji) => react(client, messageId, emoji),
    unreact: (messageId, reactionId) => unreact(client, messageId, reactionId),
    findReaction: (messageId, emoji) => findReaction(client, bot, messageId, emoji),
    fetchMessage: (messageId) => fetchMessage(client, messageId, context()),
    fetchBundle: (messageId) => fetchBundle(client, messageId, context()),
    download: (messageId, key, kind) => download(client, messageId, key, kind),
  }
}
