import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { RequestView } from '../../src/collab/project/request-view.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { must } from '../../src/lib/assert.js'
import { acceptance } from '../kit/acceptance.js'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { handingOn, office, resultsOf } from './kit.js'

const PLAN = 'Move the archive to the new store on Tuesday. 先通知财务。'
const REJECTED = 'Not by the nightly dump: we tried that in May and lost the "notes" column.'
const CORRECTION = 'Correction: not Tuesday but Wednesday, after 18:00.\nEverything else stays.'
const handed = handingOn({ to: 'mover', question: '!assess accepted $origins\n!report $origins' })

let g: TestGateway
const o = office(() => ({ ...g, url: g.gateway.url }))
beforeAll(async () => {
  const command = (await scriptedAgent())()
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command } })
  await o.hire('mover', 'moves archives', command)
})
afterAll(() => g.stop())

/** Says one thing after the other while the manager's lane is held by an earlier message. */
async function whileBusy(name: string, texts: readonly string[]): Promise<readonly WorldMessage[]> {
  const [busy, free] = [join(g.dataDir, `${name}-busy`), join(g.dataDir, `${name}-free`)]
  o.say(`!mark ${busy}\n!await ${free}\n!reply ready`)
  await until(() => existsSync(busy), 'the busy turn')
  const said: WorldMessage[] = []
  for (const text of texts) {
    said.push(o.say(text))
    await o.opened(must(said.at(-1), 'what was said'))
  }
  writeFileSync(free, '')
  return said
}

/** Every word of the owner stands in what the receiver judged and in what came back, in the order of the messages. */
function carriesAll(root: RequestView, child: RequestView): void {
  const judged = child.assessments.flatMap(({ asks }) => asks.map(({ reason }) => reason)).join('\n')
  for (const words of [judged, resultsOf(child).join('\n'), resultsOf(root).join('\n')]) {
    const places = [PLAN, REJECTED, CORRECTION].map((text) => words.indexOf(text))
    expect(places.every((place) => place >= 0)).toBe(true)
    expect(places.toSorted((a, b) => a - b)).toEqual(places)
  }
}

describe('what a correction changed', () => {
  acceptance(
    'A5',
    'the Todo and the Vision that the receiver changed stand in the answer and on the request',
    async () => {
      const goal = 'goal-of-mover'
      const link = `!tool link_work ${JSON.stringify({ request: '$request', operation: '$last.receipt.operation' })}`
      const title = 'Move the archive on Wednesday'
      const replan = { goal, direction: 'The archive moves on Wednesday', acceptance: 'it is there', onRevision: 1 }
      const question = [
        '!assess accepted $origins',
        `!tool todo_write ${JSON.stringify({ goal, title })}`,
        link,
        `!tool vision_replan ${JSON.stringify(replan)}`,
        link,
        '!report $origins',
      ].join('\n')
      const plan = `${PLAN}\n${handingOn({ to: 'mover', question })}`
      const [first] = await whileBusy('consequence', [plan, REJECTED, CORRECTION])
      const opened = await o.opened(must(first, 'the first'))
      const root = await o.when(opened.id, ({ state }) => state === 'closed', 'the answer')
      const [child] = await o.children(root.id)
      const refs = must(child, 'the child').work.flatMap((one) => one.refs)
      expect(refs).toEqual([
        { ref: expect.stringMatching(/^todo:/), revision: '1' },
        { ref: `vision:${goal}`, revision: '2' },
      ])
      // As the owner of the work has it, and as the owner of the request is told.
      const said = resultsOf(root).join('\n')
      for (const words of [refs[0]?.ref.replace(':', ' '), title, `vision ${goal} at revision 2`, replan.direction]) {
        expect(said).toContain(words)
      }
    },
  )
})

describe('three linked messages', () => {
  acceptance('A5', 'what waited together goes to the receiver whole: plan, rejected approach, correction', async () => {
    const [first] = await whileBusy('together', [`${PLAN}\n${handed}`, REJECTED, CORRECTION])
    const root = await o.when(
      (await o.opened(must(first, 'the first'))).id,
      ({ state }) => state === 'closed',
      'the answer',
    )
    expect(root.revision).toBe(3)
    const children = await o.children(root.id)
    expect(children.length).toBe(1)
    carriesAll(root, must(children[0], 'the child'))
  })

  acceptance(
    'A5',
    'later messages that the manager itself relates reach the receiver whole, in their order',
    async () => {
      const [busy, free] = [join(g.dataDir, 'relating'), join(g.dataDir, 'relate')]
      const relate = (onRevision: number, as: string) =>
        `!if revision=1 tool exchange_list {}\n!if revision=1 tool relate_message ${JSON.stringify({ earlier: '$request', later: '$waiting', onRevision, as })}`
      const plan = o.say(
        `${PLAN}\n!if revision=1 mark ${busy}\n!if revision=1 await ${free}\n${relate(1, 'addition')}\n${relate(2, 'correction')}`,
      )
      await until(() => existsSync(busy), 'the turn of the first message')
      const rejected = await o.opened(o.say(REJECTED))
      const corrected = await o.opened(o.say(`${CORRECTION}\n${handed}`))
      writeFileSync(free, '')
      const root = await o.when(
        (await o.opened(plan)).id,
        ({ state, revision }) => state === 'closed' && revision === 3,
        'the third revision to be answered',
      )
      expect(root.asks.map(({ state }) => state)).toEqual(['covered', 'covered', 'covered'])
      const children = await o.children(root.id)
      expect(children.length).toBe(1)
      carriesAll(root, must(children[0], 'the child'))
      for (const { id } of [rejected, corrected]) {
        const later = await o.show(id)
        expect([later.state, later.asks.map(({ state }) => state)]).toEqual(['closed', ['continued']])
      }
    },
  )
})
