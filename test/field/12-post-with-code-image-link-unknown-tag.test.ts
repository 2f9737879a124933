import { describe, expect, test } from 'vitest'
import { judgeAuthority } from '../../src/bot/ingress/principal.js'
import type { BotId } from '../../src/collab/refs.js'
import { must } from '../../src/lib/assert.js'
import { capturingLogger, messageOf, receiveWith, rememberingTake } from '../bot/ingress/given.js'
import { caseSteps } from '../replay/samples.js'

const bot = 'cli_test_app' as BotId
const self = { openId: 'ou_test_bot_manager', name: 'Manager' }
const envelope = must(caseSteps('12-post-with-code-image-link-unknown-tag')[0]?.payload, 'payload')
const message = messageOf(envelope, bot, self)

describe('case 12, a rich text', () => {
  test('everything is kept, in order, without escapes or entities', () => {
    const inOrder = [
      '标题',
      'why does this fail ',
      '[log](https://example.test/log?a=1&b=2)',
      '```go\nif a < b && c > d {\n\treturn "`x`"\n}\n```',
      '[image 1]',
      'unseen tag text',
      '**note** *x*',
    ]
    let from = 0
    for (const piece of inOrder) {
      const at = message.text.indexOf(piece, from)
      expect(at, piece).toBeGreaterThanOrEqual(from)
      from = at + piece.length
    }
    expect(message.text).not.toMatch(/&(lt|gt|amp|quot);|\\/)
    expect(message.attachments.map((one) => one.key)).toEqual(['img_test_c12'])
  })

  test("the bot's at-node is a mention though the text holds no placeholder", () => {
    const policy = { self, groupsOpen: new Set<string>(), atAllChats: new Set<string>(), botChats: new Set<string>() }
    expect(judgeAuthority(message, policy)).toEqual({ verdict: 'addressed', because: 'mention' })
    expect(message.text).not.toContain('Manager')
  })

  test('an unknown tag is logged once', async () => {
    const { log, lines } = capturingLogger()
    const policy = { groupsOpen: new Set<string>(), atAllChats: new Set<string>(), botChats: new Set<string>() }
    const receive = receiveWith(rememberingTake().take, log, () => self, policy, bot)
    await receive(envelope, 'webhook')
    await receive(envelope, 'webhook')
    expect(lines.filter((line) => line.fields.reason === 'tag future_widget')).toHaveLength(1)
  })
})
