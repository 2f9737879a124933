import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fileTypeFromBuffer } from 'file-type'
import type { TurnEvent } from '../../src/collab/ports.js'
import { silentLogger } from '../../src/lib/log.js'
import { renderAnswer } from '../../src/render/answer.js'
import { createRehearsalRuntime } from '../../src/runtime/rehearsal/adapter.js'
import { directiveList, directives } from '../../src/runtime/rehearsal/directives.js'
import { longText, textOfParts } from '../../src/runtime/rehearsal/long-text.js'
import { languageOf, ownerMessage, parseSteps } from '../../src/runtime/rehearsal/parse.js'
import { runtimeContract } from '../contracts/runtime.js'
import { collect, composed, inputOf, never, opened, temporaryFolder } from '../kit/runtime-bench.js'

const make = () => createRehearsalRuntime({ logger: silentLogger, newId: () => randomUUID() })

runtimeContract('rehearsal', make)

describe('rehearsal', () => {
  let workspace: Awaited<ReturnType<typeof temporaryFolder>>
  beforeEach(async () => {
    workspace = await temporaryFolder()
  })
  afterEach(() => workspace.remove())

  const final = async (message: string): Promise<string> => {
    const session = await opened(make(), workspace.path)
    const { ended } = await collect(session.turn(inputOf(message), never))
    return ended.ended === 'completed' ? ended.final : `not completed: ${ended.ended}`
  }

  test('says in its profile that no model answers', async () => {
    const session = await opened(make(), workspace.path)
    expect(session.effective).toEqual({
      runtime: 'rehearsal',
      version: null,
      model: null,
      effort: null,
      realModel: false,
      // It runs no command and reads no file, so there is nothing around which a wall could stand.
      confinement: { profile: 'owner', reads: 'nothing', writes: 'nothing', paths: [], network: 'none', by: 'runtime' },
    })
  })

  test('without directives says that no model is connected, what it received, and how to connect one', async () => {
    const answer = await final('Please deploy!')
    expect(answer).toContain('No model is connected')
    expect(answer).toContain('14 characters and 0 attachments: “Please deploy!”')
    expect(answer).toContain('MANAGER_ENDPOINT')
    for (const { usage } of directives) expect(answer).toContain(usage)
  })

  test('quotes a long message only shortly', async () => {
    const answer = await final(`${'word '.repeat(40)}TAIL-CANARY`)
    expect(answer).toContain('211 characters')
    expect(answer).not.toContain('TAIL-CANARY')
  })

  test('answers a Chinese message in Chinese', async () => {
    expect(await final('部署一下')).toContain('没有连接模型')
    expect(await final('部署一下')).toContain(directiveList('zh'))
  })

  test('words alone are never a command', async () => {
    for (const message of ['please !fail exit', 'fail exit', '! fail exit', '/fail exit', '!important', '!FAIL exit']) {
      expect(await final(message)).toContain('No model is connected')
    }
  })

  test('directives run from top to bottom, and a block keeps its text as it stands', async () => {
    const answer = await final('!turn\n!reply # Title\n\n| a | b |\n| - | - |\n!turn stays\n!end\n!table 2')
    expect(answer).toContain('This is turn 1 of this session.\n\n# Title\n\n| a | b |\n| - | - |\n!turn stays\n\n')
    expect(answer.match(/\| --- \|/gu)).toHaveLength(2)
  })

  test('an argument that cannot be used is explained', async () => {
    expect(await final('!delay soon')).toContain('`!delay 5s`')
    expect(await final('!fail politely')).toContain('`!fail exit`')
    expect(await final('!attach ../x')).toContain('`!attach chart.png`')
  })

  test('a conclusion is given apart from the answer', async () => {
    const session = await opened(make(), workspace.path)
    const { ended } = await collect(session.turn(inputOf('!conclusion Ship it.\n!reply Because.'), never))
    expect(ended).toEqual({ kind: 'ended', ended: 'completed', final: 'Because.', conclusion: 'Ship it.' })
  })

  test('a picture is a real PNG', async () => {
    const session = await opened(make(), workspace.path)
    const { events } = await collect(session.turn(inputOf('!attach chart.png'), never))
    const file = events.find((event): event is Extract<TurnEvent, { kind: 'file' }> => event.kind === 'file')
    expect(file?.mediaType).toBe('image/png')
    expect((await fileTypeFromBuffer(file?.bytes ?? new Uint8Array()))?.mime).toBe('image/png')
  })

  test('waiting takes its time and no more', async () => {
    const before = performance.now()
    expect(await final('!delay 80ms')).toBe('Waited 0.08 s.')
    expect(performance.now() - before).toBeGreaterThanOrEqual(75)
  })
})

describe('rehearsed texts', () => {
  test('a long answer has about its size, everything in it, and is the same each time', () => {
    const text = longText(120_000)
    expect(Buffer.byteLength(text)).toBeGreaterThanOrEqual(119_000)
    expect(Buffer.byteLength(text)).toBeLessThan(123_000)
    for (const part of ['## ', '| --- |', '```ts', '两次读数一致', '> ']) expect(text).toContain(part)
    expect(longText(120_000)).toBe(text)
  })

  test('an answer of n parts takes n messages', () => {
    for (const count of [1, 2, 3, 8]) {
      const view = { markdown: textOfParts(count), label: 'no model:', language: 'en', reportName: 'report' } as const
      expect(renderAnswer(view).parts).toHaveLength(count)
    }
  })
})

describe('the message of a prompt', () => {
  test('is what stands between the marker lines', () => {
    expect(ownerMessage(composed('a\nb'))).toBe('a\nb')
    expect(ownerMessage('!fail exit')).toBe('')
    expect(ownerMessage('<<<message>>>\nnever closed')).toBe('')
    expect(ownerMessage('say <<<message>>>\n!fail exit\n<<<end of message>>>')).toBe('')
  })

  test('has its language by its characters', () => {
    expect([languageOf('hello'), languageOf('hello 世界'), languageOf('')]).toEqual(['en', 'zh', 'en'])
  })

  test('every listed directive is understood as it is written', () => {
    for (const { usage, name } of directives) {
      const [step] = parseSteps(usage.replace('<markdown>', 'x').replace('<one line>', 'x').replace('<operation>', 'x'))
      expect(step?.do, usage).toBe(name === 'say' ? 'reply' : name)
    }
  })
})
