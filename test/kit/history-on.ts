import { decideDue, decideSplit } from '../../src/collab/decide/asks.js'
import { decideAssess } from '../../src/collab/decide/assess.js'
import { decideOpenChild, decideReturnChild } from '../../src/collab/decide/children.js'
import { decideIntendEffect, decideSettleEffect } from '../../src/collab/decide/effects.js'
import { decideLinkWork, decideProvide, decideStoreInbox } from '../../src/collab/decide/inbox.js'
import { decidePresent } from '../../src/collab/decide/present.js'
import { decideEndTurn, decideNoteOutside, decideRefuseApproval } from '../../src/collab/decide/record.js'
import { decideReport } from '../../src/collab/decide/report.js'
import { decideConclude } from '../../src/collab/decide/resolve.js'
import { keepIfRecalled } from '../../src/collab/decide/withheld.js'
import { owedAsks } from '../../src/collab/exchange-state.js'
import type { AskJudgment } from '../../src/collab/observation.js'
import type { AgentId, AskId, AttemptId, EffectId, RequestId, ResultId, TextDigest } from '../../src/collab/refs.js'
import { at, concluding, ending, host, id, presenting } from './exchange.js'
import { as, type Aim, type Said } from './history-aim.js'

const end = (because: 'exited' | 'shutdown') => (aim: Aim) =>
  as(ending(aim.turn, aim.attempt, because, 2, aim.request), decideEndTurn)

function judge(aim: Aim, ask: AskId, judgment: AskJudgment['judgment']): AskJudgment {
  if (judgment !== 'deferred') return { ask, judgment, reason: 'r' }
  const condition = { when: aim.pick % 2 === 0 ? ('answer-from-owner' as const) : ('at' as const) }
  return { ask, judgment, reason: 'r', until: { owner: aim.agent, condition, recheckAt: at(9) } }
}

/** One ask, or all that are open; `mixed` judges each otherwise. */
const assess = (judgment: AskJudgment['judgment'] | 'mixed') => (aim: Aim) => {
  const open = [...aim.state.asks].flatMap(([ask, now]) => (now.is === 'owed' || now.is === 'deferred' ? [ask] : []))
  const [first = aim.ask, ...rest] = judgment === 'mixed' || aim.pick % 3 === 2 ? open : [aim.ask]
  const kinds = ['accepted', 'rejected', 'deferred', 'no-change'] as const
  const kind = (n: number) => (judgment === 'mixed' ? (kinds[(n + aim.pick) % kinds.length] ?? 'accepted') : judgment)
  return as(
    {
      ...aim.base,
      kind: 'assess-request',
      actor: aim.actor,
      agent: aim.agent,
      onRevision: aim.revision,
      asks: [judge(aim, first, kind(0)), ...rest.map((ask, n) => judge(aim, ask, kind(n + 1)))],
    } as const,
    decideAssess,
  )
}

const settle = (became: 'submitted' | 'outcome-unknown' | 'confirmed' | 'failed') => (aim: Aim) =>
  as(
    { ...aim.base, kind: 'settle-effect', actor: host, effect: aim.effect, became, evidence: null } as const,
    decideSettleEffect,
  )

const giveBack = (ended: 'resolved' | 'rejected' | 'failed') => (aim: Aim) => {
  const result = ended === 'resolved' ? id<ResultId>(`r${aim.pick % 3}-${aim.child}`) : null
  // A standing policy of the child, so always the same for one.
  const direct = result !== null && Number(/^c(\d+)/.exec(aim.child)?.[1] ?? 0) % 2 === 1
  return as({ ...aim.base, kind: 'return-child', child: aim.child, ended, result, direct } as const, decideReturnChild)
}

const report = (replaces: boolean) => (aim: Aim) => {
  const former = replaces ? aim.state.results.find((one) => one.id === aim.result) : undefined
  const running = aim.state.running === null ? undefined : aim.state.turns.get(aim.state.running)
  const own = running !== undefined && aim.state.attempts.get(running.attempt)?.target === aim.agent
  return as(
    {
      ...aim.base,
      kind: 'report-result',
      actor: aim.actor,
      agent: aim.agent,
      turn: own || aim.pick % 6 === 5 ? aim.turn : null,
      covers: former?.covers ?? (aim.pick % 3 === 2 ? owedAsks(aim.state) : [aim.ask]),
      result: id<ResultId>(aim.name('result-')),
      textDigest: id<TextDigest>(aim.name('said-')),
      conclusionDigest: null,
      accessScope: 'conversation:c1',
      files: [],
      supersedes: replaces ? aim.result : null,
    } as const,
    (state, command) => keepIfRecalled(state, decideReport(state, command), 'hold'),
  )
}

