import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { until, type TestGateway } from '../kit/gateway.js'
import { recordedPrompts, recordingEnv } from '../kit/recording.js'
import { caseEvents, caseGateway, staged } from './replay.js'

let g: TestGateway
let prompt: string
let ours: string
beforeAll(async () => {
  g = await caseGateway({ env: recordingEnv })
  const [event] = caseEvents('10-mention-placeholders-to-names')
  g.served.sandbox.world.pushEvent(staged(g.served, must(event, 'the event')).envelope)
  prompt = (await until(() => recordedPrompts(g.dataDir)[0], 'the prompt')).text
  ours = must(/<<<message>>>\n(.*)\n<<<end of message>>>/su.exec(prompt)?.[1], "the owner's words")
})
afterAll(() => g.stop())

describe('case 10, what the agent is handed', () => {
  test("the owner's words with the colleague's name, and the colleague's id as data", () => {
    expect(ours).toBe('ask @测试同事 and mail ops@_user_1.example about it')
    expect(prompt).toContain('- @测试同事 is ou_test_colleague')
  })

  test("only the bot's own mention is gone", () => {
    expect(ours).not.toContain('@Manager')
    expect(ours).toContain('@测试同事')
  })

  test('a piece of a mail address that looks like a placeholder is untouched', () => {
    expect(ours).toContain('ops@_user_1.example')
  })

  test('no placeholder stands alone anywhere in the prompt', () => {
    expect(prompt).not.toMatch(/(^|\s)@_user_\d+(\s|$)/u)
  })
})
