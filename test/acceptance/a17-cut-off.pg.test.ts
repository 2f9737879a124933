import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { GOES_ON, MESSAGE_OPEN } from '../../src/collab/project/prompt.js'
import { must } from '../../src/lib/assert.js'
import { acceptance } from '../kit/acceptance.js'
import { codexBench, type CodexBench, hasCodex } from '../kit/codex-bench.js'
import { openPlatform, until, type Platform } from '../kit/platform.js'
import { startProcess, type GatewayProcess } from '../kit/process.js'

const LONG = 60_000

describe.skipIf(!hasCodex)('a gateway that is killed in the middle of a turn of the real codex', () => {
  let bench: CodexBench
  let p: Platform
  let gateway: GatewayProcess
  beforeAll(async () => {
    bench = await codexBench()
    p = await openPlatform({ env: { ...bench.gatewayEnv, PROGRESS_AFTER_MS: '0', HOLD_MS: '4000' } })
    gateway = await startProcess(p)
  })
  afterAll(async () => {
    await gateway?.kill()
    await p?.close()
    await bench?.close()
  })

  const say = (text: string) => p.served.sandbox.world.say({ chatId: p.ids.dm, from: p.ids.alice, text })
  const answersTo = (id: string) => p.answers(p.ids.dm).filter((message) => message.parentId === id)
  const requestOf = async (message: string): Promise<string> =>
    await until(async () => {
      const [row] = await p.db.sql<
        { id: string }[]
      >`select id from collab.work_requests where origin_message = ${message}`
      return row?.id
    }, 'the request')
  const facts = async (request: string, kind: string): Promise<number> =>
    (await p.db.sql`select 1 from collab.observations where request = ${request} and kind = ${kind}`).length
  /** What the model was asked with these words in it. */
  const asked = (words: string) => bench.mock.requests.filter((one) => one.messages.join('\n').includes(words))
  const written = (): string =>
    execFileSync('find', [`${bench.home}/sessions`, '-name', '*.jsonl'], { encoding: 'utf8' })
      .split('\n')
      .filter(Boolean)
      .map((path) => readFileSync(path, 'utf8'))
      .join('')

  acceptance(
    'A17',
    'after a kill between the end of an answer and its commit, the answer is taken and not asked for again',
    async () => {
      const { id } = say('!run sleep 2\n!reply the heron is grey')
      const request = await requestOf(id)
      await until(async () => (await facts(request, 'turn-presented')) === 1, 'the turn', LONG)
      // The commit waits for the head of the request, and finds its gateway dead.
      const reserved = await p.db.sql.reserve()
      await reserved`begin`
      await reserved`select 1 from collab.request_heads where request = ${request} for update`
      await until(() => /"last_agent_message":"[^"]*the heron is grey/u.test(written()), 'the end of it in codex', LONG)
      expect(await facts(request, 'result-committed')).toBe(0)
      await gateway.kill()
      await reserved`rollback`
      reserved.release()
      const before = asked('the heron is grey').length
      await gateway.start()
      const first = await until(() => answersTo(id)[0], 'the answer', LONG)
      expect(first.content).toContain('the heron is grey')
      await p.quiet(LONG)
      expect(asked('the heron is grey')).toHaveLength(before)
      expect(answersTo(id)).toHaveLength(1)
      expect(await facts(request, 'result-committed')).toBe(1)
    },
  )

  acceptance(
    'A17',
    'after a kill before the answer, the turn goes on and the same words are not said twice',
    async () => {
      const { id } = say('!run if [ -e mark ]; then echo done before; else touch mark; sleep 300; fi')
      await until(() => asked('done before').length > 0, 'the turn', LONG)
      await until(() => written().includes('sleep 300; fi'), 'what codex keeps of it', LONG)
      await until(() => execFileSync('find', [bench.root, '-name', 'mark'], { encoding: 'utf8' }) !== '', 'the command')
      await gateway.kill()
      await gateway.start()
      const first = await until(() => answersTo(id)[0], 'the answer', LONG)
      expect(first.content).toContain('done before')
      await p.quiet(LONG)
      const { messages } = must(asked('done before').at(-1), 'the last request')
      const own = messages.filter((message) => message.includes(MESSAGE_OPEN) && message.includes('touch mark'))
      expect(own).toHaveLength(1)
      expect(messages.at(-1)).toContain(GOES_ON)
      expect(answersTo(id)).toHaveLength(1)
    },
  )
})
