import { decideAccept } from '../../src/collab/decide/accept.js'
import { decideExpire } from '../../src/collab/decide/asks.js'
import { decideAssign } from '../../src/collab/decide/assign.js'
import { decideReviseChild } from '../../src/collab/decide/children.js'
import { decideCancel, decideHold, decideRecall, decideRelease, decideSkip } from '../../src/collab/decide/control.js'
import { decideEdit } from '../../src/collab/decide/edit.js'
import { decideQuiesce } from '../../src/collab/decide/fence.js'
import { decideObserveWait, decideRecordSelection } from '../../src/collab/decide/inbox.js'
import { decideReassign } from '../../src/collab/decide/reassign.js'
import { decideRelate, type RelateDecision } from '../../src/collab/decide/relate.js'
import { decideRevise } from '../../src/collab/decide/revise.js'
import { decideSettleWithheld } from '../../src/collab/decide/withheld.js'
import type { Decision } from '../../src/collab/decision.js'
import { unopened, type ExchangeState } from '../../src/collab/exchange-state.js'
import type { Fact } from '../../src/collab/observation.js'
import type { AgentId, AskId, RequestId, Revision, TextDigest } from '../../src/collab/refs.js'
import {
  accepting,
  applied,
  assigning,
  cancelling,
  contextAt,
  host,
  id,
  owner,
  requestAt,
  revising,
} from './exchange.js'
import { as, type Aim, type Said } from './history-aim.js'

const assign = (effectful: boolean) => (aim: Aim) => {
  const command = assigning(aim.name(effectful ? 'a' : 'b'), aim.revision, effectful, aim.request)
  return as(
    { ...command, attempt: { ...command.attempt, target: aim.pick % 2 === 0 ? aim.agent : aim.other } },
    decideAssign,
  )
}

/** The next revision of a request: what it is stays, what it asks is new. */
function nextOf(state: ExchangeState, revision: number) {
  const { kind, contextDigest, asks, supersedes, ...next } = requestAt(revision, state.id)
  return { ...next, ...state.request, revision: next.revision, kind, contextDigest, asks, supersedes }
}

/** What a receiver has to know then, readable where the request stands. */
const contextIn = (state: ExchangeState, revision: number) => ({
  ...contextAt(revision),
  accessScope: `conversation:${state.request?.conversation ?? 'c1'}`,
})

/** Another message of the same sender in the same place, opened and never run. */
function otherMessage(aim: Aim): ExchangeState {
  const other = id<RequestId>(`${aim.request}-other-${aim.n}`)
  const command = accepting(null, other)
  const conversation = aim.state.request?.conversation ?? command.request.conversation
  const opened = decideAccept(unopened(other), { ...command, request: { ...command.request, conversation } })
  return opened.outcome === 'accepted' ? applied(unopened(other), opened.facts) : unopened(other)
}

const ofOne = (decision: RelateDecision, facts: (accepted: Related) => readonly Fact[]): Decision => {
  if (decision.outcome === 'rejected') return decision
  const [first, ...rest] = facts(decision)
  if (first === undefined) return { outcome: 'rejected', refusal: { reason: 'nothing-owed' } }
  return { outcome: 'accepted', facts: [first, ...rest] }
}
type Related = Extract<RelateDecision, { outcome: 'accepted' }>

const relating = (aim: Aim, earlier: ExchangeState, later: RequestId) => {
  const next = earlier.head + 1
  const kind = (['addition', 'correction', 'context'] as const)[aim.pick % 3] ?? 'context'
  return {
    kind: 'relate-requests',
    later,
    actor: host,
    as: kind,
    onRevision: earlier.id === aim.request ? aim.revision : earlier.head,
    next:
      kind === 'context' ? null : { request: { ...nextOf(earlier, next), kind }, context: contextIn(earlier, next) },
  } as const
}

