import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { runCli } from '../../src/cli/main.js'
import type { RequestView } from '../../src/collab/project/request-view.js'
import { must } from '../../src/lib/assert.js'
import { acceptance } from '../kit/acceptance.js'
import { buttonsOf } from '../kit/buttons.js'
import { codexBench, type CodexBench, hasCodex } from '../kit/codex-bench.js'
import { openPlatform, until, type Platform } from '../kit/platform.js'
import { startProcess, type GatewayProcess } from '../kit/process.js'

/** What each surface says of one refusal, so that no two of them can be taken for one another. */
interface Shown {
  readonly refusals: RequestView['refusals']
  readonly chat: string
  readonly page: string
  readonly cli: string
}

const somebody = /refused by (?:you|the owner|the user|a person)|a person refused|rejected by user|有人拒绝/iu

describe.skipIf(!hasCodex)('whose refusal it was, on the real codex', () => {
  let bench: CodexBench
  let p: Platform
  let gateway: GatewayProcess
  let cookie = ''
  beforeAll(async () => {
    bench = await codexBench()
    mkdirSync(join(bench.home, 'rules'))
    const rule = 'prefix_rule(pattern=["git","push"], decision="forbidden", justification="no pushes")\n'
    writeFileSync(join(bench.home, 'rules', 'default.rules'), rule)
    p = await openPlatform({
      env: { ...bench.gatewayEnv, TURN_TRIES: '3', PROGRESS_AFTER_MS: '0', APPROVAL_WAIT_MS: '15000' },
    })
    gateway = await startProcess(p)
    const headers = { authorization: `Bearer ${p.token}` }
    const link = await fetch(`${gateway.url}/api/v1/sign-in-links`, { method: 'POST', headers })
    const { url } = (await link.json()) as { url: string }
    const { pathname, search } = new URL(url)
    const entered = await fetch(`${gateway.url}${pathname}${search}`, { redirect: 'manual' })
    cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  })
  afterAll(async () => {
    await gateway?.stop()
    await p?.close()
    await bench?.close()
  })

  const answersTo = (id: string) => p.answers(p.ids.dm).filter((message) => message.parentId === id)
  const shown = async (messageId: string): Promise<Shown> => {
    const [row] = await p.db.sql<{ id: string }[]>`
      select id from collab.work_requests where origin_message = ${messageId}`
    const { id } = must(row, 'the request')
    const bearer = { authorization: `Bearer ${p.token}` }
    const look = async (): Promise<RequestView> =>
      (await (await fetch(`${gateway.url}/api/v1/requests/${id}`, { headers: bearer })).json()) as RequestView
    const settled = async () => {
      const { refusals, deliveries } = await look()
      return refusals.length > 0 && deliveries.every(({ settledAt }) => settledAt !== null)
    }
    await until(settled, 'what is told of it', 60_000)
    const view = await look()
    const page = await (await fetch(`${gateway.url}/requests/${id}`, { headers: { cookie } })).text()
    let cli = ''
    await runCli(['request', 'show', id], {
      stdout: (text) => (cli += text),
      stderr: () => {},
      env: { url: gateway.url, token: p.token, lang: 'en' },
      fetch: (url, init) => fetch(url, init),
      newId: () => 'k',
    })
    const chat = answersTo(messageId)
      .map(({ content }) => content)
      .join('\n')
    return { refusals: view.refusals, chat, page, cli }
  }
  /** Sends it and waits for what comes back; `meanwhile` may answer a card. */
  const after = async (text: string, meanwhile?: (message: string) => Promise<void>): Promise<Shown> => {
    const { id } = p.served.sandbox.world.say({ chatId: p.ids.dm, from: p.ids.alice, text })
    await meanwhile?.(id)
    await until(() => answersTo(id).some(({ content }) => !isQuestion(content)), text, 60_000)
    return await shown(id)
  }

  acceptance(
    'A2',
    'a denial of the sandbox is the sandbox’s in every place, and nobody is said to have refused',
    async () => {
      const target = join(bench.root, 'not-here.txt')
      const { refusals, chat, page, cli } = await after(`!run sleep 0.5; touch ${target}`)
      expect(refusals).toMatchObject([
        { by: 'sandbox', rule: 'workspace-write', tool: 'exec_command', operation: `sleep 0.5; touch ${target}` },
      ])
      expect(chat).toContain('the sandbox of the agent’s host stopped it')
      expect(chat).toContain('widen the sandbox')
      expect(page).toContain('Sandbox of the host')
      expect(cli).toContain('not done: the sandbox of the host stopped it')
      for (const text of [chat, page, cli]) expect(text).not.toMatch(somebody)
      expect(existsSync(target)).toBe(false)
    },
  )

  acceptance('A2', 'what a rule of the runtime forbids is the rule’s in every place', async () => {
    const { refusals, chat, page, cli } = await after('!run git push origin')
    expect(refusals).toMatchObject([{ by: 'policy', rule: 'command rule', operation: 'git push origin' }])
    expect(chat).toContain('a rule of the agent’s host forbids it')
    expect(page).toContain('Rule of the host')
    expect(cli).toContain('not done: a rule of the host forbids it')
    for (const text of [chat, page, cli]) expect(text).not.toMatch(somebody)
  })

  acceptance('A2', 'what nobody answered in time lacks a permission here, and no person refused it', async () => {
    const { refusals, chat, page, cli } = await after('!ask echo later')
    expect(refusals).toMatchObject([{ by: 'application', rule: 'no-answer' }])
    expect(chat).toContain('no permission covers it')
    expect(page).toContain('No permission here')
    expect(cli).toContain('not done: no permission of this gateway covers it')
    for (const text of [page, cli]) expect(text).not.toMatch(somebody)
  })

  acceptance('A2', 'only what a person was asked and refused is a person’s refusal', async () => {
    const { refusals, page, cli } = await after('!ask echo hello', async (id) => {
      const card = await until(() => answersTo(id).find((one) => buttonsOf(one).length === 3), 'the card', 60_000)
      const { value } = must(
        buttonsOf(card).find(({ label }) => label === 'Refuse'),
        'the button',
      )
      await p.served.sandbox.world.click({ messageId: card.id, by: p.ids.alice, value: value as never })
    })
    expect(refusals).toMatchObject([{ by: 'person' }])
    expect(page).toContain('A person')
    expect(cli).toContain('not done: a person refused it')
  })

  acceptance(
    'A2',
    'what the provider refuses by its rules is the provider’s, and is not asked of it again',
    async () => {
      const { refusals, chat, page, cli } = await after('!fail cyber_policy')
      expect(refusals).toMatchObject([{ by: 'provider', rule: 'refused-by-provider', tool: null, operation: null }])
      expect(chat).toContain('The model provider does not answer this by a rule of its own')
      expect(page).toContain('Model provider')
      expect(cli).toContain('not done: the model provider refused')
      for (const text of [page, cli]) expect(text).not.toMatch(somebody)
      expect(bench.mock.requests.filter((one) => one.messages.at(-1)?.includes('!fail'))).toHaveLength(1)
    },
  )
})

/** The card that asks for a permission; a text message has no buttons at all. */
function isQuestion(content: string): boolean {
  return content.startsWith('{') && buttonsOf({ content }).length === 3
}
