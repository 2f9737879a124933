import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OWNER_PROFILE, RESTRICTED_PROFILE, type SessionProfile } from '../../src/collab/audience.js'
import type { LaneId } from '../../src/collab/refs.js'
import { createAcpRuntime } from '../../src/runtime/acp/adapter.js'
import type { HostedRuntime } from '../../src/runtime/hosted.js'
import { acceptance } from '../kit/acceptance.js'
import { confinerIn, hasBwrap } from '../kit/confined.js'
import { acpOptions, collect, inputOf, never } from '../kit/runtime-bench.js'
import { scriptedAgent } from '../kit/scripted-command.js'

const command = await scriptedAgent()
const CANARY = 'canary-that-nobody-may-read'

/** A host with things that are nobody else's business: an owner's home, data of the gateway, another chat's folder. */
async function host() {
  // Not below /tmp, so that nothing is hidden by chance.
  const root = await mkdtemp('/var/tmp/lark-manager-confined-')
  const [home, dataDir] = [join(root, 'home'), join(root, 'data')]
  const folder = (...names: readonly string[]): string => {
    const path = join(dataDir, ...names)
    mkdirSync(path, { recursive: true })
    return path
  }
  const [workspace, other, shared] = [
    folder('workspaces', 'own'),
    folder('workspaces', 'other'),
    folder('acp', 'restricted'),
  ]
  mkdirSync(join(home, '.ssh'), { recursive: true })
  const granted = join(root, 'granted')
  mkdirSync(granted)
  const secrets = { home: join(home, '.ssh', 'id'), data: join(dataDir, 'admin-token'), other: join(other, 'note.txt') }
  for (const path of Object.values(secrets)) writeFileSync(path, CANARY)
  writeFileSync(join(granted, 'given.txt'), 'given to this chat')
  writeFileSync(join(shared, 'sign-in.json'), 'the sign-in of the agent')
  symlinkSync(secrets.home, join(workspace, 'link'))
  symlinkSync(home, join(workspace, 'link-folder'))
  return { root, home, dataDir, workspace, granted, secrets }
}

