import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  attenuate,
  covers,
  effectiveOf,
  gapOf,
  grantFor,
  grantsFor,
  soundGrant,
  type Audience,
  type Grant,
  type OperationUse,
  type ResourceUse,
  type Use,
} from '../../src/collab/grant.js'
import type { Effect, Scope } from '../../src/collab/grant-scope.js'
import { MANAGER, type AgentId, type ConversationId, type Instant, type TextDigest } from '../../src/collab/refs.js'
import { often } from '../kit/runs.js'

const one = <T extends string>(...of: readonly string[]) => fc.constantFrom(...of) as unknown as fc.Arbitrary<T>
const instant = fc.integer({ min: 0, max: 20 }) as unknown as fc.Arbitrary<Instant>
const digest = one<TextDigest>('a'.repeat(64), 'b'.repeat(64))
const step = one('a', 'b', 'A', 'ab', 'é', 'é')
const path = fc.array(step, { minLength: 1, maxLength: 4 }).map((steps) => `/${steps.join('/')}`)
const host = one('x.example', 'a.x.example', 'b.a.x.example', 'y.example')
const scope: fc.Arbitrary<Scope> = fc.oneof(
  fc.record({ kind: fc.constant('path' as const), host: one('h1', 'h2'), prefix: path }),
  fc.record({
    kind: fc.constant('network' as const),
    host: fc.oneof(
      host,
      host.map((name) => `*.${name}`),
    ),
  }),
  fc.record({ kind: fc.constant('operation' as const), digest }),
)
const effect = fc.constantFrom<Effect>('read', 'write', 'execute', 'network')
const audience: fc.Arbitrary<Audience> = fc.oneof(
  fc.record({ kind: fc.constant('conversation' as const), conversation: one<ConversationId>('c', 'd') }),
  fc.constant({ kind: 'owner-private' as const }),
)
const ids = ['1', '2', '3', '4'] as const
const grant: fc.Arbitrary<Grant> = fc.record({
  id: one(...ids),
  agent: one<AgentId>('a', 'b'),
  openId: one('x', 'y'),
  scope,
  effects: fc.uniqueArray(effect, { maxLength: 4 }),
  audience,
  issuedAt: instant,
  expiresAt: fc.option(instant),
  revokedAt: fc.option(instant),
  parent: fc.option(one(...ids)),
})
const thing: fc.Arbitrary<ResourceUse> = fc.oneof(
  fc.record({
    effect,
    resource: fc.record({ kind: fc.constant('path' as const), host: one('h1', 'h2'), path: fc.option(path) }),
  }),
  fc.record({ effect, resource: fc.record({ kind: fc.constant('network' as const), host }) }),
)
const does = fc.option(fc.array(thing, { minLength: 1, maxLength: 3 })) as unknown as fc.Arbitrary<OperationUse | null>
const use: fc.Arbitrary<Use> = fc.record({
  agent: one<AgentId>('a', 'b'),
  openId: one('x', 'y'),
  conversation: one<ConversationId>('c', 'd'),
  ownerPrivate: fc.boolean(),
  operation: digest,
  does,
  at: instant,
})
const byId = (grants: readonly Grant[]) => grants.filter((g, n) => grants.findIndex((o) => o.id === g.id) === n)
const several = fc.array(grant, { maxLength: 6 }).map(byId)

