import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClaudeBench, claudeBench, claudeSdk, hasClaude } from '../kit/claude-bench.js'
import { must } from '../../src/lib/assert.js'
import { buttonsOf } from '../kit/buttons.js'
import { testGateway, textOf, until, type TestGateway } from '../kit/gateway.js'

/** A whole gateway whose manager is the real Claude Code, its model replaced by one that follows scripts. */
describe.skipIf(!hasClaude)('a manager on Claude Code', { timeout: 90_000 }, () => {
  let bench: ClaudeBench
  let g: TestGateway
  beforeAll(async () => {
    bench = await claudeBench()
    g = await testGateway({
      env: {
        MANAGER_ENDPOINT: 'claude',
        CLAUDE_SDK: claudeSdk,
        CLAUDE_KEY_ENV: 'ANTHROPIC_API_KEY',
        ANTHROPIC_API_KEY: 'sk-ant-canary-key',
        ANTHROPIC_BASE_URL: bench.mock.url,
        HOME: bench.home,
        TURN_TRIES: '1',
      },
    })
  }, 60_000)
  afterAll(async () => {
    await g.stop()
    await bench.close()
  })

  const say = (text: string) => g.served.sandbox.world.say({ chatId: g.ids.dm, from: g.ids.alice, text })
  const answerTo = (message: string) =>
    until(() => g.answers(g.ids.dm).find((one) => one.parentId === message)?.content, 'the answer', 40_000)

  test('answers in the chat, and goes on with its session after a restart of the gateway', async () => {
    expect(await answerTo(say('!turn').id)).toContain('This is turn 1 of this session.')
    await g.quiet()
    await g.restart()
    expect(await answerTo(say('!turn').id)).toContain('This is turn 2 of this session.')
    expect(readdirSync(join(g.dataDir, 'claude')).sort()).toEqual(['owner', 'writers'])
  })

  test('has the managed AGENTS.md and the tools of the gateway', async () => {
    expect(await answerTo(say('!prompt You are the manager').id)).toContain('it is there')
    expect(await answerTo(say('!call inbox_read {}').id)).toContain('called: {\\"items')
  })

  test('what it asks for is asked of the owner on a card, and done or not as they say', async () => {
    const decided = async (name: string, label: string): Promise<string> => {
      const path = join(bench.home, name)
      const asked = say(`!ask touch ${path}`)
      const to = () => g.answers(g.ids.dm).filter((one) => one.parentId === asked.id)
      const card = await until(() => to().find((one) => buttonsOf(one).length > 0), 'the card', 40_000)
      expect(textOf(card)).toContain(path)
      expect(existsSync(path)).toBe(false)
      const value = must(
        buttonsOf(card).find((one) => one.label === label),
        label,
      ).value
      await g.served.sandbox.world.click({ messageId: card.id, by: g.ids.alice, value })
      await until(
        () =>
          to()
            .map(textOf)
            .find((text) => /(?:Allowed|Refused): touch/u.test(text)),
        'the answer',
        40_000,
      )
      return existsSync(path) ? 'done' : 'not done'
    }
    expect(await decided('allowed', 'Allow once')).toBe('done')
    expect(await decided('refused', 'Refuse')).toBe('not done')
  })

  test('a refusal by a rule is kept on record with the rule, apart from what the owner was asked', async () => {
    const path = join(g.dataDir, 'claude', 'owner', 'projects', 'another-conversation.jsonl')
    const asked = say(`!run cat ${path}`)
    expect(await answerTo(asked.id)).toContain('denied')
    await g.quiet()
    const kept = await g.db.sql<{ act: string }[]>`
      select act from collab.audit_lines where act like 'refused by the policy%'`
    expect(kept.map((row) => ({ ...row }))).toEqual([
      { act: expect.stringMatching(/^refused by the policy of the runtime \(\w+\): Bash$/u) },
    ])
  })

  test('a refused sign-in of the provider is told with its mend', async () => {
    const answer = await answerTo(say('!error 401 authentication_error bad-key-canary').id)
    expect(answer).toContain('did not accept the sign-in')
    expect(answer).not.toContain('canary')
  })
})
