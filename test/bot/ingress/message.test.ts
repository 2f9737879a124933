import { describe, expect, test } from 'vitest'
import { withIdentity, toIncomingMessage } from '../../../src/bot/ingress/message.js'
import { rawFromEvent, rawFromRest } from '../../../src/bot/ingress/raw.js'
import type { BotId } from '../../../src/collab/refs.js'
import { must } from '../../../src/lib/assert.js'
import { apiSample, caseSteps, sample, sampleBot, sampleSelf } from '../../replay/samples.js'
import { messageOf, messageWith } from './given.js'

const caseBot = 'cli_test_app' as BotId
const caseSelf = { openId: 'ou_test_bot_manager', name: 'Manager' }
const caseMessage = (folder: string) =>
  messageOf(must(must(caseSteps(folder)[0], 'step').payload, 'payload'), caseBot, caseSelf)

describe('mentions', () => {
  test('case 10: placeholders become names, ours goes, a mail address stays', () => {
    const message = caseMessage('10-mention-placeholders-to-names')
    expect(message.text).toBe('ask @测试同事 and mail ops@_user_1.example about it')
    expect(message.mentions).toContainEqual({
      openId: 'ou_test_colleague',
      name: '测试同事',
      isBot: false,
      isSelf: false,
    })
    expect(message.mentionsSelf).toBe(true)
  })

  test('eleven mentions: the longest key first', () => {
    const message = messageOf(sample('group_text_eleven_mentions'))
    expect(message.text).toBe(
      '@Member2 @Member3 @Member4 @Member5 @Member6 @Member7 @Member8 @Member9 @Member10 @Member11 roll call',
    )
  })

  test('a name that looks like a placeholder or a pattern is written as it is', () => {
    const named = (key: string, openId: string, name: string) => ({ key, id: { open_id: openId }, name })
    const message = messageWith('text', { text: '@_user_1 and @_user_2' }, [
      named('@_user_1', 'ou_a', '$& @_user_2'),
      named('@_user_2', 'ou_b', 'B'),
    ])
    expect(message.text).toBe('@$& @_user_2 and @B')
  })

  test.each([
    ['前面@_user_1后面', '前面@B后面'],
    ['hi@_user_1 look', 'hi@B look'],
    ['@_user_1.', '@B.'],
    ['@_user_12 and @_user_1', '@_user_12 and @B'],
    ['a@_user_1-x.example', 'a@_user_1-x.example'],
  ])('%s', (text, expected) => {
    expect(messageWith('text', { text }, [{ key: '@_user_1', id: { open_id: 'ou_b' }, name: 'B' }]).text).toBe(expected)
  })

  test('@all counts with and without a list, and not inside an address', () => {
    expect(messageOf(sample('group_text_at_all'))).toMatchObject({
      mentionsAll: true,
      text: '@all stand-up in five minutes',
    })
    expect(messageWith('text', { text: 'x' }, [{ key: '@_all', name: 'all' }]).mentionsAll).toBe(true)
    expect(messageWith('text', { text: 'ops@_all.example' }).mentionsAll).toBe(false)
  })

  test('our app id in place of an open id is a mention of us, also before we know our open id', () => {
    const envelope = sample('group_text_mention')
    const message = messageWith('text', { text: '@_user_1 go' }, [
      { key: '@_user_1', id: { app_id: sampleBot }, name: 'GatewayBot', mentioned_type: 'bot' },
    ])
    expect(message).toMatchObject({ mentionsSelf: true, text: 'go' })
    expect(messageOf(envelope, sampleBot, null)).toMatchObject({ mentionsSelf: false })
  })

  test('text that looks like a mention is none', () => {
    expect(messageWith('text', { text: '@GatewayBot please' })).toMatchObject({ mentionsSelf: false, mentions: [] })
  })

  test('a message read before we knew ourselves is the same afterwards', () => {
    for (const name of ['group_text_mention', 'topic_thread_reply', 'group_post_mention_image']) {
      expect(withIdentity(messageOf(sample(name), sampleBot, null), sampleSelf)).toEqual(messageOf(sample(name)))
    }
  })
})

