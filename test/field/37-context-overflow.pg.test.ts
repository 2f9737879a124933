import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { groupIsGone } from '../../src/runtime/process-group.js'
import { codexBench, type CodexBench, hasCodex } from '../kit/codex-bench.js'
import { scriptedModel } from '../kit/codex-script.js'
import { textOf, testGateway, until, type TestGateway } from '../kit/gateway.js'

describe.skipIf(!hasCodex)('sessions of the real codex that cannot go on', () => {
  let bench: CodexBench
  let g: TestGateway
  let full = false
  let compactions = 0
  beforeAll(async () => {
    const script = scriptedModel({ kill() {}, garble() {} })
    bench = await codexBench((request) => {
      // Codex asks for a summary without offering any tool.
      const compaction = request.tools.length === 0
      if (compaction) compactions++
      const over = full && (compaction || request.messages.length > 1)
      return over ? [{ failed: 'context_length_exceeded' }] : script(request)
    })
    g = await testGateway({ env: { ...bench.gatewayEnv, PROGRESS_AFTER_MS: '0' } })
  })
  afterAll(async () => {
    await g?.stop()
    await bench?.close()
  })

  const answered = async (text: string): Promise<string> => {
    const { id } = g.served.sandbox.world.say({ chatId: g.ids.dm, from: g.ids.alice, text })
    const find = () => g.answers(g.ids.dm).filter((one) => one.parentId === id)
    const first = await until(() => find()[0], `an answer to ${text}`)
    await until(() => g.receipts(g.ids.dm, id).length === 0, 'the end of the receipt')
    expect(find()).toHaveLength(1)
    return textOf(first)
  }
  const live = () => g.db.sql<{ session: string }[]>`
    select session from collab.session_bindings where ended_at is null`

  test('case 37: one attempt to shorten, then a new session; the chat goes on answering', async () => {
    expect(await answered('!reply first')).toContain('first')
    const [before] = await live()
    full = true
    expect(await answered('!reply second')).toContain('second')
    // Codex asks several times within one attempt, with less of the history each time.
    expect(compactions).toBeGreaterThan(0)
    // The new session is told by the ledger what went before.
    expect(bench.mock.requests.at(-1)?.messages).toEqual([expect.stringContaining('answered: first')])
    const after = await live()
    expect(after).toHaveLength(1)
    expect(after).not.toEqual([before])
    full = false
    expect(await answered('!turn')).toContain('This is turn 2')
  })

  test('case 35: a session that is not there any more is replaced by one fresh session, and the message is answered', async () => {
    const [before] = await live()
    const codex = must(bench.pids().at(-1), 'codex')
    process.kill(codex, 'SIGKILL')
    await until(() => groupIsGone(codex), 'the end of codex')
    rmSync(join(bench.home, 'sessions'), { recursive: true })
    expect(await answered('!turn')).toContain('This is turn 1')
    expect(bench.mock.requests.at(-1)?.messages).toEqual([expect.stringContaining('answered: second')])
    const after = await live()
    expect(after).toHaveLength(1)
    expect(after).not.toEqual([before])
    expect(await answered('!turn')).toContain('This is turn 2')
  })
})
