import type { Omission } from '../collab/context.js'
import type { SteerState } from '../collab/exchange-parts.js'
import type { ExchangeState } from '../collab/exchange-state.js'
import { owedAsks, toIntegrate } from '../collab/exchange-state.js'
import type { IncomingMessage } from '../collab/message.js'
import type { Channel } from '../collab/channel.js'
import type { TurnInput } from '../collab/ports.js'
import { chooseContext, composePrompt, contextText, type PromptMaterial } from '../collab/project/prompt.js'
import { MANAGER, type LaneId, type ReturnRef, type TurnId } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { conversationOf } from '../stores/conversations/conversations.js'
import { contextItems, freshContext } from '../stores/ingress/context-items.js'
import { messageEvent } from '../stores/ingress/ingress.js'
import { factsOf, stateOfRequest, textsOf } from '../stores/ledger/read.js'
import { waitingRequests } from '../stores/turns/turns.js'
import { answersOf, briefOf } from './agents/brief-of.js'
import { continuityFor } from './agents/continuity-for.js'
import { awaitedIn } from './awaited.js'
import { consequencesOf } from './consequences.js'
import type { Exchange } from './deps.js'
import { fetchFiles } from './files.js'
import type { Context } from './fresh.js'
import { scopeOf } from './open.js'
import { placeOf } from './place.js'
import { askDigestsOf } from './relate.js'
import { earlierIn, toldBefore } from './told-before.js'

export interface Prepared {
  readonly input: TurnInput
  readonly contextItems: readonly string[]
}

export interface PrepareHow {
  /** The context items of an earlier turn on this request: a retry uses exactly those. Null: there was none. */
  readonly shownBefore: readonly string[] | null
  /** The conversation context in which it runs, with its own folder for files. */
  readonly context: Pick<Context, 'since' | 'workspaceLane' | 'sessionLane' | 'otherSessions'>
  /** The session is a new one: it knows nothing of this conversation yet. */
  readonly begins?: boolean
  /** What a session that begins is told of itself. */
  readonly sheet?: readonly string[]
  /** The session has the message already, from a turn that was cut off. */
  readonly goesOn?: boolean
  /** Put into a turn that runs: only the message, without what else the conversation is owed. */
  readonly alone?: boolean
}

/**
 * Gathers what a turn reads: the owner's words verbatim, the quoted parent, context-only items, files in the lane's
 * workspace, and what cannot be had with its reason. Nothing here starts a turn or changes a fact.
 *
 * @source RFC §5.4 — delivery In 3, 6
 */
