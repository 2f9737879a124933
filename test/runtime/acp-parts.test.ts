import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findCommand, splitCommandLine } from '../../src/runtime/acp/command-line.js'
import { offeredFile } from '../../src/runtime/acp/offered-files.js'
import { operationOf, outcomeOf } from '../../src/runtime/acp/permission.js'
import { scrub } from '../../src/runtime/scrub.js'
import { readUpdate } from '../../src/runtime/acp/updates.js'
import { temporaryFolder } from '../kit/runtime-bench.js'

describe('a command line', () => {
  test.each([
    ['agent --acp', ['agent', '--acp']],
    ['  "a b"  \'c d\' ', ['a b', 'c d']],
    ['a\\ b "c \\"d\\"" \'e\\f\'', ['a b', 'c "d"', 'e\\f']],
    ['run --name="two words"', ['run', '--name=two words']],
    ["'' x", ['', 'x']],
    ['a $HOME `id` $(id) | b > c; d', ['a', '$HOME', '`id`', '$(id)', '|', 'b', '>', 'c;', 'd']],
    ['', []],
  ])('%s', (line, words) => {
    expect(splitCommandLine(line)).toEqual(words)
  })

  test.each(['"open', "it's", 'end\\'])('%s is refused', (line) => {
    expect(splitCommandLine(line)).toBeNull()
    expect(findCommand(line, '')).toMatchObject({ found: false })
  })

  test('quoted words come back as they were', () => {
    const quoted = (word: string): string => `"${word.replaceAll(/["\\]/gu, '\\$&')}"`
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (words) => {
        expect(splitCommandLine(words.map(quoted).join(' '))).toEqual(words)
      }),
    )
  })

  test('finds a program by PATH, and only in absolute folders of it', () => {
    expect(findCommand('sh -c x', '/nonexistent:/bin')).toEqual({ found: true, file: '/bin/sh', args: ['-c', 'x'] })
    expect(findCommand('sh', 'bin:.')).toMatchObject({ found: false })
    expect(findCommand('sh', undefined)).toMatchObject({ found: false })
    expect(findCommand('/bin', '')).toMatchObject({ found: false })
  })
})

describe('an operation', () => {
  test('names title, kind, command and places', () => {
    const call = { toolCallId: 't', title: 'Run', kind: 'execute', rawInput: { command: ['git', 'push'] } } as const
    expect(operationOf(call)).toBe('Run (execute)\n["git","push"]')
    expect(operationOf({ toolCallId: 't', title: 'Edit', locations: [{ path: 'a.ts' }] })).toBe('Edit\na.ts')
    expect(operationOf({ toolCallId: 't', rawInput: { b: 1, a: 2 } })).toBe('unnamed operation\n{"a":2,"b":1}')
  })

  test('with a command says also where and how it runs, but not what the model says about it', () => {
    const of = (rawInput: object) => operationOf({ toolCallId: 't', title: 'Bash', rawInput })
    expect(of({ command: 'make', description: 'Builds it' })).toBe('Bash\nmake')
    expect(of({ command: 'make', cwd: '/etc' })).toBe('Bash\nmake\n{"cwd":"/etc"}')
    expect(of({ command: ['make'], dangerouslyDisableSandbox: true })).toContain('dangerouslyDisableSandbox')
  })

  test('is whole as long as a card can show it; beyond that its digest tells two apart that begin alike', () => {
    const of = (command: string) => operationOf({ toolCallId: 't', title: 'Run', rawInput: { command } })
    const same = 'x'.repeat(3_000)
    expect(of(`${same}a`)).toBe(`Run\n${same}a`)
    const longer = 'x'.repeat(9_000)
    expect(of(`${longer}a`)).toMatch(/… \(1005 more characters are not shown; SHA-256 [0-9a-f]{64}\)$/u)
    expect(of(`${longer}a`)).not.toBe(of(`${longer}b`))
    expect(of(`${longer}a`).length).toBeLessThan(8_200)
  })

  test('spells out what cannot be seen', () => {
    const call = { toolCallId: 't', title: 'List\nfiles', rawInput: { command: 'ls\u202egpj.exe\u0007\nrm x' } }
    expect(operationOf(call)).toBe('List files\nls\\u{202e}gpj.exe\\u{7}\nrm x')
  })

  test('is never allowed for longer than once', () => {
    const always = { optionId: 'a', name: 'Always', kind: 'allow_always' } as const
    const once = { optionId: 'o', name: 'Once', kind: 'allow_once' } as const
    expect(outcomeOf('allow-once', [always, once])).toEqual({ outcome: 'selected', optionId: 'o' })
    expect(outcomeOf('allow-once', [always])).toEqual({ outcome: 'cancelled' })
    expect(outcomeOf('reject-once', [always, once])).toEqual({ outcome: 'cancelled' })
  })
})

