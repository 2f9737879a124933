import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { RequestView } from '../../src/collab/project/request-view.js'
import { must } from '../../src/lib/assert.js'
import { acceptance } from '../kit/acceptance.js'
import { testGateway, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { asking, countOf, handingOn, office, resultsOf, type HandOn } from './kit.js'

let g: TestGateway
const o = office(() => ({ ...g, url: g.gateway.url }))
beforeAll(async () => {
  const command = (await scriptedAgent())()
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command } })
  await o.hire('planner', 'plans', command)
  await o.hire('builder', 'builds', command)
})
afterAll(() => g.stop())

/** The fixture: the receiver gives back what it was shown of the owner's own words. */
const fixture: HandOn = {
  to: 'builder',
  question: '!assess accepted $origins\n!report $origins',
  intent: 'consultation',
}

const answered = async (text: string): Promise<RequestView> => {
  const root = await o.opened(o.say(text))
  return await o.when(root.id, ({ state }) => state === 'closed', 'the answer')
}
const onlyChild = async (of: RequestView) => {
  const children = await o.children(of.id)
  expect(children.length).toBe(1)
  return must(children[0], 'the child')
}
const kinds = (view: RequestView) => view.observations.map(({ kind }) => kind)

describe('one fixture, two who ask', () => {
  let direct: RequestView
  let through: RequestView

  acceptance('A6', 'manager to worker: the owner’s words go down verbatim and the result comes back once', async () => {
    const text = `Is the bridge ready?\n${handingOn(fixture)}`
    const root = await answered(text)
    direct = await onlyChild(root)
    expect(resultsOf(direct)).toEqual([text])
    expect(resultsOf(root)).toEqual([text])
    expect(countOf(root, 'child-returned')).toBe(1)
  })

  acceptance('A6', 'worker to worker: from one goal to another the same words go down and come back once', async () => {
    const text = `And the tunnel?\n${handingOn({ to: 'planner', question: handingOn(fixture) })}`
    const root = await answered(text)
    const middle = await onlyChild(root)
    through = await onlyChild(middle)
    expect(middle.attempts.map(({ target }) => target)).toEqual(['planner'])
    expect(through.attempts.map(({ target }) => target)).toEqual(['builder'])
    expect([resultsOf(through), resultsOf(middle), resultsOf(root)]).toEqual([[text], [text], [text]])
    expect([countOf(middle, 'child-returned'), countOf(root, 'child-returned')]).toEqual([1, 1])
  })

  acceptance('A6', 'the receiver’s side is the same sequence of facts, whoever asked', () => {
    expect(kinds(through)).toEqual(kinds(direct))
    expect(through.intent).toBe(direct.intent)
    expect(new Set([through.id, direct.id]).size).toBe(2)
  })

  acceptance('A6', 'no todo was needed for it at either goal', async () => {
    for (const goal of ['goal-of-planner', 'goal-of-builder']) {
      expect(await o.get(`/api/v1/goals/${goal}/todos`)).toMatchObject({ items: [] })
    }
  })
})

describe('rounds about one todo', () => {
  const round = (key: string): HandOn => ({ ...fixture, refs: ['todo:1'], key })
  let first: RequestView

  acceptance('A6', 'the same call made twice in one round is one request', async () => {
    const twice = `!unless returned ${asking(round('round-1'))}`
    first = await onlyChild(await answered(`Review it.\n${twice}\n${handingOn(round('round-1'))}`))
    expect(first.attempts.length).toBe(1)
  })

  acceptance('A6', 'a second review round of the same todo is a new request with a result of its own', async () => {
    const second = await onlyChild(await answered(`Review it again.\n${handingOn(round('round-2'))}`))
    expect(second.id).not.toBe(first.id)
    expect(resultsOf(second)[0]).toContain('Review it again.')
    expect(resultsOf(await o.show(first.id))).toEqual(resultsOf(first))
  })
})
