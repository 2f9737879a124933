import { expect } from 'vitest'
import { digestOfContext, type SemanticContext } from '../../src/collab/context.js'
import type { Decision, RefusalReason } from '../../src/collab/decision.js'
import { decideAccept } from '../../src/collab/decide/accept.js'
import { decideAssign } from '../../src/collab/decide/assign.js'
import { decidePresent } from '../../src/collab/decide/present.js'
import type { EndTurn } from '../../src/collab/decide/record.js'
import { evolve, unopened, type ExchangeState } from '../../src/collab/exchange-state.js'
import type { Fact, FactKind, Observation } from '../../src/collab/observation.js'
import {
  MANAGER,
  type ActorRef,
  type AskId,
  type AttemptId,
  type BotId,
  type ConversationId,
  type EventId,
  type Instant,
  type RequestId,
  type ResultId,
  type Revision,
  type Seq,
  type TextDigest,
  type TurnId,
} from '../../src/collab/refs.js'
import type { WorkRequest } from '../../src/collab/request.js'

/* Short words for tests of the ledger: one owner, one request, small ids. */

export const id = <T extends string>(text: string) => text as unknown as T
export const R = id<RequestId>('00000000-0000-7000-8000-000000000001')
export const at = (ms: number) => ms as Instant
export const revision = (n: number) => n as Revision
export const owner: ActorRef = { kind: 'person', bot: 'cli_test' as BotId, openId: 'ou_owner' }
export const host: ActorRef = { kind: 'host' }
export const event = (name: string) => name as EventId

export function contextAt(n: number, text = `text-${n}`): SemanticContext {
  return {
    revision: revision(n),
    brief: { originalText: text as TextDigest, completionQuestion: null, corrections: [] },
    sourceRefs: [{ kind: 'message', id: 'om_1', writtenBy: 'ou_owner' }],
    workRevisionRefs: [],
    accessScope: 'conversation:c1',
    omissions: [],
  }
}

export function requestAt(n: number, request: RequestId = R): WorkRequest {
  return {
    id: request,
    revision: revision(n),
    kind: n === 1 ? 'original' : 'correction',
    parent: null,
    conversation: 'c1' as ConversationId,
    origin: { channel: 'lark', bot: 'cli_test' as BotId, messageId: `om_${request}` },
    sender: owner,
    intent: 'delegation',
    target: MANAGER,
    authority: { principal: 'owner', openId: 'ou_owner' },
    contextDigest: digestOfContext(contextAt(n)),
    returnTo: {
      channel: 'lark',
      bot: 'cli_test' as BotId,
      chatId: 'oc_1',
      chatType: 'p2p',
      threadId: null,
      replyTo: `om_${request}`,
    },
    workRefs: [],
    asks: [{ id: `ask-${request}-${n}` as AskId, textDigest: `text-${n}` as TextDigest }],
    supersedes: n === 1 ? null : revision(n - 1),
    openedAt: at(1_000),
  }
}

const base = (eventId: string, request: RequestId) => ({ eventId: event(eventId), requestId: request, at: at(1_000) })

/** A command of the owner that says nothing but its kind. */
export const saying = <K extends string>(kind: K) =>
  ({ kind, eventId: event(kind), requestId: R, at: at(2_000), actor: owner }) as const

export const accepting = (hold: 'late' | null = null, request: RequestId = R) =>
  ({
    kind: 'accept-request',
    ...base(`accept-${request}`, request),
    actor: owner,
    request: requestAt(1, request),
    context: contextAt(1),
    hold,
  }) as const

export const assigning = (name: string, onRevision: number, effectful = true, request: RequestId = R) =>
  ({
    kind: 'assign-attempt',
    ...base(`assign-${request}-${name}`, request),
    actor: host,
    attempt: {
      id: name as AttemptId,
      request,
      revision: revision(onRevision),
      target: MANAGER,
      intent: 'delegation',
      effectful,
      supersedes: null,
    },
  }) as const

