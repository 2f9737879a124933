import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OWNER_PROFILE, RESTRICTED_PROFILE, type SessionProfile } from '../../src/collab/audience.js'
import type { RuntimeSession } from '../../src/collab/ports.js'
import type { LaneId } from '../../src/collab/refs.js'
import { must } from '../../src/lib/assert.js'
import { createCodexRuntime } from '../../src/runtime/codex/adapter.js'
import type { CodexSettings } from '../../src/runtime/codex/options.js'
import type { HostedRuntime } from '../../src/runtime/hosted.js'
import { groupIsGone } from '../../src/runtime/process-group.js'
import { codexBench, type CodexBench, hasCodex } from '../kit/codex-bench.js'
import { testTools, type TestTools } from '../kit/mcp-server.js'
import { collect, eventually, inputOf, never } from '../kit/runtime-bench.js'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const CANARY = 'canary-that-nobody-may-read'

/** The owner's own session where the owner chose it, and everybody else's whatever the owner chose. */
const cases: readonly (readonly [string, SessionProfile, CodexSettings['sandbox']])[] = [
  ['workspace-only', OWNER_PROFILE, 'workspace-only'],
  ['the restricted profile', RESTRICTED_PROFILE, 'danger-full-access'],
]

describe.skipIf(!hasCodex).each(cases)('the real codex with %s', (_name, profile, sandbox) => {
  let bench: CodexBench
  let runtime: HostedRuntime
  let session: RuntimeSession
  let codex = 0
  let workspace = ''
  let secret = ''
  let tools: TestTools
  beforeAll(async () => {
    bench = await codexBench()
    tools = await testTools()
    // Not below /tmp, so that nothing is hidden by chance.
    workspace = await mkdtemp('/var/tmp/lark-manager-workspace-')
    secret = join(bench.root, 'secrets')
    mkdirSync(secret)
    writeFileSync(join(secret, 'note.txt'), CANARY)
    writeFileSync(join(secret, 'picture.png'), png)
    for (const home of ['owner', 'restricted']) {
      writeFileSync(join(bench.root, 'codex', home, 'auth.json'), `{"key":"${CANARY}"}`)
    }
    for (const name of ['note.txt', 'picture.png']) symlinkSync(join(secret, name), join(workspace, `link-${name}`))
    symlinkSync(secret, join(workspace, 'link-folder'))
    writeFileSync(join(workspace, 'own.png'), png)
    runtime = createCodexRuntime(
      bench.options({ sandbox, network: profile.kind === 'restricted', credential: { MOCK_KEY: CANARY } }),
    )
    const access = async () => ({ url: tools.url, token: 'token-1' })
    const opening = await runtime.open({ lane: 'l' as LaneId, profile, workspace, resume: null, tools: access }, never)
    if (opening.outcome !== 'opened') throw new Error(opening.detail)
    session = opening.session
    codex = must(bench.pids().at(-1), 'codex')
  })
  afterAll(async () => {
    await runtime?.end()
    await tools?.close()
    await bench?.close()
    await rm(workspace, { recursive: true, force: true })
  })

  const say = async (message: string): Promise<string> => {
    const { ended } = await collect(session.turn(inputOf(message), never))
    return ended.ended === 'completed' ? ended.final : JSON.stringify(ended)
  }
  /** Everything that the model was given after the last message. */
  const given = () => JSON.stringify(must(bench.mock.requests.at(-1), 'a request').outputs)

  test('says that its sandbox works here', async () => {
    expect(await runtime.available()).toEqual({ available: true })
    const rows = (await runtime.checks?.()) ?? []
    const off = { detail: 'off (CODEX_SANDBOX)', mend: null }
    const on = { detail: 'workspace-only works here', mend: null }
    const own = profile.kind === 'owner' ? on : off
    expect(rows).toContainEqual({ name: 'codex sandbox', state: 'ok', ...own })
    const detail = 'confined to their workspace, commands without network'
    expect(rows).toContainEqual({ name: 'codex restricted sessions', state: 'ok', detail, mend: null })
    expect(session.effective.confinement).toEqual({
      profile: profile.kind,
      reads: 'workspace',
      writes: 'workspace',
      paths: [],
      network: 'none',
      by: 'runtime',
    })
  })

  test('its own workspace it reads and writes', async () => {
    expect(await say('!run echo mine > own.txt; cat own.txt')).toContain('mine')
    expect(readFileSync(join(workspace, 'own.txt'), 'utf8')).toBe('mine\n')
    expect(await say('!patch patched.txt')).toContain('Success')
    await say(`!look ${join(workspace, 'own.png')}`)
    expect(JSON.stringify(bench.mock.requests.at(-1)?.body)).toContain('input_image')
  })

  test.each([
    ['a file outside by its path', () => `cat ${secret}/note.txt`],
    ['a link to it', () => 'cat link-note.txt'],
    ['a folder behind a link', () => 'cat link-folder/note.txt'],
    ['the path through its own root', () => `cat /proc/self/root${secret}/note.txt`],
    ['the environment of other processes', () => 'cat /proc/[0-9]*/environ'],
    ['the files of other processes', () => `cat /proc/[0-9]*/root${secret}/note.txt /proc/[0-9]*/cwd/secrets/note.txt`],
    ['its sign-in', () => `cat ${bench.root}/codex/restricted/auth.json ${bench.root}/codex/owner/auth.json`],
    [
      'its settings',
      () => `cat ${bench.root}/codex/restricted/config.toml | grep base_url || grep -r ${CANARY} ${bench.root}`,
    ],
    ['a command that asks to step out', () => `cat ${secret}/note.txt`],
  ])('%s is not there for the shell', async (what, command) => {
    const word = what.startsWith('a command') ? 'ask' : 'run'
    const told = await say(`!${word} ${command()}; echo looked`)
    expect(told).not.toContain(CANARY)
    expect(told).not.toContain('base_url')
    expect(given()).not.toContain(CANARY)
    if (word === 'run') expect(told).toContain('looked')
  })

  test('without workspace-only the same command reads it: what is hidden above is hidden by the profile', async () => {
    const open = createCodexRuntime(bench.options())
    try {
      const opening = await open.open({ lane: 'l' as LaneId, profile: OWNER_PROFILE, workspace, resume: null }, never)
      if (opening.outcome !== 'opened') throw new Error(opening.detail)
      const { ended } = await collect(opening.session.turn(inputOf(`!run cat ${secret}/note.txt`), never))
      expect(ended).toMatchObject({ final: expect.stringContaining(CANARY) })
    } finally {
      await open.end()
    }
  })

  test('homes and data of others are not there', async () => {
    const told = await say(`!run ls ${bench.root} /root /home /work/main/src ${secret} 2>&1; echo looked`)
    expect(told).toContain('looked')
    expect(told).not.toMatch(/note\.txt|workspaces|exchange|\.bashrc/u)
  })

  test.each(['secrets/picture.png', 'link'])('a picture outside (%s) is not shown to the model', async (which) => {
    await say(`!look ${which === 'link' ? join(workspace, 'link-picture.png') : join(bench.root, which)}`)
    expect(must(bench.mock.requests.at(-1)?.outputs.at(-1), 'an output')).toMatch(/unable to locate/u)
  })

  test('a patch writes nothing outside, by a path or by a link', async () => {
    await say(`!patch ${join(bench.root, 'patched.txt')}`)
    await say('!patch link-note.txt')
    await say('!patch link-folder/new.txt')
    expect(readFileSync(join(secret, 'note.txt'), 'utf8')).toBe(CANARY)
    expect(() => readFileSync(join(bench.root, 'patched.txt'))).toThrow('ENOENT')
    expect(() => readFileSync(join(secret, 'new.txt'))).toThrow('ENOENT')
  })

  test('the network is not there, and the tools of the gateway are', async () => {
    expect(await say(`!run curl -sS -m 2 ${tools.url}; echo looked`)).toMatch(/looked/u)
    expect(tools.bearers).toEqual([])
    expect(await say('!tool note')).toContain('noted for token-1')
  })

  test('it goes on confined after its process has ended', async () => {
    process.kill(codex, 'SIGKILL')
    await eventually(() => groupIsGone(codex))
    expect(await say(`!run cat ${secret}/note.txt link-note.txt; echo looked`)).toMatch(/^(?!.*canary)[\s\S]*looked/u)
  })
})
