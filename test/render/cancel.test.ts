import { describe, expect, test } from 'vitest'
import type { Cancellation } from '../../src/collab/project/cancellation.js'
import { cancellationText, tooLateText } from '../../src/render/text/cancel.js'
import { answerLabel } from '../../src/render/text/label.js'

const languages = ['en', 'zh'] as const
const happened = [
  { what: 'answered' },
  { what: 'effect', effectKind: 'git-push', target: 'main' },
  { what: 'work', ref: 'todo:t1', revision: '2' },
] as const

const all: readonly Cancellation[] = [
  { stands: 'asked', waitsFor: 'turn', happened: [] },
  { stands: 'asked', waitsFor: 'effect', happened: [] },
  { stands: 'acknowledged' },
  { stands: 'too-late', happened, rest: false },
  { stands: 'too-late', happened, rest: true },
]

describe('a cancellation in plain words', () => {
  test.each(languages)('no two states of it read the same in %s', (language) => {
    const said = all.map((one) => cancellationText(one, language))
    expect(new Set(said).size).toBe(all.length)
    expect(said.join('')).not.toMatch(/undefined|null/)
  })

  test.each(languages)('what had already happened is named in %s, all of it', (language) => {
    for (const rest of [true, false]) {
      const said = cancellationText({ stands: 'too-late', happened, rest }, language)
      for (const name of ['git-push', 'main', 'todo:t1', '2']) expect(said).toContain(name)
      expect(said).toMatch(language === 'en' ? /it was answered/ : /已经给出回答/)
    }
  })

  test.each(languages)('and by whom, when somebody below did it, in %s', (language) => {
    const notice = { kind: 'cancel-too-late', happened, rest: true, by: 'mover' } as const
    expect(tooLateText(notice, language)).toContain('mover')
    expect(tooLateText({ ...notice, by: null }, language)).not.toContain('mover')
  })
})

describe('the words before an answer', () => {
  test('are none for one that stands alone', () => {
    for (const language of languages) expect(answerLabel({ label: null }, language)).toBe('')
  })

  test.each(languages)('say in %s whose words they are and how they bear on the earlier answer', (language) => {
    const bearings = ['replaces', 'updates', 'before-correction'] as const
    const said = bearings.map((bearing) => answerLabel({ label: null, bearing }, language))
    expect(new Set(said).size).toBe(3)
    const whole = answerLabel({ label: 'no-model', from: 'mover', bearing: 'updates' }, language)
    expect(whole).toContain('mover')
    expect(whole).toContain(said[1])
    expect(whole).toMatch(language === 'en' ? /^no model:/ : /^无模型：/)
  })
})
