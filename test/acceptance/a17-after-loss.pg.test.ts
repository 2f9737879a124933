import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { RequestView } from '../../src/collab/project/request-view.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { groupIsGone } from '../../src/runtime/process-group.js'
import { must } from '../../src/lib/assert.js'
import { acceptance } from '../kit/acceptance.js'
import { openPlatform, until, type Platform } from '../kit/platform.js'
import { startProcess, type GatewayProcess } from '../kit/process.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { handingOn, office, resultsOf } from './kit.js'

const goal = 'goal-of-printer'
const brief = {
  constraints: ['the poster stays in two languages'],
  decisions: ['printed on Friday'],
  tried: ['the old printer: given up, it swallows the paper'],
  inFlight: ['one print was begun'],
  next: ['ask the copy shop'],
}
const json = (value: object) => JSON.stringify(value)

let p: Platform
let gateway: GatewayProcess
const o = office(() => ({ ...p, url: gateway.url }))
let said: WorldMessage
let root: RequestView
let child: RequestView
let todoBefore: unknown
let todoAfter: unknown

const todos = async () => ((await o.get(`/api/v1/goals/${goal}/todos`)) as { items: unknown[] }).items

beforeAll(async () => {
  const command = await scriptedAgent()
  // Its sessions cannot be resumed: whoever goes on is a new one of the same agent.
  p = await openPlatform({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command() } })
  gateway = await startProcess(p)
  await o.hire('printer', 'prints posters', command('--no-resume'))
  const acting = join(p.dataDir, 'acting')
  const question = [
    '!assess accepted it is my work',
    `!unless continued tool todo_write ${json({ goal, title: 'Print the poster' })}`,
    `!unless continued tool todo_list ${json({ goal })}`,
    `!unless continued tool todo_claim ${json({ goal, todo: '$last.items.0.id', leaseMs: 600_000 })}`,
    `!unless continued tool save_brief ${json({ request: '$request', onRevision: '$revision', ...brief })}`,
    `!unless continued tool declare_effect ${json({ request: '$request', effectKind: 'print', target: 'the poster', input: 'poster.pdf', doubt: { by: 'look-up' } })}`,
    `!unless continued mark ${acting}`,
    `!unless continued await ${acting}-never`,
    `!if continued tool settle_effect ${json({ request: '$request', effect: '$doubt', became: 'confirmed', evidence: 'it hangs on the wall' })}`,
    '!if continued report $beside',
  ].join('\n')
  said = o.say(`Print the poster.\n${handingOn({ to: 'printer', question })}`)
  await until(() => existsSync(acting), 'the effect that was begun', 60_000)
  todoBefore = await todos()
  // Nobody gets a moment to write anything down.
  await gateway.kill()
  await gateway.start()
  const opened = await o.opened(said)
  root = await o.when(opened.id, ({ state }) => state === 'closed', 'the answer', 60_000)
  child = must((await o.children(root.id))[0], 'the child')
  todoAfter = await todos()
}, 200_000)
afterAll(async () => {
  await gateway.stop()
  await p.close()
})

describe('work whose session was lost in the middle of an effect', () => {
  const carried = () => resultsOf(child).join('\n')

  acceptance(
    'A17',
    'goes on from the last brief that was saved, which says what binds, what was decided and what was given up',
    () => {
      expect(carried()).toMatch(/^Saved by yourself at \d{4}-\d\d-\d\dT[^\n]*, on revision 1:/u)
      for (const text of Object.values(brief).flat()) expect(carried()).toContain(`- ${text}`)
      expect(carried()).toContain('a suggestion, no commitment')
    },
  )

  acceptance('A17', 'is told the gap: the rest of the turn after the brief is not known', () => {
    expect(carried()).toContain('Happened after that brief, and no brief tells of it:')
    expect(carried()).toMatch(/- the rest of the turn that began [^\n]* ended without an answer \(holder-gone\)/u)
  })

  acceptance('A17', 'the effect in doubt is named, and settled by looking before anything else is done', () => {
    expect(carried()).toMatch(/- the effect \S+ \(print the poster\) is in doubt/u)
    const kinds = child.observations.map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'effect-intended')).toHaveLength(1)
    expect(kinds.indexOf('effect-settled')).toBeLessThan(kinds.lastIndexOf('result-committed'))
    expect(kinds.indexOf('effect-settled')).toBeGreaterThan(kinds.indexOf('effect-intended'))
  })

  acceptance('A17', 'the answer comes to where it was asked, from another session of the same agent', async () => {
    await until(() => o.answers(said).some((text) => text.includes('Saved by yourself')), 'the answer in the chat')
    const sessions = await p.db.sql<{ session: string }[]>`
      select session from collab.session_bindings where lane in
        (select lane from collab.turns where request = ${child.id}) order by bound_at`
    expect(new Set(sessions.map(({ session }) => session)).size).toBe(2)
    // The scripted agent names its session after its process: that of the killed gateway does not act on.
    expect(await groupIsGone(Number(/^s(\d+)-/u.exec(sessions[0]?.session ?? '')?.[1]))).toBe(true)
    expect(new Set(child.attempts.map(({ target }) => target))).toEqual(new Set(['printer']))
  })

  acceptance('A17', 'who owns the Todo, on which epoch, and what was saved are as they were', () => {
    expect(todoAfter).toEqual(todoBefore)
    expect(json({ todoBefore })).toContain('"agent":"printer"')
    expect(child.briefs).toHaveLength(1)
  })
})
