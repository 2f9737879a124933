import { z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { ownerWorkModes, returnModes, settingsOf, whoModes } from '../../collab/chat-policy.js'
import type { BotId } from '../../collab/refs.js'
import { EVERYWHERE, removeMember, setPolicy, showPolicy, type PolicyShown } from '../../exchange/chat-policy.js'
import { listChats } from '../../stores/views/chats.js'
import type { WebDeps } from '../deps.js'
import { problem } from '../problem.js'
import { nameOf, type WebEnv } from '../session.js'
import { describe } from './describe.js'
import { eventIdOf, IfMatch, revisionOf } from './headers.js'
import { bodyOf } from './read.js'

const instant = z.int().openapi({ description: 'Milliseconds since the epoch, UTC' })
const quiet = z
  .strictObject({
    from: z.int().min(0).max(1439).openapi({ description: 'Minutes since midnight; the first that is quiet' }),
    until: z.int().min(0).max(1439).openapi({ description: 'The first that is not quiet any more' }),
    zone: z.string().max(64).openapi({ description: 'An IANA time zone, such as Asia/Shanghai' }),
  })
  .nullable()
const settings = {
  who: z.enum(whoModes).openapi({ description: 'Who may start a turn' }),
  mention: z.enum(['required', 'off']),
  atAll: z.boolean().openapi({ description: '@all counts as naming the bot' }),
  bots: z.boolean().openapi({ description: 'Other bots that name this one may start a turn' }),
  returns: z.enum(returnModes).openapi({ description: 'Answers reply to their question, or stand alone in the chat' }),
  quiet,
  language: z.enum(['en', 'zh']).nullable(),
  ownerWork: z.enum(ownerWorkModes).openapi({ description: "How an owner's own message in a group is worked on" }),
}
const Settings = z.strictObject(settings).partial().openapi('ChatPolicySettings')
const Member = z
  .strictObject({
    openId: z.string(),
    everywhere: z.boolean(),
    starts: z.int().nullable().openapi({ description: 'Turns that may be started; null: without a count' }),
    started: z.int(),
    until: instant.nullable(),
    admittedBy: z.string(),
    admittedAt: instant,
  })
  .openapi('ChatMember')
const Policy = z
  .strictObject({
    bot: z.string(),
    chat: z.string().openapi({ description: 'A chat id, or `all`' }),
    revision: z.int().openapi({ description: '0: this chat sets nothing for itself' }),
    everywhere: z.int().openapi({ description: 'Revision of what holds for all chats' }),
    settings: Settings.nullable().openapi({ description: 'What this chat sets; null: it cannot be read' }),
    effective: z.strictObject(settings).openapi({ description: 'What holds in this chat now' }),
    readable: z.boolean().openapi({ description: 'False: a row cannot be read, so the chat is closed' }),
    isolated: z.boolean().openapi({ description: "Whether members' work runs apart, without which they start none" }),
    setBy: z.string().nullable(),
    setAt: instant.nullable(),
    members: z.array(Member),
  })
  .openapi('ChatPolicy')
const Chats = z
  .strictObject({ items: z.array(z.strictObject({ bot: z.string(), chat: z.string(), revision: z.int() })) })
  .openapi('ChatList')
const Set = z.strictObject({ outcome: z.enum(['accepted', 'already-applied']), revision: z.int() }).openapi('PolicySet')
const Removed = z.strictObject({ ended: z.int() }).openapi('MemberRemoved')

/** Who may start work in which chat: seen and set by the operator. */
export function chatRoutes(app: OpenAPIHono<WebEnv>, deps: WebDeps): void {
  const x = deps.exchange
  describe(app, {
    method: 'get',
    path: '/api/v1/chats',
    summary: 'Chats that are known or have a policy, at most 200',
    answers: { 200: { description: 'All of them', schema: Chats } },
    problems: [],
  })
  app.get('/api/v1/chats', async (c) => {
    const rows = await listChats(x.db.sql)
    return c.json({ items: rows.map((row) => ({ ...row, chat: nameIn(row.chat) })) })
  })

  describe(app, {
    method: 'get',
    path: '/api/v1/chats/{bot}/{chat}/policy',
    summary: 'What holds in a chat, or with `all` in every chat that says nothing else',
    answers: { 200: { description: 'The policy, its revision in the ETag', schema: Policy } },
    problems: [404],
  })
  app.get('/api/v1/chats/:bot/:chat/policy', async (c) => {
    const at = placeOf(c, deps)
    if (at instanceof Response) return at
    const shown = viewOf(await showPolicy(x, at.bot, at.chat))
    c.header('etag', `"${shown.revision}"`)
    return c.json(shown)
  })

  describe(app, {
    method: 'put',
    path: '/api/v1/chats/{bot}/{chat}/policy',
    summary: 'Replace what a chat sets for itself; what it leaves out comes from `all`',
    headers: IfMatch,
    body: Settings,
    answers: { 200: { description: 'The new revision', schema: Set } },
    problems: [400, 404, 409, 412, 422, 428],
  })
  app.put('/api/v1/chats/:bot/:chat/policy', async (c) => {
    const at = placeOf(c, deps)
    if (at instanceof Response) return at
    const onRevision = revisionOf(c)
    if (onRevision instanceof Response) return onRevision
    const eventId = eventIdOf(c, `chat policy ${at.bot} ${at.chat}`)
    if (eventId instanceof Response) return eventId
    const body = await bodyOf(c, Settings)
    if (body instanceof Response) return body
    const said = settingsOf(body)
    if (said === null) return problem(c, 'bad-request', { where: 'quiet' })
    const who = nameOf(c.get('caller'))
    const done = await setPolicy(x, { ...at, settings: said, as: 'whole', onRevision, who, owner: null, eventId })
    if (done.outcome !== 'refused') return c.json({ outcome: done.outcome, revision: done.revision })
    if (done.because === 'policy-conflict') return problem(c, 'stale-revision', { head: done.revision })
    return problem(c, done.because)
  })

  describe(app, {
    method: 'post',
    path: '/api/v1/chats/{bot}/{chat}/members/{openId}/remove',
    summary: 'End what admits a person to a chat; what of theirs waits does not run',
    headers: z.object({ 'idempotency-key': z.string() }),
    answers: { 200: { description: 'How many memberships ended now', schema: Removed } },
    problems: [400, 404],
  })
  app.post('/api/v1/chats/:bot/:chat/members/:openId/remove', async (c) => {
    const at = placeOf(c, deps)
    if (at instanceof Response) return at
    const openId = c.req.param('openId')
    if (!/^ou_\w{1,100}$/.test(openId)) return problem(c, 'chat-unknown')
    const eventId = eventIdOf(c, `chat member remove ${at.bot} ${at.chat} ${openId}`)
    if (eventId instanceof Response) return eventId
    const ended = await removeMember(x, { ...at, openId, who: nameOf(c.get('caller')), eventId })
    return c.json({ ended })
  })
}

const nameIn = (chat: string): string => (chat === EVERYWHERE ? 'all' : chat)

/** A chat of a bot that runs here; the platform alone knows whether it exists. */
function placeOf(c: Context, deps: WebDeps): { readonly bot: string; readonly chat: string } | Response {
  const { bot = '', chat = '' } = c.req.param() as Readonly<Record<string, string>>
  const known = deps.exchange.channelOf(bot as BotId) !== null && (chat === 'all' || /^oc_\w{1,100}$/.test(chat))
  return known ? { bot, chat: chat === 'all' ? EVERYWHERE : chat } : problem(c, 'chat-unknown')
}

function viewOf({ ref, members, chat, ...shown }: PolicyShown): z.output<typeof Policy> {
  return {
    ...shown,
    chat: nameIn(chat),
    revision: chat === EVERYWHERE ? ref.everywhere : ref.chat,
    everywhere: ref.everywhere,
    members: members.map(({ openId, chatId, starts, started, until, admittedBy, admittedAt }) => ({
      openId,
      everywhere: chatId === EVERYWHERE,
      starts,
      started,
      until,
      admittedBy,
      admittedAt,
    })),
  }
}