describe('rich text', () => {
  test('case 12: title, text, link, code, image, unknown tag and Markdown, in order', () => {
    const message = caseMessage('12-post-with-code-image-link-unknown-tag')
    expect(message.text).toBe(
      [
        '标题',
        'why does this fail [log](https://example.test/log?a=1&b=2)',
        '```go',
        'if a < b && c > d {\n\treturn "`x`"\n}',
        '```',
        '[image 1]',
        'unseen tag text',
        '**note** *x*',
      ].join('\n'),
    )
    expect(message.attachments).toEqual([
      { kind: 'image', key: 'img_test_c12', fileName: null, durationMs: null, downloadable: true },
    ])
    expect(message.mentionsSelf).toBe(true)
    expect(message.unknown).toEqual(['tag future_widget'])
  })

  test('a whole post of the documented nodes', () => {
    expect(messageOf(sample('group_post_mention_image')).text).toBe(
      [
        'Release checklist',
        'please review today see [the plan](https://example.com/plan?x=1)',
        '[image 1]',
        '```python\nprint("hi")\n```',
        '---',
        '[THUMBSUP] thanks',
      ].join('\n'),
    )
  })

  test('the second form is preferred; an open id in an at-node is a mention', () => {
    const message = messageOf(sample('group_post_content_v2_open_id_at'))
    expect(message.text).toBe('quoted list:\n> - one\n> - two\n\n```js\nlet x = 1;\n```')
    expect(message.mentionsSelf).toBe(true)
    expect(message.mentions).toEqual([{ openId: sampleSelf.openId, name: 'GatewayBot', isBot: true, isSelf: true }])
  })

  test('an <at> that only stands in Markdown makes no mention', () => {
    const text = `<at user_id="${sampleSelf.openId}">GatewayBot</at> hi`
    const message = messageWith('post', { title: '', content: [[{ tag: 'md', text }]] })
    expect(message).toMatchObject({ mentionsSelf: false, text: '@GatewayBot hi' })
  })

  test('an <at> inside fenced code stays as it is', () => {
    const text = '```\n<at user_id="ou_x">X</at>\n```'
    expect(messageWith('post', { content: [[{ tag: 'md', text }]] }).text).toBe(text)
  })

  test('a fence is longer than any run of backticks in the code', () => {
    const code = 'a ```` b'
    const message = messageWith('post', { content: [[{ tag: 'code_block', language: 'MD', text: code }]] })
    expect(message.text).toBe(`\`\`\`\`\`md\n${code}\n\`\`\`\`\``)
  })

  test('files named only in the first form are kept', () => {
    const message = messageWith('post', {
      content: [[{ tag: 'img', image_key: 'img_a' }], [{ tag: 'media', file_key: 'file_b' }]],
      content_v2: [[{ tag: 'md', text: 'look ![x](img_a)' }]],
    })
    expect(message.text).toBe('look [image 1]\n[video 1]')
    expect(message.attachments.map((one) => one.key)).toEqual(['img_a', 'file_b'])
  })
})

