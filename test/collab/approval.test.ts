import { describe, expect, test } from 'vitest'
import { decideAskApproval, decideSettleApproval } from '../../src/collab/decide/approval.js'
import { decideEndTurn } from '../../src/collab/decide/record.js'
import { MANAGER, type TextDigest, type TurnId } from '../../src/collab/refs.js'
import { at, ending, event, owner, R, running } from '../kit/exchange.js'

describe('a permission that an agent asks for', () => {
  const about = {
    requestId: R,
    at: at(2_000),
    actor: { kind: 'agent', agent: MANAGER, turn: 't1' as TurnId },
    turn: 't1' as TurnId,
    operation: 'op' as TextDigest,
    approval: 't1-1',
  } as const
  const asking = { ...about, kind: 'ask-approval', eventId: event('asked') } as const
  const settling = (as: 'allowed' | 'refused' | 'lapsed') =>
    ({ ...about, actor: owner, kind: 'settle-approval', eventId: event(`settled-${as}`), as, grants: [] }) as const

  test('is asked and answered while its turn runs, and changes nothing else', () => {
    const before = running()
    const after = before
      .when(decideAskApproval, asking)
      .accepts('approval-asked')
      .when(decideSettleApproval, settling('allowed'))
      .accepts('approval-settled')
    expect({ ...after.state, seq: 0 }).toEqual({ ...before.state, seq: 0 })
  })

  test('of a turn that is over is neither asked nor allowed nor refused; it only lapses', () => {
    const over = running().when(decideAskApproval, asking).when(decideEndTurn, ending('t1', 'a1')).accepts('turn-ended')
    over.when(decideAskApproval, asking).refuses('turn-not-running')
    over.when(decideSettleApproval, settling('allowed')).refuses('turn-not-running')
    over.when(decideSettleApproval, settling('refused')).refuses('turn-not-running')
    over.when(decideSettleApproval, settling('lapsed')).accepts('approval-settled')
  })

  test('that several grants allow together is one use of each of them', () => {
    const settled = running()
      .when(decideAskApproval, asking)
      .accepts('approval-asked')
      .when(decideSettleApproval, { ...settling('allowed'), grants: ['g1', 'g2'] })
    settled.accepts('approval-settled', 'approval-settled')
  })
})
