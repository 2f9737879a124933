import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AgentId, Instant } from '../../src/collab/refs.js'
import { createCanonicalAuthority } from '../../src/work/canonical/authority.js'
import { createDirectory } from '../../src/work/directory.js'
import { createSelectedWork } from '../../src/work/select.js'
import { claiming, commandOf, workAuthorityContract, writing } from '../contracts/work-authority.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { canonicalOn, newName, registering } from './kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb({ max: 10 })
})
afterAll(() => fresh.drop())

workAuthorityContract('canonical on Postgres', async () => canonicalOn(fresh.db))

const creating = (over: object = {}) => ({
  operation: newName('create'),
  goal: newName('goal'),
  title: 'keep memory low',
  direction: 'measure',
  acceptance: 'a day without growth',
  nonGoals: 'speed',
  ...over,
})

describe('the operator', () => {
  test('a goal is created once, whatever is repeated', async () => {
    const { authority } = canonicalOn(fresh.db)
    const command = creating()
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => authority.createGoal(command)))
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual([
      ...Array.from({ length: 7 }, () => 'already'),
      'committed',
    ])
    expect(await authority.createGoal({ ...command, title: 'other' })).toEqual({
      outcome: 'conflict',
      because: 'operation-reused',
    })
    expect(await authority.createGoal({ ...command, goal: newName('goal') })).toEqual({
      outcome: 'conflict',
      because: 'operation-reused',
    })
    expect(await authority.createGoal(creating({ goal: command.goal }))).toEqual({
      outcome: 'conflict',
      because: 'goal-exists',
    })
    const found = (await authority.listGoals({ includeStopped: false })).filter(({ id }) => id === command.goal)
    expect(found).toMatchObject([
      {
        title: 'keep memory low',
        source: 'canonical',
        state: 'active',
        revision: 1,
        vision: { direction: 'measure', acceptance: 'a day without growth', nonGoals: 'speed', revision: 1 },
      },
    ])
  })

  test('a goal without a chosen name gets one that follows from its operation', async () => {
    const { authority } = canonicalOn(fresh.db)
    const command = creating({ goal: null })
    const first = await authority.createGoal(command)
    expect(first).toMatchObject({ outcome: 'committed', receipt: { operation: command.operation } })
    expect(await authority.createGoal(command)).toEqual({ ...first, outcome: 'already' })
  })

  test('A4 a stopped goal is left out of the list unless asked for, with its agents', async () => {
    const { authority, goal, agentAt, stop, resume } = canonicalOn(fresh.db)
    const id = await goal()
    const agent = await agentAt(id)
    await stop(id)
    const directory = createDirectory({ sql: fresh.db.sql })
    const seen = async (includeStopped: boolean) => [
      (await authority.listGoals({ includeStopped })).some((one) => one.id === id),
      (await directory.list({ includeStopped })).some((one) => one.agent === agent),
    ]
    expect(await seen(false)).toEqual([false, false])
    expect(await seen(true)).toEqual([true, true])
    expect((await directory.find(agent))?.goalState).toBe('stopped')
    await resume(id)
    expect(await seen(false)).toEqual([true, true])
  })

  test('stopping and resuming say what they found', async () => {
    const { authority, goal } = canonicalOn(fresh.db)
    const id = await goal()
    const stopping = { operation: newName('stop'), goal: id }
    expect(await authority.resumeGoal({ operation: newName('resume'), goal: id })).toMatchObject({
      because: 'goal-active',
    })
    const stopped = await authority.stopGoal(stopping)
    expect(stopped).toMatchObject({ outcome: 'committed', receipt: { refs: [{ ref: `goal:${id}`, revision: '2' }] } })
    expect(await authority.stopGoal(stopping)).toEqual({ ...stopped, outcome: 'already' })
    expect(await authority.resumeGoal(stopping)).toMatchObject({ because: 'operation-reused' })
    expect(await authority.stopGoal({ operation: newName('stop'), goal: id })).toMatchObject({
      because: 'goal-stopped',
    })
    expect(await authority.registerAgent(registering(newName('agent'), id))).toMatchObject({ because: 'goal-stopped' })
    expect(await authority.stopGoal({ operation: newName('stop'), goal: 'nowhere' })).toMatchObject({
      because: 'goal-unknown',
    })
  })

  test('A4 an agent is registered as it is, at one goal, and unknown stays null', async () => {
    const { authority, goal } = canonicalOn(fresh.db)
    const [here, there] = [await goal(), await goal()]
    const agent = newName('agent')
    const endpoint = { kind: 'managed', runtime: 'acp', command: 'agent --acp' } as const
    const command = registering(agent, here, {
      endpoint,
      abilities: ['typescript', 'postgres, and "quotes"'],
      capacity: 2,
    })
    expect((await authority.registerAgent(command)).outcome).toBe('committed')
    expect((await authority.registerAgent(command)).outcome).toBe('already')
    const directory = createDirectory({ sql: fresh.db.sql })
    expect(await directory.find(agent as AgentId)).toEqual({
      agent,
      goal: here,
      goalState: 'active',
      role: 'engineer',
      responsibility: 'memory',
      host: 'here',
      endpoint,
      abilities: ['typescript', 'postgres, and "quotes"'],
      capacity: 2,
      lastEvidenceAt: null,
      reachable: null,
    })
    expect(await authority.registerAgent(registering(agent, there))).toEqual({
      outcome: 'conflict',
      because: 'agent-elsewhere',
    })
    expect(await authority.registerAgent(registering('manager', here))).toEqual({
      outcome: 'conflict',
      because: 'agent-reserved',
    })
    expect(await authority.registerAgent(registering(newName('agent'), 'nowhere'))).toMatchObject({
      because: 'goal-unknown',
    })
    expect(await directory.find('nobody' as AgentId)).toBeNull()
  })

  test('what was seen of an agent never goes back in time, and a new endpoint has not been tried', async () => {
    const { authority, goal } = canonicalOn(fresh.db)
    const id = await goal()
    const agent = newName('agent') as AgentId
    const directory = createDirectory({ sql: fresh.db.sql })
    const seen = async () => {
      const found = await directory.find(agent)
      return found === null ? null : [found.lastEvidenceAt, found.reachable, found.role]
    }
    expect(await authority.touchAgent(agent, { lastEvidenceAt: 5 as Instant, reachable: true })).toBe(false)
    await authority.registerAgent(registering(agent, id))
    expect(await authority.touchAgent(agent, { lastEvidenceAt: 5 as Instant, reachable: true })).toBe(true)
    await authority.touchAgent(agent, { lastEvidenceAt: 3 as Instant, reachable: null })
    expect(await seen()).toEqual([5, true, 'engineer'])
    await authority.registerAgent(registering(agent, id, { role: 'reviewer' }))
    expect(await seen()).toEqual([5, true, 'reviewer'])
    const endpoint = { kind: 'managed', runtime: 'rehearsal', command: null } as const
    await authority.registerAgent(registering(agent, id, { endpoint }))
    expect(await seen()).toEqual([5, null, 'engineer'])
  })
})

