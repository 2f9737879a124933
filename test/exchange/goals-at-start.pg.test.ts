import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { AgentRuntime } from '../../src/collab/ports.js'
import { MANAGER } from '../../src/collab/refs.js'
import { addGrant } from '../../src/exchange/grant-add.js'
import { laneOf } from '../../src/exchange/ids.js'
import { endGrant } from '../../src/exchange/revoke-grant.js'
import { bindOwner } from '../../src/stores/principals/principals.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { asOwner, groupOf, OWNER } from './group-kit.js'
import { bot } from './outgoing-kit.js'
import { answers, finish, processOn, ScriptedRuntime } from './steer-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

describe('the goals of an audience', () => {
  acceptance('A10', 'withdrawn while its session is opened are gone before anything is handed over', async () => {
    const agent = new ScriptedRuntime()
    const p = processOn(fresh.db, agent)
    await bindOwner(fresh.db.sql, { bot, openId: OWNER, directChat: 'oc_direct_of_owner' }, p.clock.now())
    const group = await groupOf(p, { ownerWork: 'restricted' })
    const wanted = {
      agent: MANAGER,
      openId: OWNER,
      scope: { kind: 'goal', goal: 'nest' },
      effects: ['read'],
      audience: { kind: 'conversation', conversation: group.conversation },
      reason: 'the group plans with it',
      days: null,
      parent: null,
    } as const
    const given = await addGrant(p.x, { wanted, eventId: randomUUID(), who: 'operator' })
    const grant = given.outcome === 'accepted' ? given.grant : ''
    const opened: string[] = []
    const { open } = agent.runtime
    const slow: Pick<AgentRuntime, 'open'> = {
      open: async (spec, signal) => {
        opened.push(spec.lane)
        if (opened.length === 1) await endGrant(p.x, { grant, eventId: randomUUID(), who: 'operator' })
        return await open(spec, signal)
      },
    }
    Object.assign(agent.runtime, slow)
    const request = await group.say('How is the nest?', asOwner)
    const lane = laneOf(group.conversation)
    expect(await p.run(lane)).toMatchObject({ outcome: 'later', because: 'what it may run with has changed' })
    expect(agent.turns).toEqual([])
    const { running } = await p.begin(lane, request)
    finish(agent.last, answers('I cannot see it.'))
    expect(await running).toMatchObject({ outcome: 'done' })
    expect(new Set(opened).size).toBe(2)
  })
})
