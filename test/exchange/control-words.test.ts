import { expect, test } from 'vitest'
import { controlWordOf } from '../../src/exchange/control.js'

test.each([
  ['/status', 'status'],
  ['/状态', 'status'],
  ['/stop', 'stop'],
  ['/停止', 'stop'],
  ['/new', 'new'],
  ['/新对话', 'new'],
  ['/help', 'help'],
  ['/帮助', 'help'],
  ['/agents', 'agents'],
  ['/助手', 'agents'],
  ['/run', 'run'],
  ['/运行', 'run'],
  ['/skip', 'skip'],
  ['/跳过', 'skip'],
])('%s is the word %s, with spaces around it, a full-width slash and capitals too', (form, word) => {
  for (const said of [form, `  ${form}\n`, form.replace('/', '／'), form.toUpperCase()]) {
    expect(controlWordOf(said)).toBe(word)
  }
})

test('stopping alone is also heard without a slash', () => {
  expect(['stop', 'Stop', ' 停止 '].map(controlWordOf)).toEqual(['stop', 'stop', 'stop'])
  expect(['run', 'new', 'help', '状态', '运行', '跳过'].map(controlWordOf)).toEqual(Array(6).fill(null))
})

test.each([
  '/st\u043ep',
  '\u2215stop',
  '/\u{1d42c}\u{1d42d}\u{1d428}\u{1d429}',
  '> /stop',
  '`/stop`',
  '/stop now',
  'please /stop',
  '/stop /run',
  '//stop',
  '/stopp',
  '/',
  '',
  'constructor',
  '/restart',
])('%j is no control word', (text) => {
  expect(controlWordOf(text)).toBeNull()
})
