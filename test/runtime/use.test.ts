import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { namedBy as byAcp } from '../../src/runtime/acp/use.js'
import { namedBy as byClaude } from '../../src/runtime/claude/use.js'
import { namedBy as byCodex } from '../../src/runtime/codex/use.js'
import { hostOf, useOf } from '../../src/runtime/use.js'

let root = ''
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'lark-manager-use-')))
  await mkdir(join(root, 'in'))
  await mkdir(join(root, 'out'))
  await writeFile(join(root, 'in', 'file'), '')
  await writeFile(join(root, 'out', 'secret'), '')
  await symlink(join(root, 'out'), join(root, 'in', 'way-out'))
  await symlink(join(root, 'out', 'secret'), join(root, 'in', 'link'))
  await symlink(join(root, 'nowhere'), join(root, 'in', 'dangling'))
  await symlink(join(root, 'in', 'loop'), join(root, 'in', 'loop'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

const real = async (path: string, base = root) =>
  (await useOf([{ effect: 'write', path }], base))?.map(({ resource }) =>
    resource.kind === 'path' ? resource.path : '?',
  )

describe('where a path really leads', () => {
  test.each([
    ['a file', 'in/file', ['in/file']],
    ['what does not exist yet', 'in/new/deep/file', ['in/new/deep/file']],
    ['a file behind a linked folder', 'in/way-out/secret', ['out/secret']],
    ['what does not exist yet behind a linked folder', 'in/way-out/new', ['out/new']],
    ['a link: both ends of it', 'in/link', ['out/secret', 'in/link']],
  ])('%s', async (_name, path, wanted) => {
    const whole = wanted.map((one) => join(root, one))
    expect(await real(join(root, path))).toEqual(whole)
    expect(await real(path)).toEqual(whole)
  })
  test.each([
    ['a link to nothing', 'in/dangling'],
    ['something behind a link to nothing', 'in/dangling/file'],
    ['a circle', 'in/loop'],
    ['a way up', 'in/../in/file'],
    ['a file taken for a folder', 'in/file/x'],
    ['a NUL', 'in/fi\0le'],
    ['nothing', ''],
  ])('is not known for %s', async (_name, path) => {
    expect(await real(path === '' ? '' : `${root}/${path}`)).toEqual([null])
  })
  test('stands with the machine on which it lies', async () => {
    const use = await useOf([{ effect: 'read', path: join(root, 'in', 'file') }], root)
    expect(use).toEqual([
      { effect: 'read', resource: { kind: 'path', host: hostname(), path: join(root, 'in', 'file') } },
    ])
    expect(await useOf([], root)).toBeNull()
  })
})

describe('what codex asks to do', () => {
  const patch = 'item/fileChange/requestApproval'
  const command = 'item/commandExecution/requestApproval'
  test('names every file of a patch, and both ends of a move', () => {
    const changes = [
      { path: '/a', kind: { type: 'add' }, diff: '' },
      { path: '/b', kind: { type: 'update', move_path: '/c' }, diff: '' },
    ]
    expect(byCodex(patch, { grantRoot: null }, { changes })).toEqual([
      { effect: 'write', path: '/a' },
      { effect: 'write', path: '/b' },
      { effect: 'write', path: '/c' },
    ])
  })
  test('is a command in its folder, never a change of the files that its words name', () => {
    expect(byCodex(command, { kind: 'command', command: 'touch /etc/x', cwd: '/w' }, {})).toEqual([
      { effect: 'execute', path: '/w' },
    ])
  })
  test('is one host, when it asks for the network alone', () => {
    const params = { kind: 'command', networkApprovalContext: { host: 'x.test', protocol: 'https' } }
    expect(byCodex(command, params, { command: 'curl x.test' })).toEqual([{ effect: 'network', host: 'x.test' }])
    expect(byCodex(command, { ...params, command: 'curl x.test', cwd: '/w' }, {})).toHaveLength(2)
  })
  test.each([
    ['a root for more', patch, { grantRoot: '/' }, { changes: [{ path: '/a', kind: { type: 'add' } }] }],
    ['a patch without files', patch, {}, { changes: [] }],
    ['a change without a path', patch, {}, { changes: [{ path: '/a' }, {}] }],
    ['words for a running command', command, { kind: 'writeStdin', command: 'sh', cwd: '/w' }, {}],
    ['more than the sandbox', command, { command: 'x', cwd: '/w', additionalPermissions: { network: true } }, {}],
    ['a command that it does not name', command, {}, {}],
    ['a tool', 'mcpServer/elicitation/request', { _meta: { tool_name: 't' } }, {}],
    ['wider permissions', 'item/permissions/requestApproval', { permissions: {} }, {}],
  ])('is not known for %s', (_name, method, params, item) => {
    expect(byCodex(method, params, item)).toBeNull()
  })
})

describe('what Claude Code asks to do', () => {
  test.each([
    ['Write', { file_path: '/a', content: 'x' }, [{ effect: 'write', path: '/a' }]],
    ['Edit', { file_path: '/a' }, [{ effect: 'write', path: '/a' }]],
    ['NotebookEdit', { notebook_path: '/n' }, [{ effect: 'write', path: '/n' }]],
    ['Read', { file_path: '/a' }, [{ effect: 'read', path: '/a' }]],
    ['Write', { content: 'x' }, [{ effect: 'write', path: null }]],
    ['Bash', { command: 'touch /a' }, [{ effect: 'execute', path: null }]],
    ['WebFetch', { url: 'https://X.test:8443/a?b' }, [{ effect: 'network', host: 'x.test' }]],
    ['WebFetch', { url: 'file:///etc/passwd' }, null],
    ['mcp__other__write', { file_path: '/a' }, null],
  ])('with %s and %j', (tool, input, named) => {
    expect(byClaude(tool, input)).toEqual(named)
  })
})

describe('what an ACP agent asks to do', () => {
  const call = (over: object) => ({ toolCallId: '1', title: 't', ...over }) as Parameters<typeof byAcp>[0]
  test.each([
    ['reads', { kind: 'read', locations: [{ path: '/a' }] }, [{ effect: 'read', path: '/a' }]],
    [
      'changes every place that it names anywhere',
      {
        kind: 'edit',
        locations: [{ path: '/a' }],
        content: [{ type: 'diff', path: '/b', newText: '' }],
        rawInput: { file_path: '/c', edits: [{ path: '/d' }], new_string: '/not/a/place' },
      },
      ['/a', '/b', '/c', '/d'].map((path) => ({ effect: 'write', path })),
    ],
    [
      'runs a command where it says',
      { kind: 'execute', rawInput: { command: 'x', cwd: '/w' } },
      [{ effect: 'execute', path: '/w' }],
    ],
    ['runs a command somewhere', { kind: 'execute', rawInput: { command: 'x' } }, [{ effect: 'execute', path: null }]],
    ['asks a host', { kind: 'fetch', rawInput: { url: 'http://x.test/' } }, [{ effect: 'network', host: 'x.test' }]],
    ['moves to where it does not say', { kind: 'move', locations: [{ path: '/a' }] }, null],
    ['changes what it does not say', { kind: 'edit' }, null],
    ['does something else', { kind: 'other', locations: [{ path: '/a' }] }, null],
    ['does not say what', { locations: [{ path: '/a' }] }, null],
  ])('%s', (_name, over, named) => {
    expect(byAcp(call(over))).toEqual(named)
  })
})

test.each([
  ['https://a@x.test/', 'x.test'],
  ['https://x.test.', null],
  ['ftp://x.test', null],
  ['x.test', null],
  [3, null],
])('the host of %j is %j', (url, host) => {
  expect(hostOf(url)).toBe(host)
})
