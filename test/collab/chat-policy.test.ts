import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  closedPolicy,
  mayOperate,
  mayStart,
  ownerWorkModes,
  policyOf,
  returnModes,
  settingsOf,
  whoModes,
  type ChatPolicy,
  type Identity,
  type Membership,
  type Speaker,
  type StartAsked,
} from '../../src/collab/chat-policy.js'
import { isQuiet, quietHoursOf, quietHoursText } from '../../src/collab/quiet-hours.js'
import { often } from '../kit/runs.js'

/** Look-alikes on purpose: `ou_аlice` begins with a Cyrillic letter, and ids of another app or tenant are others. */
const openIds = ['ou_alice', 'ou_\u0430lice', 'ou_Alice', 'ou_alice ', 'ou_\uff41lice', 'ou_bob', '']
const identity = {
  app: fc.constantFrom('cli_a', 'cli_b'),
  tenantKey: fc.constantFrom('t1', 't2', null),
  openId: fc.constantFrom(...openIds),
}
const person: fc.Arbitrary<Identity> = fc.record(identity)
const speaker: fc.Arbitrary<Speaker> = fc.record({ ...identity, type: fc.constantFrom('user', 'bot') })
const quiet = fc.record({
  from: fc.integer({ min: 0, max: 1439 }),
  until: fc.integer({ min: 0, max: 1439 }),
  zone: fc.constantFrom('UTC', 'Asia/Shanghai', 'America/New_York', 'Asia/Kathmandu'),
})
const policy: fc.Arbitrary<ChatPolicy> = fc.record({
  who: fc.constantFrom(...whoModes),
  mention: fc.constantFrom('required', 'off'),
  atAll: fc.boolean(),
  bots: fc.boolean(),
  returns: fc.constantFrom(...returnModes),
  quiet: fc.option(
    quiet.filter(({ from, until }) => from !== until),
    { freq: 3 },
  ),
  language: fc.constantFrom('en', 'zh', null),
  ownerWork: fc.constantFrom(...ownerWorkModes),
})
const at = fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 })
const membership: fc.Arbitrary<Membership> = fc.record({
  ...identity,
  id: fc.uuid(),
  chatId: fc.constantFrom('oc_1', 'oc_2', null),
  startsLeft: fc.option(fc.integer({ min: 0, max: 2 })),
  until: fc.option(at),
  ended: fc.boolean(),
})
const asked: fc.Arbitrary<StartAsked> = fc.record({
  speaker,
  chatId: fc.constantFrom('oc_1', 'oc_2'),
  addressed: fc.constantFrom('direct', 'mention', 'all', 'reply', 'nobody', 'platform'),
  policy,
  owners: fc.array(person, { maxLength: 2 }),
  memberships: fc.array(membership, { maxLength: 3 }),
  isolated: fc.boolean(),
  at,
})

/** Written apart from the code under test. */
const theSame = (a: Identity, b: Identity): boolean =>
  a.openId.length > 0 &&
  a.app === b.app &&
  a.openId === b.openId &&
  !(a.tenantKey !== null && b.tenantKey !== null && a.tenantKey !== b.tenantKey)

describe('operating', () => {
  test('is the right of bound owners and of nobody else, whatever a policy or a membership says', () => {
    fc.assert(
      fc.property(asked, ({ speaker: who, owners }) => {
        const isOwner = who.type === 'user' && owners.some((owner) => theSame(owner, who))
        expect(mayOperate(who, owners)).toBe(isOwner)
      }),
      often(2_000),
    )
  })

  test('a look-alike id, a name, another app and another tenant are somebody else', () => {
    const owner = { app: 'cli_a', tenantKey: 't1', openId: 'ou_alice' }
    const user = { ...owner, type: 'user' } as const
    expect(mayOperate(user, [owner])).toBe(true)
    for (const openId of openIds.filter((id) => id !== 'ou_alice')) {
      expect(mayOperate({ ...user, openId }, [owner])).toBe(false)
    }
    expect(mayOperate({ ...user, app: 'cli_b' }, [owner])).toBe(false)
    expect(mayOperate({ ...user, tenantKey: 't2' }, [owner])).toBe(false)
    expect(mayOperate({ ...user, type: 'bot' }, [owner])).toBe(false)
    // What the envelope did not say cannot contradict.
    expect(mayOperate({ ...user, tenantKey: null }, [owner])).toBe(true)
  })
})