describe('a standing permission', () => {
  test('allows nothing for another agent, owner, audience or time', () => {
    fc.assert(
      fc.property(grant, use, (given, wanted) => {
        if (!covers(given, wanted)) return
        expect([wanted.agent, wanted.openId]).toEqual([given.agent, given.openId])
        if (given.audience.kind === 'conversation') expect(wanted.conversation).toBe(given.audience.conversation)
        else expect(wanted.ownerPrivate).toBe(true)
        expect(wanted.at).toBeGreaterThanOrEqual(given.issuedAt)
        if (given.scope.kind === 'operation') expect(wanted.operation).toBe(given.scope.digest)
        else for (const { effect: done } of wanted.does ?? []) expect(given.effects).toContain(done)
      }),
      often(2_000),
    )
  })

  test('A3 allows nothing any more once it, or anything above it, is revoked or has expired', () => {
    fc.assert(
      fc.property(several, use, fc.nat(), instant, fc.boolean(), (grants, wanted, n, end, revoked) => {
        const used = grantsFor(grants, wanted)
        const chain = used?.flatMap((g) => above(g, grants)) ?? []
        const hit = chain[n % Math.max(1, chain.length)]
        if (used === null || hit === undefined) return
        const over = revoked ? { revokedAt: end } : { expiresAt: end }
        const later = grants.map((g) => (g.id === hit.id ? { ...g, ...over } : g))
        const late = { ...wanted, at: Math.max(wanted.at, end) as Instant }
        for (const g of grantsFor(later, late) ?? []) expect(above(g, later).map((o) => o.id)).not.toContain(hit.id)
      }),
      often(2_000),
    )
  })

  test('is found whatever the order in which all of them stand', () => {
    fc.assert(
      fc.property(several, use, (grants, wanted) => {
        const turned = grants.toReversed()
        expect(grantFor(turned, wanted)).toEqual(grantFor(grants, wanted))
        expect(grantsFor(turned, wanted)).toEqual(grantsFor(grants, wanted))
        expect(gapOf(turned, wanted)).toEqual(gapOf(grants, wanted))
      }),
      often(2_000),
    )
  })

  test('covers an operation of several parts only where each part is covered', () => {
    fc.assert(
      fc.property(several, use, (grants, wanted) => {
        const exact = grants.some((g) => g.scope.kind === 'operation' && grantFor([...grants], wanted)?.id === g.id)
        const parts = (wanted.does ?? []).map((part) => grantFor(grants, { ...wanted, does: [part] }) !== null)
        if (exact) return
        expect(grantsFor(grants, wanted) !== null).toBe(parts.length > 0 && parts.every(Boolean))
      }),
      often(2_000),
    )
  })

  test('gives with its chain what its list says it gives, and nothing while that says otherwise', () => {
    fc.assert(
      fc.property(several, use, (grants, wanted) => {
        for (const g of grantsFor(grants, wanted) ?? [])
          expect(effectiveOf(g, grants, true, wanted.at)).toBe('standing')
      }),
      often(1_000),
    )
  })
})

