import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWork } from '../../src/app/work.js'
import { runCli } from '../../src/cli/main.js'
import type { AgentId } from '../../src/collab/refs.js'
import { silentLogger } from '../../src/lib/log.js'
import { claiming, commandOf, writing } from '../contracts/work-authority.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { adminToken, bearer, publicUrl, webUnderTest, type WebUnderTest } from '../web/kit.js'

let fresh: FreshDb
let ui: WebUnderTest
beforeAll(async () => {
  fresh = await freshDb()
  ui = webUnderTest(fresh.db)
})
afterAll(() => fresh.drop())

let keys = 0
async function run(...words: readonly string[]) {
  const out: string[] = []
  const err: string[] = []
  const code = await runCli(words, {
    stdout: (text) => void out.push(text),
    stderr: (text) => void err.push(text),
    env: { url: publicUrl, token: adminToken, lang: 'en_US.UTF-8' },
    fetch: (url, init) => ui.web.fetch(new Request(url, init)),
    newId: () => `key-${++keys}`,
  })
  return { code, out: out.join(''), err: err.join('') }
}
const register = (agent: string, ...more: readonly string[]) =>
  run('agent', 'register', agent, '--role', 'engineer', '--responsibility', 'memory', ...more)
const apiOf = async (path: string): Promise<unknown> => (await ui.get(path, bearer)).json()

describe('goal', () => {
  test('create, list, stop and resume; the same key twice is one goal', async () => {
    const create = ['goal', 'create', 'keep', 'memory', 'low', '--id', 'memory', '--acceptance', 'a day', '--key', 'k']
    expect(await run(...create)).toEqual({ code: 0, out: 'committed: goal:memory @1, vision:memory @1\n', err: '' })
    expect((await run(...create)).out).toBe('already: goal:memory @1, vision:memory @1\n')
    expect((await run('goal', 'list')).out).toBe('memory  active   agents 0, open todos 0  keep memory low\n')
    expect((await run('goal', 'stop', 'memory')).out).toBe('committed: goal:memory @2\n')
    expect((await run('goal', 'list')).out).toBe('nothing\n')
    expect((await run('goal', 'list', '--stopped')).out).toContain('memory  stopped')
    const again = await run('--lang', 'zh', 'goal', 'stop', 'memory')
    expect([again.code, again.err]).toEqual([1, '这个目标已停止，请先恢复\n'])
    expect((await run('goal', 'resume', 'memory')).out).toBe('committed: goal:memory @3\n')
    expect(JSON.parse((await run('goal', 'list', '--json')).out)).toEqual(await apiOf('/api/v1/goals'))
  })
})

describe('agent', () => {
  test('A4 register and list say what the API says; unknown is said as unknown', async () => {
    await run('goal', 'create', 'agents', '--id', 'with-agents')
    const at = ['--goal', 'with-agents']
    expect((await register('ann', ...at, '--runtime', 'acp', '--command', 'agent --acp')).out).toBe(
      'committed: agent:ann @1\n',
    )
    expect((await register('ben', ...at, '--ability', 'review', 'docs', '--capacity', '2')).code).toBe(0)
    const listed = (await run('agent', 'list')).out
    expect(listed).toContain(
      'ann  with-agents (active)  acp  nobody tried to reach it, last seen -  engineer: memory\n',
    )
    expect(listed).toContain('ben  with-agents (active)  attached  nobody tried to reach it, last seen -')
    expect((await run('--lang', 'zh', 'agent', 'list')).out).toContain('attached  尚未尝试联络')
    expect(JSON.parse((await run('agent', 'list', '--json')).out)).toEqual(await apiOf('/api/v1/agents'))
    expect(await apiOf('/api/v1/agents')).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({ agent: 'ben', abilities: ['review', 'docs'], capacity: 2 }),
        expect.objectContaining({ endpoint: { kind: 'managed', runtime: 'acp', command: 'agent --acp' } }),
      ]) as unknown,
    })
    const refused = await register('ann', '--goal', 'memory')
    expect([refused.code, refused.err]).toEqual([1, 'This agent is registered at another goal\n'])
  })

  test.each([
    [['agent', 'register', 'x']],
    [['agent', 'register', 'x', '--goal', 'g', '--role', 'r', '--responsibility', 's', '--runtime', 'acp']],
    [['agent', 'register', 'x', '--goal', 'g', '--role', 'r', '--responsibility', 's', '--command', 'c']],
    [['agent', 'register', 'x', '--goal', 'g', '--role', 'r', '--responsibility', 's', '--capacity', 'many']],
    [['agent', 'register', 'x', '--goal', 'g', '--role', 'r', '--responsibility', 's', '--runtime', 'cursor']],
    [['goal', 'create']],
    [['todo', 'list']],
  ])('2 for the wrong call %j', async (words) => {
    expect((await run(...words)).code).toBe(2)
  })
})

describe('todo', () => {
  test('A15 list shows the todos of a goal with the claims that stand', async () => {
    await run('goal', 'create', 'todos', '--id', 'with-todos')
    await register('cat', '--goal', 'with-todos')
    expect((await run('todo', 'list', 'with-todos')).out).toBe('nothing\n')
    const { authority } = createWork(fresh.db, { now: () => ui.now }, silentLogger)
    const cat = 'cat' as AgentId
    await authority.apply(commandOf(cat, 'with-todos', writing('find \u001b[31mthe leak')))
    const [todo] = await authority.todos('with-todos')
    await authority.apply(commandOf(cat, 'with-todos', claiming(todo?.id ?? '')))
    const listed = (await run('todo', 'list', 'with-todos')).out
    expect(listed).toContain(`${todo?.id}  open     @1  find ·[31mthe leak  [cat, epoch 1, until `)
    expect(JSON.parse((await run('todo', 'list', 'with-todos', '--json')).out)).toEqual(
      await apiOf('/api/v1/goals/with-todos/todos'),
    )
    expect((await run('todo', 'list', 'nowhere')).code).toBe(1)
  })
})