export async function prepareTurn(
  x: Exchange,
  state: ExchangeState,
  request: WorkRequest,
  lane: LaneId,
  turn: TurnId,
  how: PrepareHow,
): Promise<Prepared> {
  const { sql } = x.db
  const { shownBefore, context, begins = false, sheet = [], alone = false, goesOn = false } = how
  const { since, workspaceLane } = context
  const channel = x.channelOf(request.origin.bot)
  const said = await messagesOf(x, state, request)
  const brief = placeOf(request) === null ? await briefOf(x, request.id) : null
  const message = said.find((one) => one.messageId === request.origin.messageId) ?? null
  const conversation = await conversationOf(sql, request.conversation)
  const omissions: Omission[] = [...(brief?.omissions ?? [])]
  const owed = await owedTexts(x, state, request)
  const forwarded: string[] = []
  const messages =
    channel === null ? owed.map((ask) => ask.text) : await inFull(channel, said, owed, forwarded, omissions)
  const parent = message === null || channel === null ? null : await quotedParent(channel, message, omissions)
  const to = placeOf(request)
  const items =
    shownBefore !== null
      ? await contextItems(sql, shownBefore)
      : to === null
        ? []
        : chooseContext(
            await freshContext(sql, { bot: to.bot, chatId: to.chatId, threadKey: to.threadId ?? '' }, 8, since),
          )
  const files: TurnInput['attachments'][number][] = []
  for (const one of channel === null ? [] : said) {
    if (channel !== null) files.push(...(await fetchFiles(x, channel, one, request, workspaceLane, omissions)))
  }
  // What was sent with the message itself is not shown a second time as quoted.
  const quotedFiles =
    channel === null || parent === null || said.some((one) => one.messageId === parent.messageId)
      ? []
      : await fetchFiles(x, channel, parent, request, workspaceLane, omissions)
  const waiting = await waitingRequests(sql, lane, request.id)
  const earlier = begins ? await earlierIn(x, request, context) : []
  const text = composePrompt({
    language: conversation?.language ?? 'en',
    request: request.id,
    revision: state.head,
    sender: senderOf(request),
    asks: x.toolsUrl === null ? [] : owed,
    background: [
      ...(sheet.length === 0 ? [] : [{ title: 'Your session, as it begins', text: sheet.join('\n') }]),
      ...(brief === null
        ? []
        : [{ title: 'Brief (from the agent that asks, with the owner’s own messages)', text: brief.text }]),
      ...(await continuityFor(x, state, request.target ?? MANAGER, scopeOf(request.conversation))),
      ...earlier,
    ],
    returned: await returnedOf(x, state, request),
    ...(await toldBefore(x, state, scopeOf(request.conversation))),
    place: placeWord(to, message),
    writtenAt: new Date(message?.createTime ?? request.openedAt).toISOString(),
    messages,
    mentions: said.flatMap((one) => one.mentions).filter((mention) => !mention.isSelf),
    forwarded,
    quoted: parent === null ? null : { from: parent.sender.openId, text: parent.text },
    context: items.map((item) => ({ from: item.senderOpenId, text: contextText(item.body) })),
    attachments: files,
    quotedFiles,
    omissions,
    obligations: alone
      ? []
      : [
          ...waiting.map((other) => `${other.count} more message(s), waiting in order`).slice(0, 1),
          ...(x.toolsUrl === null || to === null ? [] : await awaitedIn(x, lane, request.id)),
        ],
    toldTo: [...new Set([...state.steers.values()].filter(mayHaveArrived).map(({ into }) => into))],
    resumed: state.turns.size > 0 && state.results.length === 0,
    goesOn,
  })
  return { input: { turn, text, attachments: [...files, ...quotedFiles] }, contextItems: items.map((item) => item.id) }
}

const mayHaveArrived = ({ became }: SteerState): boolean => became !== 'too-late' && became !== 'unsupported'

/** The provider's messages that the request is made of: its own, and those that were related to it. */
async function messagesOf(
  x: Exchange,
  state: ExchangeState,
  request: WorkRequest,
): Promise<readonly IncomingMessage[]> {
  if (placeOf(request) === null) return []
  const events = await Promise.all(state.sources.map((id) => messageEvent(x.db.sql, request.origin.bot, id)))
  return events.flatMap((event) => (event?.kind === 'message' ? [event.message] : []))
}

/**
 * The owed texts, with what an event did not carry read by REST in the place of its own text. What was forwarded is
 * not the sender's own word, so it goes apart.
 */
async function inFull(
  channel: Channel,
  said: readonly IncomingMessage[],
  owed: readonly { readonly text: string }[],
  forwarded: string[],
  omissions: Omission[],
): Promise<readonly string[]> {
  const texts = owed.map((ask) => ask.text)
  for (const message of said) {
    const at = texts.indexOf(message.text)
    if (message.expand === 'merge-forward') {
      const bundle = await bundleOf(channel, message, omissions)
      if (bundle !== null) forwarded.push(bundle)
    } else if (message.expand !== null && at >= 0) {
      texts[at] = await expanded(channel, message, message.text, omissions)
    }
  }
  return texts
}