describe('a narrower permission that is made of another one', () => {
  const effectsOf = (of: Scope) =>
    of.kind === 'operation'
      ? fc.constant<Effect[]>([])
      : of.kind === 'network'
        ? fc.constant<Effect[]>(['network'])
        : fc.uniqueArray(fc.constantFrom<Effect>('read', 'write', 'execute'), { minLength: 1 })
  /** A wider one, one that may be made of it, and a use that is near both. */
  const near = fc.tuple(grant, scope, step).chain(([base, other, last]) => {
    const deeper = (of: Scope): Scope =>
      of.kind === 'path'
        ? { ...of, prefix: `${of.prefix}/${last}` }
        : of.kind === 'network'
          ? { ...of, host: `a.${of.host.replace('*.', '')}` }
          : of
    const within = fc.constantFrom(base.scope, deeper(base.scope), other)
    return fc.tuple(effectsOf(base.scope), within).chain(([effects, scopeOfIt]) =>
      fc.record({
        parent: fc.constant<Grant>({ ...base, parent: null, effects, issuedAt: 0 as Instant }),
        wanted: fc.record({
          id: one('9'),
          agent: one<AgentId>('a', 'b'),
          openId: fc.constant(base.openId),
          scope: fc.constant(scopeOfIt),
          effects: fc.oneof(fc.constant(effects), effectsOf(scopeOfIt)),
          audience: fc.constantFrom<Audience>(base.audience, { kind: 'owner-private' }),
          issuedAt: instant,
          expiresAt: fc.constantFrom(base.expiresAt, null),
        }),
        asked: fc.record({
          use,
          place: fc.constantFrom(scopeOfIt, deeper(scopeOfIt), deeper(deeper(scopeOfIt)), base.scope, other),
          effect,
        }),
      }),
    )
  })
  const useOf = (asked: { use: Use; place: Scope; effect: Effect }): Use => {
    const { place } = asked
    const resource =
      place.kind === 'path'
        ? ({ kind: 'path', host: place.host, path: place.prefix } as const)
        : place.kind === 'network'
          ? ({ kind: 'network', host: place.host.replace('*', 'a') } as const)
          : null
    const does: OperationUse | null = resource === null ? null : [{ effect: asked.effect, resource }]
    return { ...asked.use, does, operation: place.kind === 'operation' ? place.digest : asked.use.operation }
  }

  test('A3 never allows what the wider one does not allow to whoever holds that', () => {
    const seen = { made: 0, used: 0 }
    fc.assert(
      fc.property(near, ({ parent, wanted, asked }) => {
        const child = attenuate(parent, wanted)
        if (typeof child === 'string') return
        seen.made++
        const given: Grant = { ...child, revokedAt: null }
        const { audience: where, issuedAt } = given
        const conversation = where.kind === 'conversation' ? where.conversation : asked.use.conversation
        const at = Math.max(asked.use.at, issuedAt) as Instant
        const used = {
          ...useOf(asked),
          openId: parent.openId,
          agent: given.agent,
          conversation,
          ownerPrivate: true,
          at,
        }
        // By its own words it lies inside already, for as long as the wider one is not revoked; its chain holds it then.
        if (covers(given, used) && (parent.revokedAt === null || used.at < parent.revokedAt)) {
          seen.used++
          expect(covers(parent, { ...used, agent: parent.agent })).toBe(true)
        }
        const found = grantFor([given, parent], used)
        if (found?.id === given.id) expect(covers(parent, { ...used, agent: parent.agent })).toBe(true)
        expect(grantFor([given], used)).toBeNull()
      }),
      often(4_000),
    )
    expect(seen.made).toBeGreaterThan(200)
    expect(seen.used).toBeGreaterThan(20)
  })

  const parent: Grant = {
    id: 'p',
    agent: MANAGER,
    openId: 'x',
    scope: { kind: 'path', host: 'h', prefix: '/srv/notes' },
    effects: ['read', 'write'],
    audience: { kind: 'conversation', conversation: 'c' as ConversationId },
    issuedAt: 1 as Instant,
    expiresAt: 100 as Instant,
    revokedAt: null,
    parent: null,
  }
  const { revokedAt: _, parent: __, ...same } = parent
  const wanted = { ...same, id: 'n', issuedAt: 2 as Instant }
  test.each([
    ['a directory above', { scope: { kind: 'path', host: 'h', prefix: '/srv' } as Scope }, 'wider-scope'],
    [
      'a neighbour with the same beginning',
      { scope: { kind: 'path', host: 'h', prefix: '/srv/notes2' } as Scope },
      'wider-scope',
    ],
    [
      'the same directory elsewhere',
      { scope: { kind: 'path', host: 'k', prefix: '/srv/notes' } as Scope },
      'wider-scope',
    ],
    ['a way up', { scope: { kind: 'path', host: 'h', prefix: '/srv/notes/../..' } as Scope }, 'scope-unsound'],
    ['one effect more', { effects: ['read', 'write', 'execute'] as Effect[] }, 'wider-effects'],
    ['an effect that does not go with it', { effects: ['network'] as Effect[] }, 'effect-not-possible'],
    ['no effect', { effects: [] as Effect[] }, 'effect-not-possible'],
    [
      'another chat',
      { audience: { kind: 'conversation', conversation: 'd' as ConversationId } as Audience },
      'wider-audience',
    ],
    ['all private chats', { audience: { kind: 'owner-private' } as Audience }, 'wider-audience'],
    ['no end', { expiresAt: null }, 'ends-later'],
    ['a later end', { expiresAt: 101 as Instant }, 'ends-later'],
    ['another owner', { openId: 'y' }, 'other-principal'],
    ['after the end of the wider one', { issuedAt: 100 as Instant, expiresAt: 100 as Instant }, 'parent-ended'],
  ])('is refused for %s', (_name, over, because) => {
    expect(attenuate(parent, { ...wanted, ...over })).toBe(because)
  })
  test('stands for a directory below, with fewer effects and for another agent', () => {
    const below: Scope = { kind: 'path', host: 'h', prefix: '/srv/notes//week/./' }
    const child = attenuate(parent, { ...wanted, agent: 'w' as AgentId, scope: below, effects: ['read'] })
    expect(child).toMatchObject({ parent: 'p', scope: { prefix: '/srv/notes/week' }, effects: ['read'] })
  })
})

