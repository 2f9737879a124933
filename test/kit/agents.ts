import type { AcceptRequest } from '../../src/collab/decide/accept.js'
import { decideAccept } from '../../src/collab/decide/accept.js'
import { decideAssess } from '../../src/collab/decide/assess.js'
import { decideAssign } from '../../src/collab/decide/assign.js'
import { decideProvide } from '../../src/collab/decide/inbox.js'
import type { AskJudgment, Candidate } from '../../src/collab/observation.js'
import type { AgentId, AskId, AttemptId, Instant, ResultId, TextDigest, TurnId } from '../../src/collab/refs.js'
import { accepting, at, event, given, host, R, revision, type Given } from './exchange.js'

/* Short words for agents that work on the request of `exchange.ts` without a turn of ours. */

export const agent = (name: string) => name as AgentId
export const ASK = `ask-${R}-1` as AskId
export const ask = (n: number) => `ask-${R}-${n}` as AskId

/** What a command of an agent carries. */
export const by = (name: string, what: string) =>
  ({
    eventId: event(`${what}-${name}`),
    requestId: R,
    at: at(2_000),
    actor: { kind: 'agent', agent: agent(name), turn: `no-turn-${name}` as TurnId },
    agent: agent(name),
  }) as const

export const assigningTo = (name: string, id: string, onRevision = 1, effectful = true) =>
  ({
    kind: 'assign-attempt',
    eventId: event(`assign-${id}`),
    requestId: R,
    at: at(1_500),
    actor: host,
    attempt: {
      id: id as AttemptId,
      request: R,
      revision: revision(onRevision),
      target: agent(name),
      intent: 'delegation',
      effectful,
      supersedes: null,
    },
  }) as const

export const providing = (name: string, onRevision = 1) =>
  ({
    ...by(name, `provide-${onRevision}`),
    kind: 'provide-context',
    onRevision: revision(onRevision),
    session: 's1',
  }) as const

export const judging = (name: string, asks: readonly [AskJudgment, ...AskJudgment[]], onRevision = 1) =>
  ({ ...by(name, `assess-${onRevision}`), kind: 'assess-request', onRevision: revision(onRevision), asks }) as const

export const accepts = (id: AskId = ASK): AskJudgment => ({ ask: id, judgment: 'accepted', reason: 'mine' })
export const rejects = (id: AskId = ASK): AskJudgment => ({ ask: id, judgment: 'rejected', reason: 'not mine' })
export const defers = (id: AskId = ASK): AskJudgment => ({
  ask: id,
  judgment: 'deferred',
  reason: 'the build runs',
  until: { owner: 'anna', condition: { when: 'at' }, recheckAt: 9_000 as Instant },
})

export const reporting = (name: string, covers: readonly AskId[] = [ASK], over: Partial<{ turn: TurnId }> = {}) =>
  ({
    ...by(name, 'report'),
    kind: 'report-result',
    turn: null,
    covers,
    result: `result-${name}` as ResultId,
    textDigest: `answer-${name}` as TextDigest,
    conclusionDigest: null,
    accessScope: 'conversation:c1',
    files: [],
    supersedes: null as ResultId | null,
    ...over,
  }) as const

/** A request that `anna` was assigned and has read. */
export const inHands = (name = 'anna'): Given =>
  given()
    .when(decideAccept, accepting() as AcceptRequest)
    .when(decideAssign, assigningTo(name, `a-${name}`))
    .when(decideProvide, providing(name))

/** The same, taken on. */
export const takenOn = (name = 'anna'): Given => inHands(name).when(decideAssess, judging(name, [accepts()]))

export const candidate = (name: string, admitted = true, reasons: readonly string[] = ['fits']): Candidate => ({
  agent: agent(name),
  admitted,
  reasons,
})
