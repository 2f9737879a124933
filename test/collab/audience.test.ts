import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  audienceOf,
  ownerWorks,
  profileKey,
  profileOf,
  RESTRICTED_PROFILE,
  type Asked,
  type GrantedPath,
  type SessionProfile,
  type StandingOwnerWork,
} from '../../src/collab/audience.js'
import { acceptance } from '../kit/acceptance.js'

const people = ['ou_alice', 'ou_bob', 'ou_carol'] as const
const chats = ['oc_dm', 'oc_group', 'oc_other'] as const

const asked: fc.Arbitrary<Asked> = fc.record({
  chatType: fc.constantFrom('p2p', 'group', null),
  chatId: fc.constantFrom(...chats, null),
  owner: fc.constantFrom(...people, ''),
  ownerStands: fc.boolean(),
  ownerDirectChat: fc.constantFrom(...chats, null),
  writers: fc.array(fc.constantFrom(...people, '', null), { maxLength: 4 }),
})
const standing: fc.Arbitrary<StandingOwnerWork | null> = fc.option(
  fc.record({ openId: fc.constantFrom(...people, ''), work: fc.constantFrom(...ownerWorks) }),
)
const paths: fc.Arbitrary<readonly GrantedPath[]> = fc.array(
  fc.record({ path: fc.constantFrom('/srv/a', '/srv/b', '/srv/a read'), access: fc.constantFrom('read', 'write') }),
  { maxLength: 3 },
)

const private_: Asked = {
  chatType: 'p2p',
  chatId: 'oc_dm',
  owner: 'ou_alice',
  ownerStands: true,
  ownerDirectChat: 'oc_dm',
  writers: ['ou_alice'],
}
const inGroup: Asked = { ...private_, chatType: 'group', chatId: 'oc_group' }

describe('audience', () => {
  test.each<[string, Asked, string]>([
    ['an owner in the own direct chat', private_, 'owner-private'],
    ['an owner in a group', inGroup, 'owner-in-group'],
    ['a member in a group', { ...inGroup, writers: ['ou_bob'] }, 'shared-group'],
    ['an owner and a member in one request', { ...inGroup, writers: ['ou_alice', 'ou_bob'] }, 'shared-group'],
    ['a direct chat of somebody else', { ...private_, writers: ['ou_bob'] }, 'other-dm'],
    ['an owner in another direct chat than the bound one', { ...private_, chatId: 'oc_other' }, 'other-dm'],
    ['an owner who was taken off the list', { ...private_, ownerStands: false }, 'other-dm'],
    ['a place that nobody knows', { ...private_, chatType: null }, 'shared-group'],
    ['words of somebody unknown', { ...private_, writers: ['ou_alice', null] }, 'other-dm'],
    ['words of nobody', { ...inGroup, writers: [] }, 'shared-group'],
  ])('%s', (_, of, audience) => expect(audienceOf(of)).toBe(audience))

  acceptance(
    'A3',
    'only an owner in private, or in a group by an own standing policy, ever gets the owner profile',
    () => {
      fc.assert(
        fc.property(asked, standing, (of, settled) => {
          if (profileOf(of, settled).kind !== 'owner') return
          expect(of.ownerStands).toBe(true)
          expect(new Set(of.writers)).toEqual(new Set([of.owner]))
          const own = of.chatType === 'p2p' && of.chatId === of.ownerDirectChat
          const allowed = of.chatType === 'group' && settled?.openId === of.owner && settled.work === 'owner'
          expect(own || allowed).toBe(true)
        }),
        { numRuns: 5_000 },
      )
    },
  )

  acceptance('A3', 'whatever the policy of a chat says, a word of a member there is restricted', () => {
    fc.assert(
      fc.property(asked, standing, fc.constantFrom('ou_bob', null), (of, settled, member) => {
        const said = { ...of, owner: 'ou_alice', writers: [...of.writers, member] }
        expect(profileOf(said, settled)).toEqual(RESTRICTED_PROFILE)
      }),
    )
  })

  test.each(ownerWorks)('an owner in a group whose policy is %s', (work) => {
    const kind = work === 'owner' ? 'owner' : 'restricted'
    expect(profileOf(inGroup, { openId: 'ou_alice', work }).kind).toBe(kind)
    expect(profileOf(inGroup, { openId: 'ou_carol', work })).toEqual(RESTRICTED_PROFILE)
  })

  test('a policy widens nothing in a direct chat of somebody else', () => {
    expect(profileOf({ ...private_, chatId: 'oc_other' }, { openId: 'ou_alice', work: 'owner' })).toEqual(
      RESTRICTED_PROFILE,
    )
  })

  acceptance('A12', 'two profiles have one name exactly when they allow the same', () => {
    const allowed = (profile: SessionProfile) =>
      JSON.stringify([
        profile.kind,
        ...new Set(profile.kind === 'owner' ? [] : profile.paths.map((p) => `${p.access} ${p.path}`).toSorted()),
      ])
    const profile: fc.Arbitrary<SessionProfile> = fc.oneof(
      fc.constant<SessionProfile>({ kind: 'owner' }),
      paths.map((some): SessionProfile => ({ kind: 'restricted', paths: some })),
    )
    fc.assert(
      fc.property(profile, profile, (one, other) => {
        expect(profileKey(one) === profileKey(other)).toBe(allowed(one) === allowed(other))
      }),
    )
  })
})
