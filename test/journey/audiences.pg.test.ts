import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { acceptance } from '../kit/acceptance.js'
import { codexBench, type CodexBench, hasCodex } from '../kit/codex-bench.js'
import { hasBwrap } from '../kit/confined.js'
import { testGateway, textOf, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'

const CANARY = 'canary-of-the-owner'
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Alice asks in a chat and reads the answer. */
const asking = (g: () => TestGateway) => async (chatId: string, text: string) => {
  const { world } = g().served.sandbox
  const asked = world.say({ chatId, from: g().ids.alice, text, mentionBot: chatId !== g().ids.dm })
  return await until(
    () =>
      g()
        .answers(chatId)
        .find((one) => one.parentId === asked.id),
    `an answer to ${text}`,
    60_000,
  )
}

interface Bound {
  readonly session: string
  readonly effective: { readonly confinement: { readonly profile: string } }
  readonly ended: boolean
}
const bound = (g: TestGateway) => g.db.sql<Bound[]>`
  select session, effective, ended_at is not null as ended from collab.session_bindings order by bound_at`

describe.skipIf(!hasBwrap)('audiences on a confined ACP agent', () => {
  let g: TestGateway
  let secret = ''
  const ask = asking(() => g)
  beforeAll(async () => {
    const command = (await scriptedAgent())()
    g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command, PROGRESS_AFTER_MS: '0' } })
    secret = join(g.dataDir, 'note-of-the-owner.txt')
    writeFileSync(secret, CANARY)
  })
  afterAll(() => g?.stop())

  acceptance(
    'A3',
    'what an owner reads in the own direct chat is not there when the same is asked in a group',
    async () => {
      expect(textOf(await ask(g.ids.dm, `!run cat ${secret}`))).toContain(CANARY)
      const line = `!run cat ${secret} /proc/${process.pid}/environ ${g.dataDir}/workspaces/*/AGENTS.md; echo looked`
      const told = textOf(await ask(g.ids.group, line))
      expect(told).toContain('looked')
      expect(told).not.toContain(CANARY)
      expect(told).not.toContain('DATABASE_URL')
    },
  )

  acceptance('A12', 'a session of a group is never resumed in a direct chat, nor the other way round', async () => {
    await ask(g.ids.dm, '!turn')
    await ask(g.ids.group, '!turn')
    const all = await bound(g)
    expect(all.map((one) => one.effective.confinement.profile).toSorted()).toEqual(['owner', 'restricted'])
    expect(new Set(all.map((one) => one.session)).size).toBe(2)
  })

  acceptance('A10', 'the operator sees with each session what it runs with', async () => {
    const { items } = (await (await g.api('/api/v1/sessions')).json()) as { items: readonly Bound[] }
    const restricted = items.find((one) => one.effective.confinement.profile === 'restricted')
    expect(restricted?.effective.confinement).toMatchObject({ reads: 'workspace', network: 'open', by: 'namespace' })
    const doctor = JSON.stringify(await (await g.api('/api/v1/doctor')).json())
    expect(doctor).toContain('acp restricted sessions')
  })

  const settle = (work: string) => ask(g.ids.group, `/chat owner=${work}`)
  const restricted = async () =>
    (await bound(g)).filter((one) => one.effective.confinement.profile === 'restricted').map((one) => one.session)

  acceptance(
    'A3',
    'private work that is asked in a group returns to the owner alone; the group hears that it was taken up',
    async () => {
      await settle('private-return')
      const { world } = g.served.sandbox
      const asked = world.say({ chatId: g.ids.group, from: g.ids.alice, text: `!run cat ${secret}`, mentionBot: true })
      const before = g.answers(g.ids.dm).length
      const told = await until(
        () => g.answers(g.ids.group).find((one) => one.parentId === asked.id),
        'the word',
        60_000,
      )
      expect(textOf(told)).toContain('direct chat')
      const answer = await until(() => g.answers(g.ids.dm)[before], 'the private answer', 60_000)
      expect(textOf(answer)).toContain(CANARY)
      await g.quiet()
      expect(g.answers(g.ids.group).map(textOf).join()).not.toContain(CANARY)
      // Nor is it there for whoever works in the group afterwards.
      await settle('restricted')
      expect(textOf(await ask(g.ids.group, '!run ls -R . $HOME; echo looked'))).not.toContain('note-of-the-owner')
      expect(g.receipts(g.ids.group, asked.id)).toEqual([])
    },
  )

  acceptance(
    'A12',
    'a policy that changes what an owner’s words may do begins another thread; the former one goes on when it is back',
    async () => {
      const [first] = await restricted()
      await settle('owner')
      expect(textOf(await ask(g.ids.group, `!run cat ${secret}`))).toContain(CANARY)
      expect((await bound(g)).filter((one) => one.effective.confinement.profile === 'owner')).toHaveLength(2)
      await settle('restricted')
      expect(textOf(await ask(g.ids.group, `!run cat ${secret}; echo looked`))).toMatch(/^(?!.*canary)[\s\S]*looked/u)
      expect(await restricted()).toEqual([first])
    },
  )
})