describe('starting a turn', () => {
  test('is never more for a member than the policy says', () => {
    fc.assert(
      fc.property(asked, (one) => {
        const admission = mayStart(one)
        if (!admission.admitted || admission.as !== 'member') return
        const { speaker: who, policy: says, memberships, owners } = one
        expect(['members', 'humans']).toContain(says.who)
        expect(one.isolated && who.type === 'user').toBe(true)
        expect(owners.some((owner) => theSame(owner, who))).toBe(false)
        const used = memberships.find(({ id }) => id === admission.membership)
        if (admission.membership === null) {
          expect(says.who).toBe('humans')
          expect(owners.some(({ tenantKey }) => tenantKey !== null && tenantKey === who.tenantKey)).toBe(true)
        } else {
          expect(used !== undefined && theSame(used, who) && !used.ended).toBe(true)
          expect(used?.chatId === null || used?.chatId === one.chatId).toBe(true)
          expect(used?.until === null || one.at < (used?.until ?? 0)).toBe(true)
          expect(used?.startsLeft).not.toBe(0)
        }
        if (says.mention === 'required') expect(one.addressed).not.toBe('nobody')
        if (!says.atAll) expect(one.addressed).not.toBe('all')
        if (says.quiet !== null) expect(isQuiet(says.quiet, one.at)).toBe(false)
      }),
      often(5_000),
    )
  })

  test('is as an owner only for an owner, as a bot only for a bot that names this one where bots may', () => {
    fc.assert(
      fc.property(asked, (one) => {
        const admission = mayStart(one)
        if (!admission.admitted) return
        if (admission.as === 'owner') expect(mayOperate(one.speaker, one.owners)).toBe(true)
        if (admission.as === 'bot') {
          expect([one.speaker.type, one.addressed, one.policy.bots]).toEqual(['bot', 'mention', true])
        }
      }),
      often(2_000),
    )
  })

  test('a membership more, or a policy that is narrower, never turns another’s refusal into an admission', () => {
    fc.assert(
      fc.property(asked, membership, (one, more) => {
        fc.pre(!theSame(more, one.speaker))
        expect(mayStart({ ...one, memberships: [...one.memberships, more] })).toEqual(mayStart(one))
        const narrow = mayStart({ ...one, policy: { ...one.policy, who: 'owner' } })
        if (narrow.admitted && narrow.as !== 'bot') expect(narrow.as).toBe('owner')
        expect(mayStart({ ...one, policy: { ...one.policy, who: 'nobody' }, addressed: 'mention' })).not.toMatchObject({
          as: one.speaker.type === 'bot' ? 'nobody' : 'owner',
        })
      }),
      often(2_000),
    )
  })

  test('without a place apart nobody but owners starts anything', () => {
    fc.assert(
      fc.property(asked, (one) => {
        const admission = mayStart({ ...one, isolated: false })
        if (admission.admitted) expect(admission.as).not.toBe('member')
      }),
      often(2_000),
    )
  })

  const alice = { app: 'cli_a', tenantKey: 't1', openId: 'ou_alice' }
  const bob = { app: 'cli_a', tenantKey: 't1', openId: 'ou_bob', type: 'user' } as const
  const base: StartAsked = {
    speaker: bob,
    chatId: 'oc_1',
    addressed: 'mention',
    policy: closedPolicy,
    owners: [alice],
    memberships: [],
    isolated: true,
    at: Date.parse('2026-11-30T15:00:00Z'),
  }
  const named = (over: Partial<Membership>): Membership => {
    const { type: _, ...who } = bob
    return { ...who, id: 'm1', chatId: 'oc_1', startsLeft: null, until: null, ended: false, ...over }
  }
  const members = { ...closedPolicy, who: 'members' } as const
  test.each([
    ['closed', {}, 'owner-only'],
    ['nobody', { policy: { ...closedPolicy, who: 'nobody' } }, 'nobody'],
    ['not admitted', { policy: members }, 'not-a-member'],
    ['admitted elsewhere', { policy: members, memberships: [named({ chatId: 'oc_2' })] }, 'not-a-member'],
    ['ended', { policy: members, memberships: [named({ ended: true })] }, 'membership-ended'],
    ['expired', { policy: members, memberships: [named({ until: base.at })] }, 'membership-ended'],
    ['used up', { policy: members, memberships: [named({ startsLeft: 0 })] }, 'membership-used-up'],
    [
      'of another organisation',
      { policy: { ...closedPolicy, who: 'humans' }, speaker: { ...bob, tenantKey: 't2' } },
      'other-tenant',
    ],
    [
      'of an unknown organisation',
      { policy: { ...closedPolicy, who: 'humans' }, speaker: { ...bob, tenantKey: null } },
      'tenant-unknown',
    ],
    ['a bot', { speaker: { ...bob, type: 'bot' } }, 'bots-closed'],
    [
      'in quiet hours',
      {
        policy: { ...members, quiet: { from: 1_320, until: 480, zone: 'Asia/Shanghai' } },
        memberships: [named({})],
      },
      'quiet-hours',
    ],
    ['not named', { addressed: 'nobody', policy: members, memberships: [named({})] }, 'not-addressed'],
  ] as const)('%s: refused with the reason', (_, over, because) => {
    expect(mayStart({ ...base, ...over } as StartAsked)).toEqual({ admitted: false, because })
  })

  test('an owner who names the bot is heard in quiet hours, and starts nothing where nobody may', () => {
    const owner = { ...alice, type: 'user' } as const
    const night = {
      ...closedPolicy,
      mention: 'off',
      quiet: { from: 1_320, until: 480, zone: 'Asia/Shanghai' },
    } as const
    expect(mayStart({ ...base, speaker: owner, policy: night })).toEqual({ admitted: true, as: 'owner' })
    const unnamed = mayStart({ ...base, speaker: owner, policy: night, addressed: 'nobody' })
    expect(unnamed).toEqual({ admitted: false, because: 'not-addressed' })
    const nobody = { ...closedPolicy, who: 'nobody' } as const
    expect(mayStart({ ...base, speaker: owner, policy: nobody })).toEqual({ admitted: false, because: 'nobody' })
    const direct = mayStart({ ...base, speaker: owner, policy: nobody, addressed: 'direct' })
    expect(direct).toEqual({ admitted: true, as: 'owner' })
  })
})

