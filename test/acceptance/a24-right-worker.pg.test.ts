import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { RequestView } from '../../src/collab/project/request-view.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { must } from '../../src/lib/assert.js'
import { DAY, HOUR } from '../../src/lib/time.js'
import { acceptance } from '../kit/acceptance.js'
import { testGateway, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { asking, countOf, office, resultsOf } from './kit.js'

const NEED = 'mend the payment ledger'

let g: TestGateway
let said: WorldMessage
let root: RequestView
let child: RequestView
const o = office(() => ({ ...g, url: g.gateway.url }))

/** What somebody saw of an agent, and when. */
async function seen(agent: string, agoMs: number, reachable: boolean): Promise<void> {
  await g.db.sql`
    update work.agents set last_evidence_at = ${Date.now() - agoMs}, reachable = ${reachable} where agent = ${agent}`
}

beforeAll(async () => {
  const command = (await scriptedAgent())()
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command } })
  const mends = { abilities: ['ledger'] }
  await o.hire('a-stopped', 'mends the payment ledger', command, mends)
  await o.hire('b-only-registered', 'mends the payment ledger', command, mends)
  await o.hire('c-stale', 'mends the payment ledger', command, mends)
  await o.hire('d-gone', 'mends the payment ledger', command, mends)
  await o.hire('e-wrong', 'paints the posters', command, { abilities: ['paint'] })
  await o.hire('z-right', 'mends the payment ledger', command, mends)
  await seen('a-stopped', HOUR, true)
  await seen('c-stale', 30 * DAY, true)
  await seen('d-gone', HOUR, false)
  await seen('e-wrong', HOUR, true)
  await seen('z-right', HOUR, true)
  await o.post('/api/v1/goals/goal-of-a-stopped/stop', {})
  const handed = asking({
    to: '$best',
    question: '!assess accepted $origins\n!report $origins',
    reason: 'the first in the order for this need',
  })
  said = o.say(
    [
      `Please ${NEED} (mark 4711).`,
      `!unless returned tool discover_agents ${JSON.stringify({ need: NEED })}`,
      `!unless returned ${handed}`,
      '!if returned assess accepted it came back',
      '!if returned report $returned',
    ].join('\n'),
  )
  root = await o.when((await o.opened(said)).id, ({ state }) => state === 'closed', 'the answer')
  child = must((await o.children(root.id))[0], 'what was handed on')
})
afterAll(() => g.stop())

describe('the right worker among decoys', () => {
  acceptance('A24', 'the one that is responsible, seen lately and reachable is asked, and no other', async () => {
    expect((await o.children(root.id)).length).toBe(1)
    expect(child.attempts.map(({ target }) => target)).toEqual(['z-right'])
  })

  acceptance('A24', 'the choice is shown with its reason and what spoke for and against each candidate', () => {
    expect(root.choices).toMatchObject([{ chosen: 'z-right', reason: 'the first in the order for this need' }])
    const reasons = new Map(root.choices[0]?.candidates.map((one) => [one.agent as string, one.reasons.join('; ')]))
    expect(reasons.get('b-only-registered')).toContain('only registered')
    expect(reasons.get('c-stale')).toContain('stale')
    expect(reasons.get('d-gone')).toContain('not reachable now')
    expect(reasons.get('e-wrong')).toContain('none is named in the need')
    expect(reasons.get('z-right')).toContain('reachable')
    expect(reasons.has('a-stopped')).toBe(false)
  })

  acceptance('A24', 'the receiver’s own judgment is shown with its reason before its result', () => {
    expect(child.assessments).toMatchObject([{ agent: 'z-right', verdict: 'accepted', basis: 'presented' }])
    expect(child.assessments[0]?.asks[0]?.reason).toContain('(mark 4711)')
    const kinds = child.observations.map(({ kind }) => kind)
    expect(kinds.indexOf('assessed')).toBeLessThan(kinds.indexOf('result-committed'))
  })

  acceptance('A24', 'the conclusion is returned once, to the message that asked', async () => {
    await g.quiet()
    expect(countOf(root, 'child-returned')).toBe(1)
    expect(resultsOf(root)).toEqual(resultsOf(child))
    const all = g.answers(g.ids.dm).filter(({ content }) => content.includes('(mark 4711)'))
    expect(all.map(({ parentId }) => parentId)).toEqual([said.id])
  })
})