/** What is said about a request: by its sender, by whoever hands it out, and by the host. */
export const commandsAbout = {
  'open-again': ({ request }) => as(accepting('late', request), decideAccept),
  assign: assign(true),
  consult: assign(false),
  reassign: (aim) => {
    const { attempt } = assigning(aim.name('c'), aim.revision, aim.pick % 4 !== 3, aim.request)
    const target: AgentId = aim.pick % 5 === 4 ? aim.agent : aim.other
    return as(
      {
        ...aim.base,
        kind: 'reassign-request',
        actor: owner,
        attempt: { ...attempt, target, supersedes: aim.attempt },
        candidates: [{ agent: target, admitted: aim.pick % 7 !== 6, reasons: ['able'] }],
        reason: 'r',
        enforced: new Set(aim.pick % 2 === 0 ? [aim.agent, aim.other] : []),
      } as const,
      decideReassign,
    )
  },
  'revise-child': (aim) =>
    as(
      {
        ...aim.base,
        kind: 'revise-child',
        actor: owner,
        child: aim.child,
        childRevision: ((aim.state.children.get(aim.child)?.revision ?? 0) + (aim.pick % 4 === 3 ? 0 : 1)) as Revision,
        asks: aim.pick % 2 === 0 ? [] : [aim.ask],
      } as const,
      decideReviseChild,
    ),
  edit: (aim) => {
    const next = aim.revision + 1
    const by = { id: id<AskId>(aim.name('edited-')), textDigest: id<TextDigest>('edited') }
    const request = { ...nextOf(aim.state, next), asks: [by] }
    return as(
      {
        ...aim.base,
        kind: 'edit-request',
        actor: owner,
        onRevision: aim.revision,
        request,
        context: contextIn(aim.state, next),
        replaces: aim.ask,
        by,
      } as const,
      decideEdit,
    )
  },
  hold: (aim) => as({ ...aim.base, kind: 'hold-request', actor: owner } as const, decideHold),
  'settle-withheld': (aim) =>
    as(
      {
        ...aim.base,
        kind: 'settle-withheld',
        actor: owner,
        as: aim.pick % 2 === 0 ? ('shown' as const) : ('dropped' as const),
      } as const,
      decideSettleWithheld,
    ),
  revise: ({ revision: on, request, state }) =>
    as(
      { ...revising(on + 1, request), request: nextOf(state, on + 1), context: contextIn(state, on + 1) },
      decideRevise,
    ),
  'take-up': (aim) => {
    const later = otherMessage(aim)
    return as({ ...aim.base, ...relating(aim, aim.state, later.id) }, (state, command) =>
      ofOne(decideRelate(state, later, command), (both) => both.earlier),
    )
  },
  'go-on-elsewhere': (aim) => {
    const earlier = otherMessage(aim)
    return as({ ...aim.base, ...relating(aim, earlier, aim.request) }, (state, command) =>
      ofOne(decideRelate(earlier, state, { ...command, requestId: earlier.id }), (both) => both.later),
    )
  },
  cancel: ({ revision: on, request, name }) => as(cancelling(on, request, name('')), decideCancel),
  recall: (aim) => as({ ...aim.base, kind: 'recall-trigger', actor: owner } as const, decideRecall),
  release: (aim) => as({ ...aim.base, kind: 'release-held', actor: owner } as const, decideRelease),
  skip: (aim) => as({ ...aim.base, kind: 'skip-held', actor: owner } as const, decideSkip),
  expire: (aim) => as({ ...aim.base, kind: 'expire-request', actor: host } as const, decideExpire),
  quiesce: (aim) => as({ ...aim.base, kind: 'quiesce-attempt', attempt: aim.attempt } as const, decideQuiesce),
  wait: (aim) =>
    as(
      {
        ...aim.base,
        kind: 'observe-wait',
        actor: host,
        agent: aim.agent,
        because: aim.pick % 2 === 0 ? 'busy' : 'offline',
      } as const,
      decideObserveWait,
    ),
  select: (aim) =>
    as(
      {
        ...aim.base,
        kind: 'record-selection',
        actor: aim.actor,
        candidates: [{ agent: aim.other, admitted: aim.pick % 2 === 0, reasons: ['able'] }],
        chosen: aim.pick % 3 === 2 ? null : aim.other,
        reason: 'r',
      } as const,
      decideRecordSelection,
    ),
} as const satisfies Record<string, (aim: Aim) => Said>