export const presenting = (turn: string, attempt: string, onRevision: number, request: RequestId = R) =>
  ({
    kind: 'present-turn',
    ...base(`present-${request}-${turn}`, request),
    attempt: attempt as AttemptId,
    turn: turn as TurnId,
    hostTurn: `host-${turn}`,
    onRevision: revision(onRevision),
    contextItems: [],
  }) as const

export const ending = (
  turn: string,
  attempt: string,
  because: 'exited' | 'shutdown' = 'exited',
  tries = 2,
  request: RequestId = R,
): EndTurn => ({
  kind: 'end-turn',
  ...base(`end-${request}-${turn}`, request),
  turn: turn as TurnId,
  attempt: attempt as AttemptId,
  ending: because === 'shutdown' ? { ended: 'interrupted', because } : { ended: 'failed', because },
  tries,
})

export const concluding = (turn: string, request: RequestId = R) =>
  ({
    kind: 'conclude-turn',
    ...base(`conclude-${request}-${turn}`, request),
    actor: { kind: 'agent', agent: MANAGER, turn: turn as TurnId },
    turn: turn as TurnId,
    result: `result-${turn}` as ResultId,
    textDigest: `answer-${turn}` as TextDigest,
    conclusionDigest: null,
    accessScope: 'conversation:c1',
    files: [],
  }) as const

export const revising = (to: number, request: RequestId = R) =>
  ({
    kind: 'revise-request',
    ...base(`revise-${request}-${to}`, request),
    actor: owner,
    onRevision: revision(to - 1),
    request: requestAt(to, request),
    context: contextAt(to),
  }) as const

export const cancelling = (onRevision: number | null, request: RequestId = R, name = '') =>
  ({
    kind: 'cancel-request',
    ...base(`cancel-${request}${name}`, request),
    actor: owner,
    onRevision: onRevision === null ? null : revision(onRevision),
    because: 'owner',
  }) as const

/** Folds accepted facts onto a state as the ledger would store them. */
export function applied(state: ExchangeState, facts: readonly Fact[], eventId = `e${state.seq}`): ExchangeState {
  return facts.reduce<ExchangeState>(
    (before, fact, ordinal) =>
      evolve(before, { ...fact, eventId: event(eventId), ordinal, seq: (before.seq + 1) as Seq } as Observation),
    state,
  )
}

export interface Given {
  readonly state: ExchangeState
  when<C>(decide: (state: ExchangeState, command: C) => Decision, command: C): Outcome
}

export interface Outcome extends Given {
  readonly decision: Decision
  accepts(...kinds: readonly FactKind[]): Outcome
  refuses(reason: RefusalReason): Outcome
}

export function given(state: ExchangeState = unopened(R)): Given {
  return { state, when: (decide, command) => outcome(state, decide(state, command)) }
}

function outcome(before: ExchangeState, decision: Decision): Outcome {
  const state = decision.outcome === 'accepted' ? applied(before, decision.facts) : before
  const self: Outcome = {
    ...given(state),
    decision,
    accepts(...kinds) {
      expect(decision.outcome === 'accepted' ? decision.facts.map((fact) => fact.kind) : decision).toEqual(kinds)
      return self
    },
    refuses(reason) {
      expect(decision.outcome === 'rejected' ? decision.refusal.reason : decision).toBe(reason)
      return self
    },
  }
  return self
}

/** A request with one running turn `t1` on the effectful attempt `a1`. */
export const running = (): Given =>
  given()
    .when(decideAccept, accepting())
    .when(decideAssign, assigning('a1', 1))
    .when(decidePresent, presenting('t1', 'a1', 1))

/** The authority of a message that an owner wrote, where no policy says anything else. */
export const byOwner = ({ sender }: { readonly sender: { readonly openId: string } }) =>
  ({ authority: { principal: 'owner', openId: sender.openId }, returns: 'reply' }) as const