/** The grant and what stands above it, as far as it is there. */
function above(of: Grant, all: readonly Grant[]): readonly Grant[] {
  const parent = of.parent === null ? undefined : all.find((g) => g.id === of.parent)
  return parent === undefined || parent.id === of.id
    ? [of]
    : [
        of,
        ...above(
          parent,
          all.filter((g) => g.id !== of.id),
        ),
      ]
}

describe('what is missing', () => {
  const base: Grant = {
    id: 'g',
    agent: MANAGER,
    openId: 'x',
    scope: { kind: 'path', host: 'h', prefix: '/srv/notes' },
    effects: ['write'],
    audience: { kind: 'conversation', conversation: 'c' as ConversationId },
    issuedAt: 1 as Instant,
    expiresAt: null,
    revokedAt: null,
    parent: null,
  }
  const asked: Use = {
    agent: MANAGER,
    openId: 'x',
    conversation: 'c' as ConversationId,
    ownerPrivate: false,
    operation: 'a'.repeat(64) as TextDigest,
    does: [{ effect: 'write', resource: { kind: 'path', host: 'h', path: '/srv/notes/a' } }],
    at: 10 as Instant,
  }
  const at = (path: string | null): OperationUse => [{ effect: 'write', resource: { kind: 'path', host: 'h', path } }]
  test.each<[string, Partial<Grant>, Partial<Use>, object]>([
    ['revoked', { revokedAt: 5 as Instant }, {}, { kind: 'revoked', grant: 'g', at: 5 }],
    ['expired', { expiresAt: 6 as Instant }, {}, { kind: 'expired', grant: 'g', at: 6 }],
    ['made of one that is gone', { parent: 'p' }, {}, { kind: 'parent-ended', grant: 'g' }],
    [
      'of another chat, which its owner alone hears',
      {},
      { conversation: 'd' as ConversationId, ownerPrivate: true },
      { kind: 'other-audience', grant: 'g' },
    ],
    ['of another chat', {}, { conversation: 'd' as ConversationId }, { kind: 'none' }],
    ['of another effect', { effects: ['read'] }, {}, { kind: 'other-effect', grant: 'g', allows: ['read'] }],
    ['of another place', {}, { does: at('/srv/other') }, { kind: 'outside', grant: 'g', scope: '/srv/notes' }],
    ['of another agent', { agent: 'w' as AgentId }, {}, { kind: 'none' }],
    ['any', { id: 'g', openId: 'y' }, {}, { kind: 'none' }],
    ['a place that is known', {}, { does: at(null) }, { kind: 'unresolved' }],
    ['a kind', {}, { does: null }, { kind: 'not-named' }],
  ])('is a permission that is not %s', (_name, over, used, gap) => {
    expect(gapOf([{ ...base, ...over }], { ...asked, ...used })).toEqual(gap)
  })
})

test('no grant can be made with an effect that its scope cannot have', () => {
  fc.assert(
    fc.property(grant, (wanted) => {
      const sound = soundGrant(wanted)
      if (typeof sound === 'string') return
      if (sound.scope.kind === 'network') expect(sound.effects).toEqual(['network'])
      if (sound.scope.kind === 'path') expect(sound.effects).not.toContain('network')
    }),
    often(500),
  )
})
