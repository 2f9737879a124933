import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decideAskApproval, decideSettleApproval } from '../../src/collab/decide/approval.js'
import { decideEndTurn } from '../../src/collab/decide/record.js'
import { covers, grantFor, type Grant, type Use } from '../../src/collab/grant.js'
import { MANAGER, type Instant, type TextDigest, type TurnId } from '../../src/collab/refs.js'
import { at, ending, event, owner, R, running } from '../kit/exchange.js'
import { often } from '../kit/runs.js'

const one = <T extends string>(...of: readonly string[]) => fc.constantFrom(...of) as unknown as fc.Arbitrary<T>
const instant = fc.integer({ min: 0, max: 20 }) as unknown as fc.Arbitrary<Instant>
const what = {
  agent: one<Grant['agent']>('a', 'b'),
  openId: one('x', 'y'),
  conversation: one<Grant['conversation']>('c', 'd'),
  operation: one<TextDigest>('p', 'q'),
}
const grant: fc.Arbitrary<Grant> = fc.record({
  id: one('1', '2', '3', '4'),
  ...what,
  issuedAt: instant,
  expiresAt: fc.option(instant),
  revokedAt: fc.option(instant),
})
const use: fc.Arbitrary<Use> = fc.record({ ...what, at: instant })

describe('a standing permission', () => {
  test('allows nothing that differs in anything, nor before it was given', () => {
    fc.assert(
      fc.property(grant, use, (given, wanted) => {
        if (!covers(given, wanted)) return
        expect({ ...wanted, at: null }).toEqual({
          agent: given.agent,
          openId: given.openId,
          conversation: given.conversation,
          operation: given.operation,
          at: null,
        })
        expect(wanted.at).toBeGreaterThanOrEqual(given.issuedAt)
      }),
      often(500),
    )
  })

  test('allows nothing any more once it is revoked or has expired, whatever else it says', () => {
    fc.assert(
      fc.property(grant, use, instant, (given, wanted, end) => {
        const late = { ...wanted, at: Math.max(wanted.at, end) as Instant }
        expect(covers({ ...given, revokedAt: end }, late)).toBe(false)
        expect(covers({ ...given, expiresAt: end }, late)).toBe(false)
      }),
      often(500),
    )
  })

  test('is found whatever the order in which all of them stand, and only if one alone would do', () => {
    fc.assert(
      fc.property(fc.array(grant, { maxLength: 6 }), use, (given, wanted) => {
        const found = grantFor(given, wanted)
        expect(grantFor(given.toReversed(), wanted)).toEqual(found)
        expect(found !== null).toBe(given.some((each) => covers(each, wanted)))
      }),
      often(500),
    )
  })
})

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
    ({ ...about, actor: owner, kind: 'settle-approval', eventId: event(`settled-${as}`), as, grant: null }) as const

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
})
