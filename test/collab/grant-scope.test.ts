import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { offerOf } from '../../src/collab/grant-offer.js'
import { commonDirectory, normalHost, normalScope, reaches, within, type Scope } from '../../src/collab/grant-scope.js'
import type { OperationUse } from '../../src/collab/grant.js'
import { often } from '../kit/runs.js'

const path = (prefix: string, host = 'h'): Scope => ({ kind: 'path', host, prefix })
const at = (where: string | null, host = 'h') => ({ kind: 'path', host, path: where }) as const
const net = (host: string): Scope => ({ kind: 'network', host })

/** Everything that somebody might write to get out of a directory. */
const tricks = fc.oneof(
  fc.constantFrom(
    '..',
    '.',
    '',
    '//',
    '%2e%2e',
    '%2f',
    '..%2f',
    '．．',
    '‥',
    '\u202e',
    '\u200b',
    '\\..',
    '..\\',
    '~',
    '*',
    '\0',
  ),
  fc.string({ maxLength: 6, unit: 'binary' }),
  fc.constantFrom('notes', 'Notes', 'note', 'notes2', 'nоtes', 'e\u0301', '\u00e9', 'ﬁ', 'fi'),
)

describe('a directory', () => {
  test('A3 reaches only paths whose first steps are exactly its own, whatever a path is spelled like', () => {
    fc.assert(
      fc.property(fc.array(tricks, { maxLength: 8 }), fc.constantFrom('', '/', '//'), (parts, begin) => {
        const wanted = `${begin}${parts.join('/')}`
        if (!reaches(path('/srv/notes'), at(wanted))) return
        // A plain reading of its own: no step up anywhere, and both steps there to the letter.
        expect(wanted.startsWith('/')).toBe(true)
        const steps = wanted.split(/\/+(?:\.\/+)*/u).filter((one) => one !== '' && one !== '.')
        expect(steps).not.toContain('..')
        expect(steps.slice(0, 2)).toEqual(['srv', 'notes'])
      }),
      often(5_000),
    )
  })

  test.each([
    ['/srv/notes'],
    ['/srv/notes/'],
    ['/srv/notes/a'],
    ['//srv///notes/./a'],
    ['/srv/notes/e\u0301'],
    ['/srv/notes/ %2e%2e'],
  ])('reaches %j below it', (where) => {
    expect(reaches(path('/srv/notes'), at(where))).toBe(true)
  })
  test.each([
    ['/srv/notes2'],
    ['/srv/Notes/a'],
    ['/srv'],
    ['/'],
    [''],
    ['srv/notes/a'],
    ['/srv/notes/../secret'],
    ['/srv/notes/..'],
    ['/srv/./../srv/notes'],
    ['/srv/nоtes/a'],
    ['/srv/notes\u200b/a'],
    ['/srv%2fnotes/a'],
    ['/srv/%6eotes/a'],
    ['/srv\\notes\\a'],
    ['/srv/notes/a\0'],
    [null],
  ])('does not reach %j', (where) => {
    expect(reaches(path('/srv/notes'), at(where))).toBe(false)
  })
  test('is another one in another composition of its letters, and on another host', () => {
    expect(reaches(path('/srv/\u00e9'), at('/srv/e\u0301/a'))).toBe(false)
    expect(reaches(path('/srv/notes'), at('/srv/notes/a', 'k'))).toBe(false)
  })
  test.each([
    ['/'],
    ['//'],
    ['/.'],
    ['/./.'],
    [''],
    ['.'],
    ['notes'],
    ['/srv/..'],
    ['/srv/../etc'],
    ['/srv/\u202estxe'],
    ['/srv/a\u200bb'],
    ['/srv/a\nb'],
    ['/srv/a\0b'],
    ['/srv/\ud800'],
    [`/${'a'.repeat(5_000)}`],
  ])('cannot be granted as %j', (prefix) => {
    expect(normalScope(path(prefix))).toBeNull()
  })
  test('is kept in the form in which it is compared, and that form changes nothing', () => {
    fc.assert(
      fc.property(fc.array(tricks, { maxLength: 5 }), (parts) => {
        const kept = normalScope(path(`/${parts.join('/')}`))
        if (kept === null) return
        expect(normalScope(kept)).toEqual(kept)
        expect(within(kept, kept)).toBe(true)
      }),
      often(1_000),
    )
  })
})