/** What its receivers do with it, and what becomes of that. */
export const commandsOn = {
  present: ({ name, attempt, revision: on, request }) => as(presenting(name('t'), attempt, on, request), decidePresent),
  conclude: ({ turn, request }) =>
    as(concluding(turn, request), (state, command) => keepIfRecalled(state, decideConclude(state, command), 'hold')),
  complete: (aim) =>
    as({ ...ending(aim.turn, aim.attempt, 'exited', 2, aim.request), ending: { ended: 'completed' } }, decideEndTurn),
  fail: end('exited'),
  stop: end('shutdown'),
  'fail-early': (aim) => as(ending(aim.name('early-'), aim.attempt, 'exited', 2, aim.request), decideEndTurn),
  'refuse-approval': (aim) =>
    as(
      { ...aim.base, kind: 'refuse-approval', actor: host, turn: aim.turn, operation: id<TextDigest>('op') } as const,
      decideRefuseApproval,
    ),
  'store-inbox': (aim) =>
    as({ ...aim.base, kind: 'store-inbox', actor: host, agent: aim.agent } as const, decideStoreInbox),
  provide: (aim) =>
    as(
      {
        ...aim.base,
        kind: 'provide-context',
        actor: aim.actor,
        agent: aim.agent,
        onRevision: aim.revision,
        session: 's',
      } as const,
      decideProvide,
    ),
  accept: assess('accepted'),
  'no-change': assess('no-change'),
  reject: assess('rejected'),
  defer: assess('deferred'),
  'judge-mixed': assess('mixed'),
  due: (aim) =>
    as(
      { ...aim.base, kind: 'due-deferral', actor: host, because: 'recheck', asks: [...aim.state.asks.keys()] } as const,
      decideDue,
    ),
  split: (aim) =>
    as(
      {
        ...aim.base,
        kind: 'split-ask',
        actor: aim.actor,
        onRevision: aim.revision,
        of: aim.ask,
        into: [
          { id: id<AskId>(aim.name('s1-')), textDigest: id<TextDigest>('s1') },
          { id: id<AskId>(aim.name('s2-')), textDigest: id<TextDigest>('s2') },
        ],
      } as const,
      decideSplit,
    ),
  report: report(false),
  'replace-result': report(true),
  intend: (aim) =>
    as(
      {
        ...aim.base,
        kind: 'intend-effect',
        actor: aim.actor,
        attempt: id<AttemptId>(aim.attempt),
        effect: id<EffectId>(aim.pick % 7 === 6 ? aim.effect : aim.name('e')),
        effectKind: 'http',
        target: 'x',
        providerKey: `k${aim.n}`,
        doubt: { by: 'look-up' },
        input: id<TextDigest>('i'),
      } as const,
      decideIntendEffect,
    ),
  submitted: settle('submitted'),
  unknown: settle('outcome-unknown'),
  confirmed: settle('confirmed'),
  'effect-failed': settle('failed'),
  'open-child': (aim) =>
    as(
      {
        ...aim.base,
        kind: 'open-child',
        actor: aim.actor,
        agent: aim.agent,
        child: id<RequestId>(aim.pick % 7 === 6 ? aim.child : aim.name('c')),
        target: id<AgentId>(aim.pick % 5 === 4 ? 'asker' : 'helper'),
        intent: 'delegation',
        asks: aim.pick % 4 === 3 ? [] : [aim.ask],
      } as const,
      decideOpenChild,
    ),
  'return-child': giveBack('resolved'),
  'return-nothing': giveBack('rejected'),
  'return-failed': giveBack('failed'),
  'note-outside': (aim) =>
    as(
      {
        ...aim.base,
        kind: 'note-outside',
        // It is found after the turn has ended.
        during: [...aim.state.turns.keys()][aim.pick % Math.max(1, aim.state.turns.size)] ?? aim.turn,
        message: { id: aim.name('om_'), type: 'text', writtenAt: at(aim.n) },
      } as const,
      decideNoteOutside,
    ),
  'link-work': (aim) =>
    as(
      {
        ...aim.base,
        kind: 'link-work',
        actor: aim.actor,
        agent: aim.agent,
        receipt: {
          owner: 'canonical',
          operation: aim.name('o'),
          refs: [{ ref: `todo:${aim.n}`, revision: aim.pick % 2 === 0 ? 'unknown' : String(aim.pick + 40) }],
        },
      } as const,
      decideLinkWork,
    ),
} as const satisfies Record<string, (aim: Aim) => Said>