describe('a policy', () => {
  test('takes each setting from the strongest row that names it', () => {
    fc.assert(
      fc.property(policy, policy, fc.subarray(Object.keys(closedPolicy)), (low, high, names) => {
        const own = Object.fromEntries(Object.entries(high).filter(([name]) => names.includes(name)))
        const { policy: got, readable } = policyOf([low, own], { chat: 1, everywhere: 1 })
        expect(readable).toBe(true)
        expect(got).toEqual({ ...low, ...own })
      }),
      often(500),
    )
  })

  test('that any row makes unreadable is closed: nobody but owners, by name only', () => {
    const ref = { chat: 2, everywhere: 0 }
    const wrong = fc.oneof(
      fc.jsonValue().filter((value) => settingsOf(value) === null),
      fc.constantFrom<unknown>(
        { who: 'everyone' },
        { who: 'Humans' },
        { mention: true },
        { bots: 'on' },
        { quiet: { from: 60, until: 60, zone: 'UTC' } },
        { quiet: { from: 0, until: 1440, zone: 'UTC' } },
        { quiet: { from: 0, until: 60, zone: 'Mars/Olympus' } },
        { ownerWork: 'all' },
        { later: 1 },
        [],
        null,
      ),
    )
    fc.assert(
      fc.property(policy, wrong, fc.boolean(), (good, bad, first) => {
        const rows = first ? [bad, good] : [good, bad]
        expect(policyOf(rows, ref)).toEqual({ policy: closedPolicy, ref, readable: false })
      }),
      often(500),
    )
  })
})

describe('quiet hours', () => {
  test('are read from the form in which they are written, and nothing else', () => {
    fc.assert(
      fc.property(quiet, (hours) => {
        expect(quietHoursOf(quietHoursText(hours))).toEqual(hours.from === hours.until ? null : hours)
      }),
    )
    for (const text of [
      '',
      '22:00-08:00',
      '24:00-08:00@UTC',
      '22:00-22:00@UTC',
      '2:00-8:00@UTC',
      '22:00-08:00@No/Where',
    ]) {
      expect(quietHoursOf(text)).toBeNull()
    }
  })

  test('go over midnight by the clock of their place, also where that clock changes', () => {
    const hours = { from: 1_320, until: 480, zone: 'America/New_York' }
    const at = (text: string) => isQuiet(hours, Date.parse(text))
    // Summer time ends on 1 November 2026: four hours behind before, five after.
    expect([at('2026-10-31T01:59:00Z'), at('2026-10-31T02:00:00Z')]).toEqual([false, true])
    expect([at('2026-11-02T02:59:00Z'), at('2026-11-02T03:00:00Z')]).toEqual([false, true])
    expect([at('2026-11-02T12:59:59Z'), at('2026-11-02T13:00:00Z')]).toEqual([true, false])
  })
})