describe.skipIf(!hasBwrap)('a confined ACP agent', () => {
  let at: Awaited<ReturnType<typeof host>>
  let runtime: HostedRuntime
  beforeAll(async () => {
    at = await host()
    const env = { PATH: process.env['PATH'] ?? '', HOME: at.home, SSH_AUTH_SOCK: '/run/agent', CODEX_HOME: at.home }
    runtime = createAcpRuntime(acpOptions(command(), { env, confiner: confinerIn(at.dataDir, at.home) }))
  })
  afterAll(async () => {
    expect(await runtime.end()).toEqual({ executor: 'gone' })
    await rm(at.root, { recursive: true, force: true })
  })

  const open = async (profile: SessionProfile, lane: string) => {
    const spec = { lane: lane as LaneId, workspace: at.workspace, resume: null, profile }
    const opening = await runtime.open(spec, never)
    if (opening.outcome !== 'opened') throw new Error(opening.detail)
    return opening.session
  }
  const say = async (message: string, profile: SessionProfile = RESTRICTED_PROFILE, lane: string = profile.kind) => {
    const session = await open(profile, lane)
    const { ended } = await collect(session.turn(inputOf(message), never))
    expect(await session.close()).toEqual({ executor: 'gone' })
    return ended.ended === 'completed' ? ended.final : JSON.stringify(ended)
  }

  test('says that this host can confine it, and that the network stays', async () => {
    const detail = 'confined by bubblewrap to their workspace and a home of their own; the network is not cut'
    expect(await runtime.checks?.()).toEqual([{ name: 'acp restricted sessions', state: 'ok', detail, mend: null }])
    const session = await open(RESTRICTED_PROFILE, 'seen')
    expect(session.effective.confinement).toEqual({
      profile: 'restricted',
      reads: 'workspace',
      writes: 'workspace',
      paths: [],
      network: 'open',
      by: 'namespace',
    })
    await session.close()
  })

  test('its own workspace it reads and writes, and what it writes is there after it', async () => {
    expect(await say('!run echo mine > own.txt; cat own.txt')).toContain('mine')
    expect(readFileSync(join(at.workspace, 'own.txt'), 'utf8')).toBe('mine\n')
  })

  test.each<[string, () => string]>([
    ['a file of the owner’s home', () => `cat ${at.secrets.home}`],
    ['a file of DATA_DIR', () => `cat ${at.secrets.data}`],
    ['another workspace', () => `cat ${at.secrets.other}`],
    ['a link out of the workspace', () => 'cat link'],
    ['a folder behind a link', () => 'cat link-folder/.ssh/id'],
    ['the way round through its own root', () => `cat /proc/self/root${at.secrets.home}`],
    ['the environment of the gateway', () => `cat /proc/${process.pid}/environ`],
    ['the files of any process', () => `cat /proc/[0-9]*/root${at.secrets.home} /proc/[0-9]*/cwd/../other/note.txt`],
    [
      'everything that can be found',
      () => `grep -rs ${CANARY.slice(0, 10)} / --include=id --include=note.txt --include=admin-token`,
    ],
  ])('%s is not there', async (_, line) => {
    const told = await say(`!run ${line()}; echo looked`)
    expect(told).toContain('looked')
    expect(told).not.toContain(CANARY)
    if (line().includes('environ')) expect(told).toContain('No such file')
  })

  acceptance('A3', 'what is hidden above is hidden by the profile: the same agent of the owner reads it', async () => {
    for (const path of Object.values(at.secrets)) {
      expect(await say(`!run cat ${path}`, OWNER_PROFILE)).toContain(CANARY)
    }
  })

  test('no other process is there, and no variable leads to the owner', async () => {
    expect(await say('!run ls -d /proc/[0-9]* | wc -l')).toMatch(/^\s*[2-9]\s*$/u)
    const names = (await say('!env')).split(' ')
    expect(names).toContain('HOME')
    for (const name of ['SSH_AUTH_SOCK', 'CODEX_HOME']) expect(names).not.toContain(name)
    expect(await say('!run echo $HOME; ls -a $HOME')).not.toContain(at.home)
  })

  test('a granted path is there as it was granted, and a grant reaches nothing of DATA_DIR', async () => {
    const grants = (access: 'read' | 'write'): SessionProfile => ({
      kind: 'restricted',
      paths: [
        { path: at.granted, access },
        { path: at.dataDir, access },
        { path: join(at.dataDir, 'workspaces', 'other'), access },
        { path: '/', access },
      ],
    })
    const line = `!run cat ${at.granted}/given.txt; echo new > ${at.granted}/new.txt; cat ${at.secrets.other} ${at.secrets.home}`
    const read = await say(line, grants('read'), 'read')
    expect(read).toContain('given to this chat')
    expect(read).not.toContain(CANARY)
    expect(() => readFileSync(join(at.granted, 'new.txt'))).toThrow('ENOENT')
    expect(await say(line, grants('write'), 'write')).not.toContain(CANARY)
    expect(readFileSync(join(at.granted, 'new.txt'), 'utf8')).toBe('new\n')
  })

  test('what the operator gave to all confined sessions is there and cannot be changed; the rest of a home is its own', async () => {
    const line =
      '!run cat $HOME/sign-in.json; echo; echo bad > $HOME/sign-in.json; cat $HOME/kept; echo kept > $HOME/kept'
    const first = await say(line, RESTRICTED_PROFILE, 'one')
    expect(first).toContain('the sign-in of the agent')
    expect(await say(line, RESTRICTED_PROFILE, 'two')).not.toMatch(/^kept$/mu)
    expect(await say(line, RESTRICTED_PROFILE, 'one')).toMatch(/^kept$/mu)
    expect(readFileSync(join(at.dataDir, 'acp', 'restricted', 'sign-in.json'), 'utf8')).toBe('the sign-in of the agent')
  })

  test('a link in its home leads nothing of what is shared out of it', async () => {
    mkdirSync(join(at.dataDir, 'acp', 'restricted', 'deep'), { recursive: true })
    writeFileSync(join(at.dataDir, 'acp', 'restricted', 'deep', 'settings.json'), '{}')
    const away = join(at.root, 'away')
    mkdirSync(away)
    expect(
      await say(`!run rm -rf $HOME/deep; ln -s ${away} $HOME/deep; echo done`, RESTRICTED_PROFILE, 'three'),
    ).toContain('done')
    expect(await say('!run echo runs', RESTRICTED_PROFILE, 'three')).toContain('runs')
    expect(() => readFileSync(join(away, 'settings.json'))).toThrow('ENOENT')
  })

  acceptance('A18', 'a confined agent that will not end is gone with everything that it started', async () => {
    const session = await open(RESTRICTED_PROFILE, 'deaf')
    const turn = collect(session.turn(inputOf('!fail hang'), never))
    await expect.poll(async () => await session.close(), { timeout: 20_000 }).toEqual({ executor: 'gone' })
    expect((await turn).ended.ended).toBe('interrupted')
  })

  acceptance('A12', 'two sessions that call themselves the same are two, each with its own process', async () => {
    const [one, two] = [await open(RESTRICTED_PROFILE, 'same'), await open(OWNER_PROFILE, 'other')]
    const spec = { lane: 'other' as LaneId, workspace: at.workspace, resume: one.ref, profile: OWNER_PROFILE }
    const opening = await runtime.open(spec, never)
    if (opening.outcome !== 'opened') throw new Error(opening.detail)
    const { ended } = await collect(opening.session.turn(inputOf(`!run cat ${at.secrets.home}`), never))
    expect(ended).toMatchObject({ final: expect.stringContaining(CANARY) })
    await Promise.all([one, two, opening.session].map((session) => session.close()))
  })
})

describe('a host that cannot confine', () => {
  test.each<[string, string, RegExp]>([
    ['without bubblewrap', '/nonexistent', /not installed.*apt-get install bubblewrap/u],
    ['where it may not run', join(import.meta.dirname, '..', 'kit', 'refusing'), /not permitted.*user namespaces/u],
  ])('%s refuses a restricted session with the mend, and opens the owner’s', async (_, path, mend) => {
    const at = await host()
    const runtime = createAcpRuntime(acpOptions(command(), { confiner: confinerIn(at.dataDir, at.home, path) }))
    try {
      const spec = { lane: 'l' as LaneId, workspace: at.workspace, resume: null }
      const opening = await runtime.open({ ...spec, profile: RESTRICTED_PROFILE }, never)
      expect(opening).toEqual({ outcome: 'not-confined', detail: expect.stringMatching(mend) })
      expect(await runtime.checks?.()).toMatchObject([{ name: 'acp restricted sessions', state: 'warning' }])
      expect(await runtime.available()).toEqual({ available: true })
      expect((await runtime.open({ ...spec, profile: OWNER_PROFILE }, never)).outcome).toBe('opened')
    } finally {
      await runtime.end()
      await rm(at.root, { recursive: true, force: true })
    }
  })
})
