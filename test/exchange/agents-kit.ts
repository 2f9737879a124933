import { randomUUID } from 'node:crypto'
import type { AgentTools, ToolCaller } from '../../src/collab/agent-tools.js'
import type { Receipt } from '../../src/collab/decision.js'
import { decideAssign } from '../../src/collab/decide/assign.js'
import { decidePresent } from '../../src/collab/decide/present.js'
import type { ExchangeState } from '../../src/collab/exchange-state.js'
import type { IncomingMessage } from '../../src/collab/message.js'
import type { AgentDirectory, RegisteredAgent, WorkAuthority } from '../../src/collab/ports.js'
import {
  MANAGER,
  type AgentId,
  type AttemptId,
  type ConversationId,
  type EventId,
  type Instant,
  type LaneId,
  type RequestId,
  type Revision,
  type TurnId,
} from '../../src/collab/refs.js'
import { createAgentTools } from '../../src/exchange/agents/tools.js'
import { decideAndCommit } from '../../src/exchange/exchange.js'
import { attemptIdOf, conversationIdOf, eventIdOf, laneOf, turnIdOf } from '../../src/exchange/ids.js'
import { openRequest } from '../../src/exchange/open.js'
import { ensureConversation } from '../../src/stores/conversations/conversations.js'
import { stateOfRequest } from '../../src/stores/ledger/read.js'
import { bindOwner } from '../../src/stores/principals/principals.js'
import { startTurn } from '../../src/stores/turns/turns.js'
import type { Db } from '../../src/stores/db.js'
import { bot, FakeChannel, TestClock, testExchange, type TestExchange } from './outgoing-kit.js'
import { byOwner } from '../kit/exchange.js'

/* One installation with registered agents: the manager's turn is begun as its lane would begin it. */

export const agent = (name: string) => name as AgentId

export function registered(name: string, over: Partial<RegisteredAgent> = {}): RegisteredAgent {
  return {
    agent: agent(name),
    goal: 'goal-one',
    goalState: 'active',
    role: 'worker',
    responsibility: `responsible for ${name}`,
    host: 'host-one',
    endpoint: { kind: 'attached' },
    abilities: [],
    capacity: 1,
    lastEvidenceAt: null,
    reachable: null,
    ...over,
  }
}

export function directoryOf(agents: readonly RegisteredAgent[]): AgentDirectory {
  return {
    find: async (id) => agents.find((one) => one.agent === id) ?? null,
    list: async ({ includeStopped }) => agents.filter((one) => includeStopped || one.goalState === 'active'),
  }
}

export interface Rig {
  readonly x: TestExchange
  readonly clock: TestClock
  readonly tools: AgentTools
}

export function rigOf(db: Db, agents: readonly RegisteredAgent[], work?: WorkAuthority): Rig {
  const clock = new TestClock()
  const base = testExchange(db, clock, new FakeChannel(clock))
  const x: TestExchange = { ...base, directory: directoryOf(agents), ...(work === undefined ? {} : { work }) }
  return { x, clock, tools: createAgentTools(x) }
}

export const rev = (n: number) => n as Revision
export const event = (name: string = randomUUID()) => name as EventId

/** An attached agent that pulls by itself. */
export const attached = (name: string): ToolCaller => ({
  agent: agent(name),
  session: `session-${name}`,
  epoch: 1,
  lane: null,
  turn: null,
})

export interface Root {
  readonly request: RequestId
  readonly conversation: ConversationId
  /** The manager inside its running turn on this request. */
  readonly manager: ToolCaller
}

export function messageIn(chatId: string, text: string, at: number): IncomingMessage {
  return {
    bot,
    messageId: `om_${randomUUID()}`,
    chatId,
    chatType: 'p2p',
    threadId: null,
    rootId: null,
    parentId: null,
    sender: { openId: 'ou_test_owner', unionId: null, type: 'user', tenantKey: null },
    createTime: at as Instant,
    messageType: 'text',
    text,
    mentions: [],
    mentionsSelf: false,
    mentionsAll: false,
    attachments: [],
    expand: null,
    recalled: false,
    unknown: [],
  }
}

const OWNER = 'ou_test_owner'

