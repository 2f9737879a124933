import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OWNER_PROFILE, RESTRICTED_PROFILE, type SessionProfile } from '../../src/collab/audience.js'
import type { LaneId } from '../../src/collab/refs.js'
import { createClaudeRuntime } from '../../src/runtime/claude/adapter.js'
import type { HostedRuntime } from '../../src/runtime/hosted.js'
import { claudeBench, type ClaudeBench, hasClaude } from '../kit/claude-bench.js'
import { confinerIn, hasBwrap } from '../kit/confined.js'
import { collect, inputOf, never } from '../kit/runtime-bench.js'

const CANARY = 'canary-that-nobody-may-read'

describe.skipIf(!hasClaude || !hasBwrap)('the real Claude Code in a restricted session', () => {
  let bench: ClaudeBench
  let runtime: HostedRuntime
  let root = ''
  let workspace = ''
  const path = (...names: readonly string[]): string => join(root, ...names)
  beforeAll(async () => {
    bench = await claudeBench()
    root = await mkdtemp('/var/tmp/lark-manager-claude-')
    workspace = path('data', 'workspaces', 'own')
    for (const folder of [workspace, path('home', '.claude'), path('data', 'claude', 'owner')]) {
      mkdirSync(folder, { recursive: true })
    }
    writeFileSync(path('home', 'note.txt'), CANARY)
    writeFileSync(path('data', 'claude', 'owner', 'session.jsonl'), CANARY)
    symlinkSync(path('home', 'note.txt'), join(workspace, 'link'))
    runtime = createClaudeRuntime(options())
  })
  afterAll(async () => {
    expect(await runtime?.end()).toEqual({ executor: 'gone' })
    await bench?.close()
    await rm(root, { recursive: true, force: true })
  })

  const options = (more: Parameters<ClaudeBench['options']>[0] = {}) => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: path('home'), CLAUDE_CODE_MAX_RETRIES: '0' }
    const confiner = confinerIn(path('data'), path('home'))
    return bench.options({ homes: path('data', 'claude'), env, confiner, ...more })
  }
  const say = async (message: string, profile: SessionProfile = RESTRICTED_PROFILE): Promise<string> => {
    const opening = await runtime.open({ lane: profile.kind as LaneId, profile, workspace, resume: null }, never)
    if (opening.outcome !== 'opened') throw new Error(opening.detail)
    const { session } = opening
    const { ended } = await collect(session.turn(inputOf(message), never), async (event) => {
      if (event.kind === 'approval') await session.answer(event.approval, 'allow-once')
    })
    expect(await session.close()).toEqual({ executor: 'gone' })
    return ended.ended === 'completed' ? ended.final : JSON.stringify(ended)
  }

  test('says that it is confined, and works in its workspace', async () => {
    expect(await runtime.checks?.()).toContainEqual(
      expect.objectContaining({ name: 'claude restricted sessions', state: 'ok' }),
    )
    expect(await say('!run echo mine > own.txt; cat own.txt; echo $HOME')).toMatch(/mine\n.*\/data\/claude\/homes\//u)
  })

  test.each<[string, () => string]>([
    ['the owner’s home', () => `cat ${path('home', 'note.txt')}; echo looked`],
    ['a link to it', () => 'cat link; echo looked'],
    ['sessions of others', () => `cat ${path('data', 'claude', 'owner', 'session.jsonl')}; echo looked`],
    ['the gateway’s environment', () => `cat /proc/${process.pid}/environ; echo looked`],
    [
      'its key',
      () =>
        'cat /proc/[0-9]*/environ | tr "\\0" "\\n" | grep -a sk-ant; cat /proc/[0-9]*/fd/3 < /dev/null; echo looked',
    ],
  ])('%s is not there for its shell', async (_, line) => {
    const told = await say(`!run ${line()}`)
    expect(told).toContain('looked')
    expect(told).not.toMatch(/canary/u)
  })

  test('nor for the tools of the program itself, and those that go into the net are taken away', async () => {
    expect(await say(`!use Read {"file_path":"${path('home', 'note.txt')}"}`)).not.toContain(CANARY)
    expect(await say(`!use Grep {"pattern":"canary","path":"${root}","output_mode":"content"}`)).not.toContain(CANARY)
    const tools = JSON.stringify(bench.mock.requests.at(-1)?.tools)
    expect(tools).toContain('"Bash"')
    expect(tools).not.toMatch(/"name":"Web(?:Fetch|Search)"/u)
  })

  test('what is hidden above is hidden by the profile: the owner’s session reads it', async () => {
    expect(await say(`!run cat ${path('home', 'note.txt')}`, OWNER_PROFILE)).toContain(CANARY)
  })

  test('a sign-in that its commands could read is not taken into a restricted session', async () => {
    writeFileSync(path('home', '.claude', '.credentials.json'), '{}')
    const signedIn = createClaudeRuntime(options({ credential: {} }))
    try {
      const spec = { lane: 'l' as LaneId, workspace, resume: null, profile: RESTRICTED_PROFILE }
      expect(await signedIn.open(spec, never)).toEqual({
        outcome: 'not-confined',
        detail: expect.stringMatching(/would be readable.*CLAUDE_KEY_ENV/u),
      })
      expect(await signedIn.available()).toEqual({ available: true })
    } finally {
      await signedIn.end()
    }
  })
})
