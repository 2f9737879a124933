import { Hono, type Context } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { streamSSE } from 'hono/streaming'
import { z } from 'zod'
import { ChatPage, Talk } from '../../render/html/chat-page.js'
import { bodyOf } from '../api/read.js'
import type { WebDeps } from '../deps.js'
import { dispositionOf } from '../download.js'
import { languageOf } from '../language.js'
import { notFoundPage, shellOf } from '../pages.js'
import { problem } from '../problem.js'
import { requireBrowser, requireOperator, type WebEnv } from '../session.js'
import { pictureType } from './picture.js'
import { shownMessages } from './shown.js'
import { troubles, type ChatRoom } from './chat.js'

const Say = z.object({
  chatId: z.string(),
  from: z.string(),
  text: z.string().min(1).max(150_000),
  mention: z.boolean(),
  threadOf: z.string().optional(),
})
const Recall = z.object({ messageId: z.string(), by: z.string() })
const Click = z.object({ messageId: z.string(), by: z.string(), value: z.unknown() })

const TroubleAsked = z.object({ what: z.enum(troubles) })

const fileLimitBytes = 30 * 1024 * 1024

/** The chat page of the local platform, for the operator alone. */
export function sandboxRoutes(deps: WebDeps, sandbox: NonNullable<WebDeps['sandbox']>): Hono<WebEnv> {
  const app = new Hono<WebEnv>()
  const { chat } = sandbox
  const room = (chatId: string | undefined): ChatRoom | undefined => chat.chats().find((one) => one.chatId === chatId)
  const isMember = (chatId: string, openId: string): boolean => room(chatId)?.members.has(openId) === true
  const knows = (chatId: string, messageId: string | undefined): boolean =>
    messageId === undefined || chat.messages(chatId).some((message) => message.id === messageId)
  const roomOf = (messageId: string): ChatRoom | undefined => chat.chats().find((one) => knows(one.chatId, messageId))

  app.get('/sandbox', requireBrowser(deps), (c) => {
    const asked = c.req.query('chat')
    const here = asked === undefined ? chat.chats()[0] : room(asked)
    if (here === undefined) return notFoundPage(deps, c)
    return c.html(
      <ChatPage
        shell={shellOf(deps, c, c.get('caller'))}
        rooms={chat.chats()}
        chatId={here.chatId}
        mode={here.mode}
        members={chat.people().filter((person) => here.members.has(person.openId))}
        messages={shownMessages(chat, here)}
        directives={sandbox.directives}
      />,
    )
  })

  app.use('/sandbox/*', requireOperator(deps))
  app.get('/sandbox/chats/:id', (c) => {
    const here = room(c.req.param('id'))
    if (here === undefined) return problem(c, 'not-found')
    const language = languageOf(c.req.header('accept-language'))
    return c.html(<Talk messages={shownMessages(chat, here)} language={language} mode={here.mode} />)
  })
  app.get('/sandbox/events', (c) =>
    streamSSE(c, async (stream) => {
      const gone = new Promise<void>((resolve) => stream.onAbort(resolve))
      // A first line opens the stream for proxies that wait for one.
      await stream.writeSSE({ event: 'hello', data: '{}' })
      const stop = chat.onChange(({ chatId }) => {
        void stream.writeSSE({ event: 'change', data: JSON.stringify({ chatId }) }).catch(() => {})
      })
      await gone
      stop()
    }),
  )
  app.get('/sandbox/files/:key', (c) => {
    const file = chat.uploads().find((upload) => upload.key === c.req.param('key'))
    if (file === undefined) return problem(c, 'not-found')
    const picture = pictureType(file.bytes)
    return c.body(new Uint8Array(file.bytes), 200, {
      'content-type': picture ?? 'application/octet-stream',
      'content-security-policy': "default-src 'none'; sandbox",
      ...(picture === null ? { 'content-disposition': dispositionOf(file.fileName) } : {}),
    })
  })

  app.post('/sandbox/say', bodyLimit({ maxSize: 1024 * 1024, onError: tooLarge }), async (c) => {
    const said = await bodyOf(c, Say)
    if (said instanceof Response) return said
    const { chatId, from, text, mention, threadOf } = said
    if (!isMember(chatId, from) || !knows(chatId, threadOf)) return problem(c, 'bad-request')
    const place = threadOf === undefined ? {} : { threadOf }
    const mentioned = mention && room(chatId)?.mode !== 'p2p' ? { mentionBot: true } : {}
    return c.json({ id: chat.say({ chatId, from, text, ...mentioned, ...place }).id })
  })
  app.post('/sandbox/file', bodyLimit({ maxSize: fileLimitBytes, onError: tooLarge }), async (c) => {
    const { chatId, from, threadOf, file } = await c.req.parseBody()
    if (typeof chatId !== 'string' || typeof from !== 'string' || !(file instanceof File))
      return problem(c, 'bad-request')
    const thread = typeof threadOf === 'string' && threadOf !== '' ? threadOf : undefined
    if (!isMember(chatId, from) || !knows(chatId, thread) || file.size === 0) return problem(c, 'bad-request')
    const bytes = new Uint8Array(await file.arrayBuffer())
    const kind = pictureType(bytes) === null ? 'file' : 'image'
    const place = thread === undefined ? {} : { threadOf: thread }
    return c.json({ id: chat.sayFile({ chatId, from, fileName: file.name, bytes, kind, ...place }).id })
  })
  app.post('/sandbox/recall', async (c) => {
    const recall = await bodyOf(c, Recall)
    if (recall instanceof Response) return recall
    const here = roomOf(recall.messageId)
    const message =
      here === undefined ? undefined : chat.messages(here.chatId).find((one) => one.id === recall.messageId)
    if (message?.sender !== recall.by) return problem(c, 'bad-request')
    chat.recall(recall.messageId, recall.by)
    return c.json({})
  })
  app.post('/sandbox/click', async (c) => {
    const click = await bodyOf(c, Click)
    if (click instanceof Response) return click
    const here = roomOf(click.messageId)
    if (here === undefined || !here.members.has(click.by)) return problem(c, 'bad-request')
    return c.json({ answer: await chat.click(click) })
  })
  app.post('/sandbox/trouble', async (c) => {
    const asked = await bodyOf(c, TroubleAsked)
    if (asked instanceof Response) return asked
    chat.trouble(asked.what)
    return c.json({})
  })
  return app
}

function tooLarge(c: Context): Response {
  return problem(c, 'too-large')
}
