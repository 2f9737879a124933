import { describe, expect, test } from 'vitest'
import type { BotId } from '../../src/collab/refs.js'
import { must } from '../../src/lib/assert.js'
import { messageOf } from '../bot/ingress/given.js'
import { caseSteps } from '../replay/samples.js'

const [step] = caseSteps('10-mention-placeholders-to-names')
const message = messageOf(must(step?.payload, 'payload'), 'cli_test_app' as BotId, {
  openId: 'ou_test_bot_manager',
  name: 'Manager',
})

describe('case 10, placeholders', () => {
  test("only the bot's own mention goes; other people are named and a mail address is untouched", () => {
    expect(message.text).toBe('ask @测试同事 and mail ops@_user_1.example about it')
  })

  test("the colleague's id is there as data", () => {
    expect(message.mentions.filter((one) => !one.isSelf)).toEqual([
      { openId: 'ou_test_colleague', name: '测试同事', isBot: false, isSelf: false },
    ])
  })
})