describe('every other type', () => {
  test.each([
    [
      'p2p_text_unicode_link',
      '看一下 [build log](https://example.com/a?b=1&c=2) 🙂\nsecond line "quoted" \\ backslash <b>not bold</b>',
    ],
    ['image', '[image 1]'],
    ['file', '[file 1: Q3 report (final) 报告.pdf]'],
    ['audio', '[audio 1: 4.2 s]'],
    ['media_video', '[video 1: demo.mp4, 12.5 s]'],
    ['sticker', '[sticker]'],
    ['interactive', 'Deploy finished\nservice-a → prod\n[open run](https://example.com/run/17)[button: Roll back]'],
    ['share_chat', '[shared chat] oc_9a08acd9974372defdb5a622b43e6378'],
    ['share_user', '[shared contact] ou_2055637b20a0d512c212157d230c59e8'],
    ['location', '[location] Example Tower, Floor 3 (39.9093, 116.3974)'],
    ['todo', '[task] Prepare slides\ndue 2026-09-22 14:13 UTC'],
    ['vote', '[poll] Lunch?\n- Noodles\n- Rice'],
    ['system', 'Alice invited Bob, Carol to this chat.'],
    ['hongbao', '[Red packet]'],
    ['video_chat', '[video meeting] Weekly sync\nstarts 2026-09-21 14:13 UTC'],
    ['share_calendar_event', '[calendar event] Design review\n2026-09-21 15:13 UTC to 2026-09-21 16:13 UTC'],
  ])('%s', (name, text) => {
    expect(messageOf(sample(name))).toMatchObject({ text, recalled: false, expand: null, unknown: [] })
  })

  test('what cannot be fetched is said to be so', () => {
    expect(messageOf(sample('sticker')).attachments[0]?.downloadable).toBe(false)
    expect(messageWith('folder', { file_key: 'f', file_name: 'docs' }).attachments[0]?.downloadable).toBe(false)
    expect(messageOf(sample('media_video')).attachments).toEqual([
      {
        kind: 'media',
        key: 'file_v3_0300_0f0f0f0f-1e1e-4d2d-8c3c-4b4b4b4b4bfg',
        fileName: 'demo.mp4',
        durationMs: 12_500,
        downloadable: true,
      },
    ])
  })

  test('what the event does not carry is to be read', () => {
    expect(messageOf(sample('merge_forward')).expand).toBe('merge-forward')
    expect(messageWith('nonsupport', '').expand).toBe('read-back')
    expect(
      messageWith('interactive', { elements: [[{ tag: 'text', text: '请升级至最新版本客户端，以查看内容' }]] }).expand,
    ).toBe('read-back')
  })

  test('withdrawn before it reached us', () => {
    expect(messageOf(sample('text_already_recalled_empty_content'))).toMatchObject({ recalled: true, text: '' })
  })

  test('who is not a person is a bot; the platform itself may be nobody; a person has an id', () => {
    const { event } = sample('system')
    const from = (sender: object, message: object = {}) =>
      rawFromEvent({ sender, message: { ...event.message, ...message } }, 0)
    expect(from({ sender_type: 'anonymous' })).toMatchObject({
      ok: true,
      value: { sender: { type: 'bot', openId: '' } },
    })
    expect(from({}).ok).toBe(true)
    expect(from({}, { message_type: 'text' })).toEqual({ ok: false, field: 'sender.sender_id.open_id' })
  })

  test('a type of the future keeps its words', () => {
    const message = messageWith('hologram', { title: 'A', parts: [{ text: 'x' }], content: [[{ text: 'B' }]] })
    expect(message).toMatchObject({ text: '[hologram] A\nB', unknown: ['type hologram'] })
  })

  test('content that is not JSON is shown as it is', () => {
    expect(messageWith('text', 'plain words')).toMatchObject({ text: 'plain words', unknown: ['content of text'] })
  })
})

describe('read-back', () => {
  const items = (apiSample('api_list_messages_page').body['data'] as { items: unknown[] }).items
  const read = (item: unknown) => {
    const raw = rawFromRest(item)
    if (!raw.ok) throw new Error(raw.field)
    return toIncomingMessage(raw.value, { bot: sampleBot, self: sampleSelf })
  }

  test('a mention is a string there, and our own messages carry the app id', () => {
    expect(read(items[2])).toMatchObject({
      text: 'hello @Alice',
      sender: { openId: sampleSelf.openId, type: 'bot' },
      mentions: [{ openId: 'ou_365dd77a24668d45e4ef2913f80b51bf', name: 'Alice', isBot: false, isSelf: false }],
    })
  })

  test('a withdrawn message has no text of its own', () => {
    expect(read(items[1])).toMatchObject({ recalled: true, text: '' })
  })
})
