import type { AgentTools, ToolCaller } from '../../src/collab/agent-tools.js'
import type { Receipt } from '../../src/collab/decision.js'
import { openEffects, type ExchangeState } from '../../src/collab/exchange-state.js'
import {
  MANAGER,
  type AskId,
  type EffectId,
  type Instant,
  type RequestId,
  type ResultId,
  type Revision,
} from '../../src/collab/refs.js'
import type { States } from '../kit/world-checks.js'
import { agent, event } from './agents-kit.js'
import type { Act, Heard } from './history-acts.js'

/** What one call of a tool is made of. */
export interface CallAim {
  readonly tools: AgentTools
  readonly caller: ToolCaller
  readonly state: ExchangeState
  readonly states: States
  readonly workers: readonly string[]
  readonly now: number
  /** Words that stand nowhere else, kept as those of a request. */
  readonly mark: (of: RequestId) => string
  /** Words that turned out to be those of a child. */
  readonly onAsked: (words: readonly string[], of: RequestId) => void
  readonly onCancelled: (request: RequestId) => void
}

/** A call of a tool, aimed at what stood before the volley; it may come too late, or be nobody's business. */
export function callOf(act: Act, aim: CallAim): (() => Promise<readonly Heard[]>) | null {
  const { tools, caller, state, states } = aim
  const request = state.id
  const said = { eventId: event() }
  const on = { request, onRevision: (act.pick % 8 === 7 ? Math.max(1, state.head - 1) : state.head) as Revision }
  const owed = [...state.asks].flatMap(([id, ask]) => (ask.is === 'owed' ? [id] : []))
  const ask = owed[act.pick % Math.max(1, owed.length)] ?? ('no-such-ask' as AskId)
  const [effect = 'no-such-effect' as EffectId] = openEffects(state, null)
  const receiver = agent([...aim.workers, MANAGER][(act.pick + act.on) % 4] ?? MANAGER)
  const heard = (receipt: Promise<Receipt>) => async (): Promise<readonly Heard[]> => [
    { caller, verb: act.say, request, receipt: await receipt },
  ]
  const later = (make: () => Promise<Receipt>) => () => heard(make())()
  const judging = async (judgment: 'accepted' | 'rejected' | 'deferred') => {
    // Two in three read before they judge, and judge before they report.
    if (act.pick % 3 !== 0) await tools.inboxRead(caller, { cursor: null, limit: 50 })
    return await tools.assess(caller, {
      eventId: event(),
      ...on,
      asks: [
        {
          ask,
          judgment,
          reason: aim.mark(request),
          ...(judgment === 'deferred'
            ? {
                until: {
                  owner: caller.agent,
                  condition: { when: 'at' },
                  recheckAt: (aim.now + 5) as Instant,
                },
              }
            : {}),
        },
      ],
    })
  }
  const judge = (judgment: 'accepted' | 'rejected' | 'deferred') => later(() => judging(judgment))
  const settle = (became: 'submitted' | 'outcome-unknown' | 'confirmed') =>
    later(() => tools.settleEffect(caller, { ...said, request, effect, became, evidence: 'seen' }))
  switch (act.say) {
    case 'read':
      return async () => {
        await tools.inboxRead(caller, { cursor: null, limit: 50 })
        return []
      }
    case 'accept':
      return judge('accepted')
    case 'reject':
      return judge('rejected')
    case 'defer':
      return judge('deferred')
    case 'report':
      return later(async () => {
        if (act.pick % 3 !== 0) await judging('accepted')
        return await tools.report(caller, {
          ...said,
          request,
          covers: act.pick % 3 === 2 ? owed : [ask],
          text: aim.mark(request),
          conclusion: null,
          artifacts: [],
          supersedes: act.pick % 5 === 4 ? (state.results.at(-1)?.id ?? (null as ResultId | null)) : null,
        })
      })
    case 'ask':
      return async () => {
        const words = [aim.mark('not-yet' as RequestId), aim.mark('not-yet' as RequestId)]
        const receipt = await tools.ask(caller, {
          ...said,
          request,
          receiver,
          intent: act.pick % 3 === 2 ? 'consultation' : 'delegation',
          asks: act.pick % 4 === 3 ? [] : [ask],
          question: words[0] ?? '',
          brief: words[1] ?? '',
          refs: [],
          reason: 'able to',
          direct: act.pick % 5 === 4,
        })
        aim.onAsked(words, receipt.child ?? request)
        return [{ caller, verb: 'ask', request, receipt }]
      }
    case 'revise':
      return later(() => tools.revise(caller, { ...said, ...on, text: aim.mark(request) }))
    case 'cancel':
      return async () => {
        const receipt = await tools.cancel(caller, { ...said, ...on })
        if (receipt.outcome === 'accepted') aim.onCancelled(request)
        return [{ caller, verb: 'cancel', request, receipt }]
      }
    case 'reassign':
      return later(() => tools.reassign(caller, { ...said, request, receiver, reason: 'free' }))
    case 'relate': {
      const roots = [...states.values()].filter(
        (one) => one.request?.parent === null && one.request.conversation === state.request?.conversation,
      )
      const other = roots[act.pick % Math.max(1, roots.length)] ?? state
      const as = (['addition', 'correction', 'context'] as const)[act.pick % 3] ?? 'addition'
      return later(() =>
        tools.relate(caller, { ...said, earlier: request, later: other.id, onRevision: state.head, as }),
      )
    }
    case 'split':
      return later(() => tools.split(caller, { ...said, ...on, ask, into: [aim.mark(request), aim.mark(request)] }))
    case 'declare':
      return later(() =>
        tools.declareEffect(caller, {
          ...said,
          request,
          effectKind: 'git-push',
          target: 'main',
          input: aim.mark(request),
          doubt: { by: 'look-up' },
        }),
      )
    case 'submitted':
      return settle('submitted')
    case 'unknown':
      return settle('outcome-unknown')
    case 'confirmed':
      return settle('confirmed')
    default:
      return null
  }
}