describe('the database', () => {
  test('A7 refuses a second live claim that was written past the owner', async () => {
    const { authority, goal, agentAt } = canonicalOn(fresh.db)
    const id = await goal()
    const agent = await agentAt(id)
    await authority.apply(commandOf(agent, id, writing('one')))
    const [todo] = await authority.todos(id)
    if (todo === undefined) throw new Error('no todo')
    await authority.apply(commandOf(agent, id, claiming(todo.id)))
    const past = fresh.db.sql`insert into work.claims (todo, epoch, agent, claimed_at, until)
      values (${todo.id}, 2, 'other', 0, 1)`
    await expect(past).rejects.toMatchObject({ code: '23505', constraint_name: 'one_live_claim_per_todo' })
  })
})

describe('a connection that is lost on the way', () => {
  const closed = () => Object.assign(new Error('closed'), { code: 'CONNECTION_CLOSED' })

  test.each([
    ['before the commit', 'committed', 0],
    ['after the commit', 'already', 1],
  ] as const)('A15 %s is ambiguous, and the same operation again tells', async (when, told, written) => {
    const { authority, goal, agentAt } = canonicalOn(fresh.db)
    const id = await goal()
    const command = commandOf(await agentAt(id), id, writing('once'))
    const cut = createCanonicalAuthority({
      sql: fresh.db.sql,
      clock: { now: () => 0 },
      tx: async (work) => {
        if (when === 'after the commit') await fresh.db.tx(work)
        else
          await fresh.db.tx(async (sql) => {
            await work(sql)
            throw closed()
          })
        throw closed()
      },
    })
    expect(await cut.apply(command)).toMatchObject({ outcome: 'ambiguous' })
    expect(await authority.todos(id)).toHaveLength(written)
    expect((await authority.apply(command)).outcome).toBe(told)
    expect(await authority.todos(id)).toHaveLength(1)
  })

  test('A7 a session that dies holding the lock of a goal leaves nothing of its command', async () => {
    const { authority, goal, agentAt } = canonicalOn(fresh.db)
    const id = await goal()
    const agent = await agentAt(id)
    const command = commandOf(agent, id, writing('once'))
    const dying = createCanonicalAuthority({
      sql: fresh.db.sql,
      clock: { now: () => 0 },
      tx: (work) =>
        fresh.db.tx(async (sql) => {
          const done = await work(sql)
          const [mine] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
          await fresh.db.direct`select pg_terminate_backend(${mine?.pid ?? 0})`
          return done
        }),
    })
    expect((await dying.apply(command)).outcome).toBe('ambiguous')
    expect(await authority.todos(id)).toEqual([])
    expect((await authority.apply(command)).outcome).toBe('committed')
  })
})