describe('audiences on a host that cannot confine', () => {
  let g: TestGateway
  const ask = asking(() => g)
  beforeAll(async () => {
    const command = (await scriptedAgent())()
    const env = { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command, PATH: '/nonexistent' }
    g = await testGateway({ env })
  })
  afterAll(() => g?.stop())

  acceptance('A12', 'what is asked in a group waits and says why; the owner’s direct chat goes on', async () => {
    const { world } = g.served.sandbox
    const asked = world.say({ chatId: g.ids.group, from: g.ids.alice, text: '!reply never', mentionBot: true })
    const told = await until(
      () => g.answers(g.ids.group).find((one) => one.parentId === asked.id),
      'the notice',
      60_000,
    )
    expect(textOf(told)).toMatch(/confined.*bubblewrap is not installed/su)
    expect(textOf(await ask(g.ids.dm, '!reply here as usual'))).toContain('here as usual')
    const waits = await g.db.sql`
      select 1 from collab.observations where kind = 'receiver-waits' and payload ->> 'because' = 'unsupported'`
    expect(waits).toHaveLength(1)
    expect(await bound(g)).toHaveLength(1)
    const doctor = (await (await g.api('/api/v1/doctor')).json()) as { checks: readonly { name: string }[] }
    expect(doctor.checks.find(({ name }) => name === 'acp restricted sessions')).toMatchObject({
      state: 'warning',
      mend: expect.stringContaining('install bubblewrap') as string,
    })
  })
})

describe.skipIf(!hasCodex)('audiences on the real codex', () => {
  let bench: CodexBench
  let g: TestGateway
  let folder = ''
  const ask = asking(() => g)
  const given = () => JSON.stringify(must(bench.mock.requests.at(-1), 'a request').outputs)
  beforeAll(async () => {
    bench = await codexBench()
    folder = join(bench.root, 'home-of-the-owner')
    mkdirSync(folder)
    writeFileSync(join(folder, 'note.txt'), CANARY)
    writeFileSync(join(folder, 'picture.png'), png)
    // Full access of the owner's own sessions reaches nobody else.
    g = await testGateway({ env: { ...bench.gatewayEnv, CODEX_SANDBOX: 'danger-full-access', PROGRESS_AFTER_MS: '0' } })
  })
  afterAll(async () => {
    await g?.stop()
    await bench?.close()
  })

  test('the owner reads it in the own direct chat', async () => {
    expect(textOf(await ask(g.ids.dm, `!run cat ${folder}/note.txt`))).toContain(CANARY)
  })

  acceptance('A3', 'in a group neither shell, link, process nor picture of it is there', async () => {
    const lines = [
      `!run cat ${folder}/note.txt; echo looked`,
      `!run ln -s ${folder}/note.txt link; cat link; echo looked`,
      '!run cat /proc/[0-9]*/environ; echo looked',
      `!run cat /proc/[0-9]*/root${folder}/note.txt; echo looked`,
    ]
    for (const line of lines) {
      const told = textOf(await ask(g.ids.group, line))
      expect(told).toContain('looked')
      expect(`${told}${given()}`).not.toContain(CANARY)
      expect(`${told}${given()}`).not.toContain('mock-key-canary')
    }
    await ask(g.ids.group, `!look ${join(folder, 'picture.png')}`)
    expect(given()).toMatch(/unable to locate/u)
  })

  acceptance('A12', 'each audience has its own thread, and each is told what it runs with', async () => {
    const all = await bound(g)
    expect(all.map((one) => one.effective.confinement.profile).toSorted()).toEqual(['owner', 'restricted'])
    expect(new Set(all.map((one) => one.session)).size).toBe(2)
    const prompts = JSON.stringify(bench.mock.requests.map((request) => request.body))
    expect(prompts).toContain('Profile: restricted, because others read or write')
    expect(prompts).toContain('Profile: the owner’s own')
  })
})