/** An owner's message, or with the owner's authority that of somebody else, becomes a request in its conversation. */
export async function openRoot(
  { x, clock }: Rig,
  text: string,
  chatId = `oc_${randomUUID()}`,
  writer = OWNER,
): Promise<{ readonly request: RequestId; readonly conversation: ConversationId }> {
  clock.add(1)
  const own = messageIn(chatId, text, clock.now())
  const message = { ...own, sender: { ...own.sender, openId: writer } }
  const id = conversationIdOf(bot, chatId, '')
  const place = { id, bot, chatId, threadKey: '', chatType: 'p2p' }
  await bindOwner(x.db.sql, { bot, openId: message.sender.openId, directChat: chatId }, clock.now())
  const conversation = await ensureConversation(x.db.sql, place, 'en', clock.now())
  return {
    request: await openRequest(x, { message, conversation, receivedAt: clock.now(), late: false, ...byOwner(own) }),
    conversation: id,
  }
}

/** Opens a request and begins a turn of its receiver on it. */
export async function rootInTurn(rig: Rig, text: string, chatId?: string, writer?: string): Promise<Root> {
  const { request, conversation } = await openRoot(rig, text, chatId, writer)
  const turn = await beginTurn(rig, request, MANAGER)
  return {
    request,
    conversation,
    manager: { agent: MANAGER, session: 'session-manager', epoch: 1, lane: laneOf(conversation), turn },
  }
}

/** As the lane does it: the live attempt or a new one, a turn row, and its presentation. */
export async function beginTurn({ x }: Rig, request: RequestId, receiver: AgentId): Promise<TurnId> {
  const state = await stateOfRequest(x.db.sql, request)
  const live = [...state.attempts.values()].find((one) => one.target === receiver && one.released === null)
  const attempt = live?.id ?? attemptIdOf(request, state.head, state.attempts.size + 1)
  const base = { requestId: request, at: x.clock.now() as Instant }
  if (live === undefined) {
    await must(
      decideAndCommit(
        x,
        {
          kind: 'assign-attempt',
          eventId: eventIdOf('assign', attempt),
          ...base,
          actor: { kind: 'host' },
          attempt: {
            id: attempt,
            request,
            revision: state.head,
            target: receiver,
            intent: 'delegation',
            effectful: true,
            supersedes: null,
          },
        } as const,
        decideAssign,
      ),
    )
  }
  const turn = turnIdOf(attempt, state.turns.size + 1)
  const lane: LaneId = laneOf(state.request?.conversation as ConversationId, receiver)
  await startTurn(x.db.sql, {
    id: turn,
    lane,
    request,
    attempt,
    revision: state.head,
    runtime: 'test',
    holder: 'test',
    fence: 1,
    startedAt: x.clock.now(),
  })
  await must(
    decideAndCommit(
      x,
      {
        kind: 'present-turn',
        eventId: eventIdOf('presented', turn),
        ...base,
        attempt: attempt as AttemptId,
        turn,
        hostTurn: `host-${turn}`,
        onRevision: state.head,
        contextItems: [],
      } as const,
      decidePresent,
    ),
  )
  return turn
}

async function must(receipt: Promise<Receipt>): Promise<void> {
  const { outcome } = await receipt
  if (outcome !== 'accepted') throw new Error(`the rig's own command was ${JSON.stringify(await receipt)}`)
}

export const stateOf = ({ x }: Rig, request: RequestId): Promise<ExchangeState> => stateOfRequest(x.db.sql, request)

/** Hands work of a request on, as its receiver does; the child that was opened for it. */
export async function handOn(
  { tools }: Rig,
  from: ToolCaller,
  request: RequestId,
  receiver: string,
  over: Partial<Omit<Parameters<AgentTools['ask']>[1], 'request' | 'receiver'>> = {},
): Promise<RequestId> {
  const receipt = await tools.ask(from, {
    eventId: event(),
    request,
    receiver: agent(receiver),
    intent: 'delegation',
    asks: [],
    question: 'Please do it.',
    brief: '',
    refs: [],
    reason: 'able to',
    direct: false,
    ...over,
  })
  if (receipt.child === undefined || receipt.outcome !== 'accepted') throw new Error(`not handed on: ${word(receipt)}`)
  return receipt.child
}

/** The ids of the asks of a request. */
export async function asksOf(rig: Rig, request: RequestId) {
  return [...(await stateOf(rig, request)).asks.keys()]
}

/** `accepted`, or the reason of the refusal, or the other outcomes. */
export const word = (receipt: Receipt): string =>
  receipt.outcome === 'rejected' ? receipt.refusal.reason : receipt.outcome

/** Every wake with the beginning of its subject. */
export async function wakesLike({ x }: Rig, subject: string): Promise<readonly { subject: string; dueAt: number }[]> {
  return await x.db.sql<{ subject: string; dueAt: number }[]>`
    select subject, due_at as "dueAt" from collab.wakes where starts_with(subject, ${subject}) order by subject`
}
