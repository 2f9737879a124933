import { expect, test } from 'vitest'
import { chatCommandOf } from '../../src/collab/chat-command.js'

test.each([
  ['/chat', { does: 'show' }],
  ['／ｃｈａｔ', { does: 'show' }],
  ['  /聊天 ', { does: 'show' }],
  ['/chat who=members', { does: 'set', settings: { who: 'members' } }],
  ['/聊天 谁=成员 提及=关', { does: 'set', settings: { who: 'members', mention: 'off' } }],
  ['/聊天 谁＝无人', { does: 'set', settings: { who: 'nobody' } }],
  ['/chat mention=on all=on bots=off', { does: 'set', settings: { mention: 'required', atAll: true, bots: false } }],
  [
    '/chat return=chat owner=private-return',
    { does: 'set', settings: { returns: 'chat', ownerWork: 'private-return' } },
  ],
  [
    '/chat quiet=22:00-08:00@Asia/Shanghai language=zh',
    { does: 'set', settings: { quiet: { from: 1_320, until: 480, zone: 'Asia/Shanghai' }, language: 'zh' } },
  ],
  ['/chat quiet=off language=auto', { does: 'set', settings: { quiet: null, language: null } }],
  ['/chat remove=ou_bob', { does: 'remove', openId: 'ou_bob' }],
])('%j is read', (text, command) => {
  expect(chatCommandOf(text)).toEqual(command)
})

test.each([
  ['/chat who=everyone', 'who=everyone'],
  ['/chat who=members who=humans', 'who=humans'],
  ['/chat who', 'who'],
  ['/chat =x', '=x'],
  ['/chat who=membеrs', 'who=membеrs'],
  ['/chat constructor=on', 'constructor=on'],
  ['/chat who=owner please', 'please'],
  ['/chat remove=ou_bob who=owner', 'remove=ou_bob'],
  ['/chat remove=bob', 'remove=bob'],
  ['/chat quiet=22:00-08:00', 'quiet=22:00-08:00'],
  ['/chat who=toString', 'who=toString'],
])('%j changes nothing, and names what cannot be read', (text, wrong) => {
  expect(chatCommandOf(text)).toEqual({ does: 'nothing', wrong })
})

test.each([
  // The first letter of the word is Cyrillic; the slash is a division slash; the word is in mathematical letters.
  '/\u0441hat who=humans',
  '\u2215chat who=humans',
  '/\u{1d41c}\u{1d421}\u{1d41a}\u{1d42d} who=humans',
  '/cha\u200bt who=humans',
  '> /chat who=humans',
  '`/chat who=humans`',
  '```\n/chat who=humans\n```',
  'please /chat who=humans',
  '/chat\nwho=humans',
  '/chats',
  '//chat',
  'chat who=humans',
  '',
])('%j is no command', (text) => {
  expect(chatCommandOf(text)).toBeNull()
})