describe('an update', () => {
  test.each([
    [null, 'other'],
    [{ sessionId: 's' }, 'other'],
    [{ sessionId: 's', update: { sessionUpdate: 'agent_message_chunk' } }, 'other'],
    [{ sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 1 } } }, 'other'],
    [{ sessionId: 's', update: { sessionUpdate: 'plan', entries: [] } }, 'other'],
    [
      { sessionId: 's', update: { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'q' } } },
      'other',
    ],
    [{ sessionId: 's', update: { sessionUpdate: 'tool_call_update', toolCallId: 'x' } }, 'tool'],
    [
      { sessionId: 's', update: { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'c' } } },
      'thinking',
    ],
  ])('%j means %s', (params, kind) => {
    expect(readUpdate(params).update).toEqual({ kind })
  })
})

describe('an offered file', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let workspace: string
  beforeEach(async () => {
    folder = await temporaryFolder()
    workspace = join(folder.path, 'ws')
    await mkdir(join(workspace, 'out'), { recursive: true })
    await mkdir(join(folder.path, 'ws-other'))
    await writeFile(join(workspace, 'out', '报告.md'), '# hi')
    await writeFile(join(workspace, 'empty.txt'), '')
    await writeFile(join(folder.path, 'ws-other', 'x.csv'), 'secret')
    await symlink(join(folder.path, 'ws-other'), join(workspace, 'link'))
  })
  afterEach(() => folder.remove())

  const link = (uri: string) => offeredFile({ type: 'resource_link', uri, name: '' }, workspace)

  test('is read when its real path is inside', async () => {
    const file = await link(pathToFileURL(join(workspace, 'out', '报告.md')).href)
    expect(file).toMatchObject({ offered: true, event: { fileName: '报告.md', mediaType: 'text/markdown' } })
  })

  test.each([
    ['a neighbour', '../ws-other/x.csv', 'outside-workspace'],
    ['a link to a folder outside', 'link/x.csv', 'outside-workspace'],
    ['the workspace itself', '.', 'outside-workspace'],
    ['a folder', 'out', 'not-a-file'],
    ['nothing', 'missing.txt', 'unreadable'],
    ['an empty file', 'empty.txt', 'empty'],
  ])('is left out: %s', async (_, path, because) => {
    expect(await link(pathToFileURL(join(workspace, path)).href)).toEqual({ offered: false, because })
  })

  test.each(['https://example.com/a.pdf', 'data:text/plain,hi', '/etc/passwd', 'file://host/etc/passwd'])(
    'is left out: %s',
    async (uri) => {
      expect(await link(uri)).toMatchObject({ offered: false })
    },
  )

  test('can stand in the answer itself', async () => {
    const resource = { uri: 'mem://x/%E8%A1%A8.csv', mimeType: 'text/csv', text: 'a,b' }
    const file = await offeredFile({ type: 'resource', resource }, workspace)
    expect(file).toMatchObject({ offered: true, event: { fileName: '表.csv', mediaType: 'text/csv' } })
  })
})

test('words for an operator hold no secret and no path', () => {
  const env = { SOME_TOKEN: 'abcdef123456', HOME: '/home/someone' }
  expect(scrub('one\nfailed with abcdef123456 at /home/someone/.config/x.json, sk-abcdefghijkl\n', env)).toBe(
    'failed with *** at …, ***',
  )
})
