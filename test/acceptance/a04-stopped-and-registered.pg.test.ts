import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import type { RequestView } from '../../src/collab/project/request-view.js'
import { acceptance } from '../kit/acceptance.js'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { asking, handingOn, office, resultsOf } from './kit.js'

let g: TestGateway
const o = office(() => ({ ...g, url: g.gateway.url }))
beforeAll(async () => {
  const command = (await scriptedAgent())()
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command } })
  await o.hire('welder', 'welds the hull of the ferry', command)
  await o.hire('sailor', 'sails the ferry', command)
})
afterAll(() => g.stop())

const question = '!assess accepted $origins\n!report $origins'
const looksFor = (need: string, includeStopped = false) =>
  `tool discover_agents ${JSON.stringify({ need, includeStopped })}`

/** The whole of what the manager said of one message, once its turn is over. */
async function told(text: string): Promise<{ readonly root: RequestView; readonly answer: string }> {
  const said = o.say(text)
  const answer = await until(() => o.answers(said)[0], 'the answer', 40_000)
  return { root: await o.opened(said), answer }
}
const stop = (agent: string) => o.post(`/api/v1/goals/goal-of-${agent}/stop`, {})
afterEach(() => o.post('/api/v1/goals/goal-of-welder/resume', {}).catch(() => null))

describe('who is asked', () => {
  acceptance('A4', 'a worker that nothing but its registration names is found by its responsibility', async () => {
    const said = o.say(
      [
        `Who welds the hull?`,
        `!unless returned ${looksFor('weld the hull')}`,
        handingOn({ to: '$best', question }),
      ].join('\n'),
    )
    const root = await o.when((await o.opened(said)).id, ({ state }) => state === 'closed', 'the answer')
    const children = await o.children(root.id)
    expect(children.flatMap(({ attempts }) => attempts.map(({ target }) => target))).toEqual(['welder'])
    expect(resultsOf(root)[0]).toContain('Who welds the hull?')
  })

  acceptance('A4', 'a worker of a stopped goal is not chosen, however well it fits', async () => {
    await stop('welder')
    const { root } = await told(`!${looksFor('weld the hull')}\n!${asking({ to: '$best', question })}`)
    const children = await o.children(root.id)
    expect(children.flatMap(({ attempts }) => attempts.map(({ target }) => target))).toEqual(['sailor'])
  })

  acceptance('A4', 'a worker of a stopped goal that is named is refused, with nothing opened', async () => {
    await stop('welder')
    const { root, answer } = await told(`!${asking({ to: 'welder', question })}`)
    expect(answer).toContain('not-admitted')
    expect(await o.children(root.id)).toEqual([])
  })

  acceptance('A4', 'a worker whose goal was stopped after it was found is refused, with nothing opened', async () => {
    const [found, stopped] = [join(g.dataDir, 'found'), join(g.dataDir, 'stopped')]
    const said = o.say(
      `!${looksFor('weld the hull')}\n!mark ${found}\n!await ${stopped}\n!${asking({ to: '$best', question })}`,
    )
    await until(() => existsSync(found), 'the search')
    await stop('welder')
    writeFileSync(stopped, '')
    const answer = await until(() => o.answers(said)[0], 'the answer', 40_000)
    expect(answer).toMatch(/agent\W+welder\W+admitted\W+true/)
    expect(answer).toContain('not-admitted')
    expect(await o.children((await o.opened(said)).id)).toEqual([])
  })

  acceptance(
    'A4',
    'a worker of a stopped goal gets nothing by reassignment either; whoever has it answers',
    async () => {
      await stop('welder')
      const [sailing, free] = [join(g.dataDir, 'sailing'), join(g.dataDir, 'sail')]
      const slowly = `!assess accepted $origins\n!mark ${sailing}\n!await ${free}\n!report $origins`
      const reassign = { request: '$child', receiver: 'welder', reason: 'it knows the hull' }
      const said = o.say(
        [
          'Who looks at the hull?',
          `!unless returned ${asking({ to: 'sailor', question: slowly })}`,
          `!unless returned tool reassign_request ${JSON.stringify(reassign)}`,
          '!if returned assess accepted it came back',
          '!if returned report $returned',
        ].join('\n'),
      )
      const refused = await until(() => o.answers(said)[0], 'what the manager said of it', 40_000)
      expect(refused).toContain('not-admitted')
      expect(refused).toContain('goal-of-welder is stopped')
      await until(() => existsSync(sailing), 'the first receiver to work')
      writeFileSync(free, '')
      const root = await o.when((await o.opened(said)).id, ({ state }) => state === 'closed', 'the answer')
      const children = await o.children(root.id)
      expect(children.flatMap(({ attempts }) => attempts.map(({ target }) => target))).toEqual(['sailor'])
      expect(resultsOf(root)[0]).toContain('Who looks at the hull?')
    },
  )

  acceptance('A4', 'stopped workers can be searched, and are shown as not to be asked', async () => {
    await stop('welder')
    const { answer } = await told(`!${looksFor('weld the hull', true)}`)
    expect(answer).toContain('goal-of-welder is stopped: it can be searched, not asked')
    const listed = (await o.get('/api/v1/agents?stopped=true')) as { items: readonly object[] }
    expect(listed.items).toContainEqual(expect.objectContaining({ agent: 'welder', goalState: 'stopped' }))
    const usual = (await o.get('/api/v1/agents')) as { items: readonly object[] }
    expect(usual.items).not.toContainEqual(expect.objectContaining({ agent: 'welder' }))
  })
})
