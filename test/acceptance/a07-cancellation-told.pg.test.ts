import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { RequestView } from '../../src/collab/project/request-view.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { cancellationText } from '../../src/render/text/cancel.js'
import { acceptance } from '../kit/acceptance.js'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { office, resultsOf } from './kit.js'

let g: TestGateway
const o = office(() => ({ ...g, url: g.gateway.url }))
beforeAll(async () => {
  const command = (await scriptedAgent())()
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command } })
})
afterAll(() => g.stop())

/** Corrects or cancels over the API, as the page and the command line do. */
async function revise(view: RequestView, revision: number, body: object): Promise<number> {
  const response = await g.api(`/api/v1/requests/${view.id}/revisions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'idempotency-key': `${JSON.stringify(body).length}-${view.id}`,
      'if-match': `"${revision}"`,
    },
    body: JSON.stringify(body),
  })
  return response.status
}
const cancel = (view: RequestView, revision = 1) => revise(view, revision, { kind: 'cancellation' })

/** What the bot said to a message, without its frame. */
const answersTo = (said: WorldMessage): readonly string[] =>
  o.answers(said).map((content) => (JSON.parse(content) as { text?: string }).text ?? content)

/** A message whose turn has done this and goes on until it is let go. */
async function working(name: string, words: string, ...before: readonly string[]) {
  const [works, free] = [join(g.dataDir, `${name}-works`), join(g.dataDir, `${name}-free`)]
  const said = o.say([words, ...before, `!mark ${works}`, `!await ${free}`].join('\n'))
  await until(() => existsSync(works), 'the turn to work', 40_000)
  return { said, opened: await o.opened(said), letGo: () => writeFileSync(free, '') }
}

const asked = { stands: 'asked', waitsFor: 'turn', happened: [] } as const

describe('a cancellation while a turn runs', () => {
  acceptance('A7', 'is told in the chat as asked for, then as in effect, and reads so in the API', async () => {
    const { said, opened } = await working('plain', 'Move the archive.')
    expect(await cancel(opened)).toBe(200)
    const done = await o.when(opened.id, ({ state }) => state === 'closed', 'the end')
    expect(done.cancellation).toEqual({ stands: 'acknowledged' })
    await g.quiet()
    expect(answersTo(said).toSorted()).toEqual(
      [cancellationText(asked, 'en'), cancellationText({ stands: 'acknowledged' }, 'en')].toSorted(),
    )
  })

  acceptance(
    'A7',
    'comes too late for what was answered before it; the answer arrives, and the rest does not run',
    async () => {
      const { said, opened } = await working('late', '请移动档案。', '!assess accepted mine', '!report 档案已经移好。')
      await o.when(opened.id, (view) => resultsOf(view).length === 1, 'the result')
      expect(await revise(opened, 1, { kind: 'correction', text: '也请移动桌子。\n!reply 桌子也已经移好。' })).toBe(200)
      expect(await cancel(opened, 2)).toBe(200)
      const done = await o.when(opened.id, ({ state }) => state === 'closed', 'the end')
      const tooLate = { stands: 'too-late', happened: [{ what: 'answered' }], rest: true } as const
      expect(done.cancellation).toEqual(tooLate)
      expect(done.asks.map(({ state }) => state)).toEqual(['covered', 'rejected'])
      await g.quiet()
      const answers = answersTo(said)
      expect(answers).toHaveLength(3)
      expect(answers).toContain(cancellationText(tooLate, 'zh'))
      expect(answers.join('\n')).toContain('档案已经移好。')
      expect(answers.join('\n')).not.toContain('桌子也已经移好')
    },
  )

  acceptance('A7', 'names the outside act that had happened, in the language of the conversation', async () => {
    const effect = {
      request: '$request',
      effectKind: 'git-push',
      target: 'main',
      input: 'v2',
      doubt: { by: 'look-up' },
    }
    const seen = { request: '$request', effect: '$last.effect', became: 'confirmed', evidence: 'commit 1234abcd' }
    const { said, opened } = await working(
      'effect',
      '请推送新版本。',
      '!assess accepted mine',
      `!tool declare_effect ${JSON.stringify(effect)}`,
      `!tool settle_effect ${JSON.stringify(seen)}`,
    )
    expect(await cancel(opened)).toBe(200)
    const done = await o.when(opened.id, ({ state }) => state === 'closed', 'the end')
    const happened = [{ what: 'effect', effectKind: 'git-push', target: 'main' }] as const
    expect(done.cancellation).toEqual({ stands: 'too-late', happened, rest: true })
    expect(done.observations.map(({ detail }) => detail)).toContain('too-late')
    await g.quiet()
    expect(answersTo(said).toSorted()).toEqual(
      [cancellationText(asked, 'zh'), cancellationText({ stands: 'too-late', happened, rest: true }, 'zh')].toSorted(),
    )
  })
})