describe('a host of the network', () => {
  test.each([
    ['Example.COM', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['127.1', '127.0.0.1'],
    ['0x7f.0.0.1', '127.0.0.1'],
    ['[::1]', '[::1]'],
  ])('%j is compared as %j', (written, compared) => {
    expect(normalHost(written)).toBe(compared)
  })
  test.each([
    ['example.com:443'],
    ['user@example.com'],
    ['example.com/x'],
    ['example.com\\x'],
    ['https://example.com'],
    ['example.com?x'],
    ['example.com#x'],
    ['example%2ecom'],
    ['exam\u200bple.com'],
    ['example.com.'],
    ['*'],
    [''],
    ['a b'],
  ])('%j is none', (written) => {
    expect(normalHost(written)).toBeNull()
  })
  test.each([
    ['example.com', 'example.com', true],
    ['example.com', 'EXAMPLE.com', true],
    ['example.com', 'a.example.com', false],
    ['example.com', 'notexample.com', false],
    ['example.com', 'example.com.evil.test', false],
    ['example.com', 'exаmple.com', false],
    ['*.example.com', 'a.example.com', true],
    ['*.example.com', 'b.a.example.com', true],
    ['*.example.com', 'example.com', false],
    ['*.example.com', 'notexample.com', false],
    ['*.example.com', '.example.com', false],
  ])('%j reaches %j: %s', (granted, host, reached) => {
    expect(reaches(net(granted), { kind: 'network', host })).toBe(reached)
  })
  test.each([['*'], ['*.com'], ['*.*.com'], ['a*.example.com'], ['*.1.2.3.4'], ['*.[::1]']])(
    'everything below %j cannot be granted',
    (host) => {
      expect(normalScope(net(host))).toBeNull()
    },
  )
  test.each([
    ['a.x.test', '*.x.test', true],
    ['*.a.x.test', '*.x.test', true],
    ['*.x.test', '*.x.test', true],
    ['*.x.test', 'a.x.test', false],
    ['x.test', '*.x.test', false],
    ['*.x.test', 'x.test', false],
  ])('%j lies within %j: %s', (inner, outer, inside) => {
    expect(within(net(inner), net(outer))).toBe(inside)
  })
})

describe('what a card offers beside exactly this', () => {
  const writes = (...paths: readonly (string | null)[]) =>
    paths.map((where) => ({ effect: 'write', resource: at(where) })) as unknown as OperationUse
  test('is the deepest directory that holds all of it, and the effects of it', () => {
    expect(offerOf(writes('/srv/notes/a/x', '/srv/notes/b'))).toEqual({
      scope: { kind: 'path', host: 'h', prefix: '/srv/notes' },
      effects: ['write'],
      days: 30,
    })
  })
  test('is the one host that is asked for', () => {
    const use: OperationUse = [{ effect: 'network', resource: { kind: 'network', host: 'x.test' } }]
    expect(offerOf(use)?.scope).toEqual({ kind: 'network', host: 'x.test' })
  })
  test.each<[string, OperationUse | null]>([
    ['what is not named', null],
    ['a command, whatever folder it runs in', [{ effect: 'execute', resource: at('/srv/notes/a') }]],
    ['files that nothing narrow holds', writes('/srv/a', '/etc/b')],
    ['a directory right below the root', writes('/etc/passwd')],
    ['a place that is not known', writes('/srv/notes/a', null)],
    ['a directory that does not look like what it is', writes('/srv/no\u202etes/a')],
  ])('is nothing for %s', (_name, use) => {
    expect(offerOf(use)).toBeNull()
  })
  test('holds every file that it was made for', () => {
    const file = fc
      .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 5 })
      .map((steps) => `/${steps.join('/')}`)
    fc.assert(
      fc.property(fc.array(file, { minLength: 1, maxLength: 4 }), (files) => {
        const common = commonDirectory(files)
        if (common === null) return
        for (const one of files) expect(reaches(path(common), at(one))).toBe(true)
      }),
      often(500),
    )
  })
})