describe('which source owns a goal', () => {
  const brought = async (source: string): Promise<string> => {
    const goal = await canonicalOn(fresh.db).goal()
    await fresh.db.sql`update work.goals set source = ${source} where id = ${goal}`
    return goal
  }

  test('A15 a source that is not connected is unavailable, and nothing is read or written in its place', async () => {
    const { authority, agentAt, goal } = canonicalOn(fresh.db)
    const work = createSelectedWork({ sql: fresh.db.sql, sources: { canonical: authority } })
    const id = await goal()
    const agent = await agentAt(id)
    await work.apply(commandOf(agent, id, writing('before')))
    await fresh.db.sql`update work.goals set source = 'loopx' where id = ${id}`
    const unavailable = { outcome: 'unavailable', because: expect.stringContaining('loopx') as string }
    expect(await work.apply(commandOf(agent, id, writing('x')))).toEqual(unavailable)
    expect(await authority.apply(commandOf(agent, id, writing('x')))).toEqual(unavailable)
    await expect(work.todos(id)).rejects.toThrow('loopx')
    await expect(work.vision(id)).rejects.toThrow('loopx')
    expect(await authority.stopGoal({ operation: newName('stop'), goal: id })).toMatchObject({
      because: 'goal-elsewhere',
    })
  })

  test('A15 a canonical goal without todos stays empty', async () => {
    const { authority, goal } = canonicalOn(fresh.db)
    const work = createSelectedWork({ sql: fresh.db.sql, sources: { canonical: authority } })
    const id = await goal()
    expect(await work.todos(id)).toEqual([])
    expect(await work.vision(id)).toMatchObject({ goal: id, revision: 1 })
    await expect(work.todos(await brought('unheard-of'))).rejects.toThrow('unheard-of')
    expect(await work.apply(commandOf('a' as AgentId, 'nowhere', writing('x')))).toMatchObject({ outcome: 'conflict' })
  })
})