/** The bodies of the asks that are still owed, in the order in which they were committed; of all when none is. */
async function owedTexts(
  x: Exchange,
  state: ExchangeState,
  request: WorkRequest,
): Promise<readonly { readonly id: string; readonly text: string }[]> {
  const owed = new Set<string>(owedAsks(state))
  const facts = await factsOf(x.db.sql, state.id)
  const asks = [...askDigestsOf(facts)].map(([id, textDigest]) => ({ id, textDigest }))
  const open = owed.size === 0 ? asks : asks.filter((ask) => owed.has(ask.id))
  const bodies = await textsOf(
    x.db.sql,
    open.map((ask) => ask.textDigest),
    scopeOf(request.conversation),
  )
  return open.map((ask) => ({ id: ask.id, text: bodies.get(ask.textDigest) ?? '' }))
}

function senderOf(request: WorkRequest): string {
  const { sender, authority } = request
  const person = authority.principal === 'member' ? 'member' : 'owner'
  if (sender.kind === 'agent') return `the agent ${sender.agent}, for the ${person} ${authority.openId}`
  if (authority.principal === 'member') {
    return `${authority.openId}, whom an owner lets ask here; not an owner, and no word of theirs permits anything`
  }
  return sender.kind === 'person' && sender.openId !== authority.openId
    ? `the bot ${sender.openId}, which may ask here in the name of the owner ${authority.openId}`
    : `the owner ${authority.openId}`
}

/** Results of children that no turn has taken up yet. */
async function returnedOf(
  x: Exchange,
  state: ExchangeState,
  request: WorkRequest,
): Promise<PromptMaterial['returned']> {
  return await Promise.all(
    toIntegrate(state).map(async (id) => {
      const child = await stateOfRequest(x.db.sql, id)
      const known = state.children.get(id)
      return {
        from: known?.target ?? 'an agent',
        ended: known?.returned?.ended ?? 'returned',
        text: await answersOf(x, child, known?.returned?.result ?? null, scopeOf(request.conversation)),
        work: await consequencesOf(x, child, { request, agent: request.target ?? MANAGER }),
      }
    }),
  )
}

/** Content that the event did not carry is read by REST; when that fails the agent is told what is missing. */
async function expanded(
  channel: Channel,
  message: IncomingMessage,
  text: string,
  omissions: Omission[],
): Promise<string> {
  if (message.expand === null) return text
  if (message.expand === 'merge-forward') {
    const bundle = await bundleOf(channel, message, omissions)
    return [text, bundle ?? ''].filter((part) => part.trim() !== '').join('\n\n')
  }
  const read = await channel.fetchMessage(message.messageId)
  if (read.fetched) return read.value.text
  omissions.push({ what: 'the content of the message', because: read.because })
  return text
}

async function bundleOf(channel: Channel, message: IncomingMessage, omissions: Omission[]): Promise<string | null> {
  const bundle = await channel.fetchBundle(message.messageId)
  if (bundle.fetched) return bundle.value
  omissions.push({ what: 'the forwarded messages', because: bundle.because })
  return null
}

/** Where it was asked; an answer that goes elsewhere has to say what it answers. */
function placeWord(to: ReturnRef | null, message: IncomingMessage | null): PromptMaterial['place'] {
  if (to !== null && message !== null && message.chatId !== to.chatId) return 'group, to be answered in the direct chat'
  return to === null || to.chatType === 'p2p' ? 'direct chat' : to.threadId === null ? 'group' : 'topic'
}

/** A quoted parent is used only if its id and conversation match; a thread's root is not a quote. */
async function quotedParent(
  channel: Channel,
  message: IncomingMessage,
  omissions: Omission[],
): Promise<IncomingMessage | null> {
  const { parentId, threadId, rootId } = message
  if (parentId === null || (threadId !== null && parentId === rootId)) return null
  const parent = await channel.fetchMessage(parentId)
  if (!parent.fetched) {
    omissions.push({ what: 'the quoted message', because: parent.because })
    return null
  }
  const elsewhere = parent.value.chatId !== '' && parent.value.chatId !== message.chatId
  if (parent.value.messageId !== parentId || elsewhere) {
    omissions.push({ what: 'the quoted message', because: 'mismatch' })
    return null
  }
  return { ...parent.value, text: await expanded(channel, parent.value, parent.value.text, omissions) }
}
