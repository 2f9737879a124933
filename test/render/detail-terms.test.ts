import { describe, expect, test } from 'vitest'
import { detailText, partText } from '../../src/render/html/detail-terms.js'

describe('the detail of a fact', () => {
  test('is said in words, in both languages', () => {
    expect(detailText('turn-ended', 'failed: context-full', 'en')).toContain('more than the model can read')
    expect(detailText('turn-ended', 'interrupted: shutdown', 'zh')).toContain('网关停止')
    expect(detailText('turn-ended', 'completed', 'en')).toBe('with an answer')
    expect(detailText('fence-released', 'executor-gone', 'zh')).toBe('其进程已不在')
    expect(detailText('failure-handed-over', 'repeated-crash', 'en')).toContain('several times in a row')
    expect(partText('in-order', 'zh')).toContain('更早的消息')
  })

  test('why a follow-up is held, and what became of telling it to a turn, is said in words', () => {
    expect(detailText('request-held', 'backlog', 'en')).toContain('too many waited')
    expect(detailText('request-held', 'backlog', 'zh')).toContain('排队过多')
    for (const became of ['taken', 'too-late', 'unsupported', 'unknown'] as const) {
      for (const language of ['en', 'zh'] as const)
        expect(detailText('steer-settled', became, language)).not.toBe(became)
    }
  })

  test('that is a name stands as it is, whatever it is called', () => {
    expect(detailText('attempt-assigned', 'late', 'en')).toBe('late')
    expect(detailText('sent-outside', 'text om_1', 'en')).toBe('text om_1')
    expect(detailText('turn-ended', 'failed: constructor', 'en')).toBe('failed: constructor')
    expect(partText('230099', 'en')).toBe('230099')
    expect(partText('toString', 'en')).toBe('toString')
  })
})
