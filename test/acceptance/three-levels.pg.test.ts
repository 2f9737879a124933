import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { RequestView } from '../../src/collab/project/request-view.js'
import { must } from '../../src/lib/assert.js'
import { acceptance } from '../kit/acceptance.js'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { asking, briefOf, countOf, office, resultsOf } from './kit.js'

let g: TestGateway
const o = office(() => ({ ...g, url: g.gateway.url }))
beforeAll(async () => {
  const command = (await scriptedAgent())()
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command } })
  await o.hire('lead', 'leads', command)
  await o.hire('hand', 'works', command)
})
afterAll(() => g.stop())

/** Hands the first ask on once, whatever revision it is shown at, and gives back what came back. */
const passing = (to: string, key: string, question: string): string =>
  [
    `!unless returned ${asking({ to, key, question, asks: ['$ask'] })}`,
    '!if returned assess accepted it came back',
    '!if returned report $returned',
  ].join('\n')
const revising = (text: string): string =>
  `!unless returned tool revise_request ${JSON.stringify({ request: '$child', onRevision: 1, text, key: `revise-${text.length}` })}`

const only = async (of: RequestView): Promise<RequestView> => {
  const children = await o.children(of.id)
  expect(children.length).toBe(1)
  return must(children[0], 'the child')
}

/** Root, middle and lowest request of one journey, as they stand now. */
async function levels(root: string): Promise<readonly [RequestView, RequestView, RequestView]> {
  const top = await o.show(root)
  const middle = await only(top)
  return [top, middle, await only(middle)]
}

describe('three levels, corrected while the lowest works', () => {
  const PLAN = 'Count the chairs in the hall.'
  const CORRECTION = 'Correction: count the tables as well.'
  let all: readonly [RequestView, RequestView, RequestView]

  beforeAll(async () => {
    const [works, free] = [join(g.dataDir, 'works'), join(g.dataDir, 'free')]
    const lowest = `!assess accepted $origins\n!mark ${works}\n!await ${free}\n!report $ask`
    const root = await o.opened(o.say(`${PLAN}\n${passing('lead', 'down-1', passing('hand', 'down-2', lowest))}`))
    await until(() => existsSync(works), 'the lowest to work', 20_000)
    const again = '!assess accepted $origins\n!report $origins'
    // The owner's correction, each level handing it to the one below.
    const text = `${CORRECTION}\n${revising(`${CORRECTION}\n${revising(again)}`)}`
    const response = await g.api(`/api/v1/requests/${root.id}/revisions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'correct', 'if-match': '"1"' },
      body: JSON.stringify({ kind: 'correction', text }),
    })
    expect(response.status).toBe(200)
    await until(async () => (await levels(root.id)).every(({ revision }) => revision === 2), 'every level to know it')
    writeFileSync(free, '')
    await o.when(root.id, ({ state }) => state === 'closed', 'the answer')
    await g.quiet()
    all = await levels(root.id)
  }, 90_000)

  acceptance('A6', 'every ask of each of three levels is answered, and by one result', () => {
    for (const level of all) {
      expect(level.asks.map(({ state }) => state)).toEqual(['covered', 'covered'])
      const covered = level.results.flatMap(({ covers }) => covers)
      expect(covered.toSorted()).toEqual(level.asks.map(({ id }) => id).toSorted())
    }
  })

  acceptance('A6', 'each level answers at a basis of its own: what was begun before the correction stays there', () => {
    const [, , lowest] = all
    const bases = lowest.observations.filter(({ kind }) => kind === 'result-committed' || kind === 'assessed')
    expect(bases.filter(({ kind }) => kind === 'assessed').map(({ revision }) => revision)).toEqual([1, 2])
    expect(resultsOf(lowest).length).toBe(2)
    expect(resultsOf(lowest)[0]).toBe(lowest.asks[0]?.id)
  })

  acceptance('A5', 'the receiver of the corrected request reads the owner’s correction verbatim', () => {
    expect(resultsOf(all[2])[1]).toContain(PLAN)
    expect(resultsOf(all[2])[1]).toContain(CORRECTION)
  })

  acceptance('A8', 'each level gets the return of the one below once, with both of its results', () => {
    const [top, middle, lowest] = all
    expect([countOf(top, 'child-returned'), countOf(middle, 'child-returned')]).toEqual([1, 1])
    for (const text of resultsOf(lowest)) expect(resultsOf(middle).join('\n')).toContain(text)
  })
})

describe('three levels, cancelled while the lowest works', () => {
  let all: readonly [RequestView, RequestView, RequestView]

  beforeAll(async () => {
    const works = join(g.dataDir, 'works-on')
    const lowest = `!assess accepted $origins\n!mark ${works}\n!await ${join(g.dataDir, 'never')}\n!report $origins`
    const root = await o.opened(o.say(`Move it.\n${passing('lead', 'stop-1', passing('hand', 'stop-2', lowest))}`))
    await until(() => existsSync(works), 'the lowest to work', 20_000)
    await o.when(root.id, (view) => countOf(view, 'turn-ended') === 1, 'the manager to wait')
    const response = await g.api(`/api/v1/requests/${root.id}/revisions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'cancel', 'if-match': '"1"' },
      body: JSON.stringify({ kind: 'cancellation' }),
    })
    expect(response.status).toBe(200)
    const ended = async () => (await levels(root.id)).every(({ state }) => state === 'closed')
    await until(ended, 'every level to end', 20_000).catch(async (error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify((await levels(root.id)).map(briefOf))}`)
    })
    await g.quiet()
    all = await levels(root.id)
  }, 60_000)

  acceptance('A7', 'cancelling the root cancels both levels below, and each says so', () => {
    expect(all.map(({ axes }) => axes.control)).toEqual(Array.from({ length: 3 }, () => 'cancel-acknowledged'))
    for (const level of all) expect(countOf(level, 'cancel-acknowledged')).toBe(1)
  })

  acceptance('A7', 'the turn of the lowest was really stopped, and nothing was answered in its place', () => {
    const [, , lowest] = all
    const endings = lowest.attempts.flatMap(({ turns }) => turns.map(({ ending }) => ending))
    expect(endings).toEqual([{ ended: 'interrupted', because: 'stop' }])
    for (const level of all) expect(resultsOf(level)).toEqual([])
  })

  acceptance('A7', 'each level that had handed on is told once that it was cancelled below', () => {
    const [top, middle] = all
    expect([countOf(top, 'child-returned'), countOf(middle, 'child-returned')]).toEqual([1, 1])
  })
})
