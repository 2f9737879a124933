import { Hono } from 'hono'
import { discovered, discoveryRefused, refuseFlat, succeedFlat } from './answer.js'
import { changeSettings, createCard, replaceCard, streamText } from './api/cards.js'
import { deleteMessage, patchCard, updateMessage } from './api/change.js'
import { botInfo, getChat, listChats, listMembers } from './api/chats.js'
import { getOwnUpload, getResource, uploadFile, uploadImage } from './api/files.js'
import { getMessage, listMessages } from './api/history.js'
import { createReaction, deleteReaction, listReactions } from './api/reactions.js'
import type { Sending } from './api/send.js'
import type { ApiName } from './faults.js'
import { gate, type Access, type GateOptions } from './gate.js'
import type { LongConnection } from './long-connection.js'
import type { Handler } from './platform.js'

export interface RouteOptions extends GateOptions {
  readonly sending: Sending
  readonly appSecret: string
  /** null when events go to a webhook: discovery then answers "forbidden". */
  readonly longConnection: LongConnection | null
}

/** Paths and methods as the platform has them. Source: im-v1, cardkit-v1, bot-v3, auth-v3. */
export function createRoutes(options: RouteOptions): Hono {
  const { platform, sending, tokens } = options
  const app = new Hono()
  const on = (api: ApiName, access: Access, handler: Handler) => gate(options, api, access, handler)
  const isOurApp = (id: unknown, secret: unknown): boolean => id === platform.appId && secret === options.appSecret

  const token: Handler = (_platform, call) => {
    const { app_id: id, app_secret: secret } = call.json ?? {}
    if (typeof id !== 'string' || typeof secret !== 'string') return refuseFlat(10003)
    if (!isOurApp(id, secret)) return refuseFlat(99991543)
    const issued = tokens.issue()
    return succeedFlat({ tenant_access_token: issued.token, expire: issued.expire })
  }
  const discovery: Handler = (_platform, call) => {
    const { AppID, AppSecret } = call.json ?? {}
    if (options.longConnection === null) return discoveryRefused(403, 'forbidden')
    if (!isOurApp(AppID, AppSecret)) return discoveryRefused(514, 'auth failed')
    return discovered(options.longConnection.discover(call.url.origin))
  }
  app.post('/open-apis/auth/v3/tenant_access_token/internal', on('token', 'open', token))
  app.post('/callback/ws/endpoint', on('ws.endpoint', 'open', discovery))
  app.get(
    '/open-apis/bot/v3/info',
    on('bot.info', 'bearer', () => succeedFlat(botInfo(platform))),
  )

  const im = '/open-apis/im/v1'
  const message = `${im}/messages/:messageId`
  app.post(
    `${im}/messages`,
    on('message.create', 'bearer', (_platform, call) => sending.create(call)),
  )
  app.get(`${im}/messages`, on('message.list', 'bearer', listMessages))
  app.post(
    `${message}/reply`,
    on('message.reply', 'bearer', (_platform, call) => sending.reply(call)),
  )
  app.get(message, on('message.get', 'bearer', getMessage))
  app.patch(message, on('message.patch', 'bearer', patchCard))
  app.put(message, on('message.update', 'bearer', updateMessage))
  app.delete(message, on('message.delete', 'bearer', deleteMessage))

  app.post(`${message}/reactions`, on('reaction.create', 'bearer', createReaction))
  app.get(`${message}/reactions`, on('reaction.list', 'bearer', listReactions))
  app.delete(`${message}/reactions/:reactionId`, on('reaction.delete', 'bearer', deleteReaction))

  app.post(`${im}/images`, on('image.upload', 'bearer', uploadImage))
  app.get(`${im}/images/:key`, on('image.get', 'bearer', getOwnUpload))
  app.post(`${im}/files`, on('file.upload', 'bearer', uploadFile))
  app.get(`${im}/files/:key`, on('file.get', 'bearer', getOwnUpload))
  app.get(`${message}/resources/:key`, on('resource.get', 'bearer', getResource))
  app.get(`${im}/chats`, on('chat.list', 'bearer', listChats))
  app.get(`${im}/chats/:chatId`, on('chat.get', 'bearer', getChat))
  app.get(`${im}/chats/:chatId/members`, on('chat.members', 'bearer', listMembers))

  const card = '/open-apis/cardkit/v1/cards/:cardId'
  app.post('/open-apis/cardkit/v1/cards', on('card.create', 'bearer', createCard))
  app.put(`${card}/elements/:elementId/content`, on('card.content', 'bearer', streamText))
  app.patch(`${card}/settings`, on('card.settings', 'bearer', changeSettings))
  app.put(card, on('card.update', 'bearer', replaceCard))
  return app
}
