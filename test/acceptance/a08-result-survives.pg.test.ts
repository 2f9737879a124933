import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { must } from '../../src/lib/assert.js'
import type { Fault } from '../../src/sandbox/faults.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { acceptance } from '../kit/acceptance.js'
import { openPlatform, until, type Platform } from '../kit/platform.js'
import { startProcess, type GatewayProcess } from '../kit/process.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { briefOf, countOf, handingOn, office, resultsOf } from './kit.js'

/** A moment between a worker's commit and the verified delivery; each in a chat of its own, so that one kill meets all. */
interface Moment {
  readonly when: string
  readonly mark: string
  readonly faults: (chatId: string) => readonly Fault[]
  /** What the worker does after its report. */
  readonly after?: string
  /** What the manager does with what came back before it answers. */
  readonly meanwhile?: readonly string[]
  reached(said: WorldMessage): Promise<boolean> | boolean
}

let p: Platform
let gateway: GatewayProcess
const o = office(() => ({ ...p, url: gateway.url }))
const said = new Map<string, WorldMessage>()
/** What an agent in a group can see of this machine is its own workspace. */
const workspaces = (): readonly string[] => {
  const root = join(p.dataDir, 'workspaces')
  return existsSync(root) ? readdirSync(root).map((name) => join(root, name)) : []
}
const marked = (name: string): boolean => workspaces().some((folder) => existsSync(join(folder, name)))
const mark = (name: string): void => {
  for (const folder of workspaces()) if (statSync(folder).isDirectory()) writeFileSync(join(folder, name), '')
}
const shown = (message: WorldMessage, mark: string) =>
  p.answers(message.chatId).filter(({ content }) => content.includes(mark))
const workerDone = async (message: WorldMessage) => {
  const [child] = await o.children((await o.opened(message)).id)
  return child !== undefined && resultsOf(child).length === 1
}
const answering = (mark: string, action: Fault['do'], times?: number) => (chatId: string) => [
  { api: 'message.reply' as const, when: { chatId, contains: mark }, do: action, times: times ?? 1 },
]

const moments: readonly Moment[] = [
  {
    when: 'while the worker that has reported still runs',
    mark: 'mark-one',
    faults: answering('mark-one', { kind: 'hang' }),
    after: '!await worker-free',
    reached: workerDone,
  },
  {
    when: 'while the manager takes up what came back',
    mark: 'mark-two',
    faults: answering('mark-two', { kind: 'hang' }),
    meanwhile: ['mark taking-up', 'await manager-free'],
    reached: () => marked('taking-up'),
  },
  {
    when: 'while the answer is sent and nothing has arrived',
    mark: 'mark-three',
    faults: answering('mark-three', { kind: 'hang' }),
    reached: async (message) => resultsOf(await o.opened(message)).length === 1,
  },
  {
    when: 'when the answer has arrived and that was not heard',
    mark: 'mark-four',
    faults: answering('mark-four', { kind: 'hang', stored: true }),
    reached: (message) => shown(message, 'mark-four').length === 1,
  },
]

const textOf = ({ mark, after = '', meanwhile = [] }: Moment): string => {
  const question = ['!assess accepted $origins', '!report $origins', after].join('\n')
  const [hand = '', ...back] = handingOn({ to: 'worker', question }).split('\n')
  return [`Please look (${mark}).`, hand, ...meanwhile.map((line) => `!if returned ${line}`), ...back].join('\n')
}

beforeAll(async () => {
  const command = (await scriptedAgent())()
  p = await openPlatform({
    env: {
      MANAGER_ENDPOINT: 'acp',
      MANAGER_COMMAND: command,
      REQUEST_CONCURRENCY: '12',
      DELIVERY_CONCURRENCY: '20',
    },
  })
  gateway = await startProcess(p)
  await o.hire('worker', 'looks', command)
  const { world, faults } = p.served.sandbox
  for (const [n, moment] of moments.entries()) {
    const chatId = `oc_${String(n).padStart(32, '0')}`
    world.addChat({ mode: 'group', name: moment.when, members: [p.ids.alice], chatId })
    for (const fault of moment.faults(chatId)) faults.add(fault)
    said.set(moment.mark, o.say(textOf(moment), chatId))
  }
  for (const { mark, when, reached } of moments) {
    const message = must(said.get(mark), mark)
    await until(() => reached(message), when, 20_000).catch(async (error: Error) => {
      const root = await o.opened(message)
      throw new Error(`${error.message}: ${JSON.stringify([root, ...(await o.children(root.id))].map(briefOf))}`)
    })
  }
  await gateway.kill()
  faults.clear()
  // The transport is down for a while when the gateway is back.
  for (const { mark } of moments) {
    const { chatId } = must(said.get(mark), mark)
    faults.add({ api: 'message.reply', when: { chatId, contains: mark }, do: { kind: 'reset-before' }, times: 2 })
  }
  mark('worker-free')
  mark('manager-free')
  await gateway.start()
}, 180_000)
afterAll(async () => {
  await gateway.stop()
  await p.close()
})

describe('a worker’s result when the gateway is killed', () => {
  for (const { when, mark } of moments) {
    acceptance('A8', `killed ${when}: the original place gets it once, after the transport was down`, async () => {
      const message = must(said.get(mark), mark)
      const root = await o.opened(message)
      const done = await o.when(root.id, ({ state }) => state === 'closed', 'the answer', 50_000)
      const [child, ...more] = await o.children(root.id)
      expect(more).toEqual([])
      expect(resultsOf(must(child, 'the child')).length).toBe(1)
      expect(countOf(done, 'child-returned')).toBe(1)
      expect(resultsOf(done)).toEqual(resultsOf(must(child, 'the child')))
      expect(shown(message, mark).map(({ parentId }) => parentId)).toEqual([message.id])
      expect(done.deliveries.filter(({ cause }) => cause === 'result').map(({ state }) => state)).toEqual(['verified'])
    })
  }

  acceptance('A8', 'no other chat sees any of it, and nothing is owed at the end', async () => {
    await p.quiet(40_000)
    const all = [...said.values()].map(({ chatId }) => chatId)
    for (const { mark } of moments) {
      const places = all.filter((chatId) => p.answers(chatId).some(({ content }) => content.includes(mark)))
      expect(places).toEqual([must(said.get(mark), mark).chatId])
    }
  })
})
