import { expect, test } from 'vitest'
import { choiceOfValue } from '../../src/collab/choice.js'
import { chosenCard, noticeCard } from '../../src/render/notice-card.js'
import { isRefused } from '../../src/sandbox/answer.js'
import { checkCard } from '../../src/sandbox/card-check.js'
import { must } from '../../src/lib/assert.js'
import { policyExamples } from './policy-examples.js'

const refer = { imageKeys: new Set<string>(), people: new Set<string>() }
const asked = { kind: 'stopped', turns: 1, finished: 0, queued: 2, conversation: 'c1' } as const

interface Button {
  readonly tag: string
  readonly type: string
  readonly text: { readonly content: string }
  readonly behaviors: readonly { readonly type: string; readonly value: Record<string, unknown> }[]
}

function buttonsOf(content: string): readonly Button[] {
  const found: Button[] = []
  JSON.parse(content, (_key, value: unknown) => {
    if (typeof value === 'object' && value !== null && (value as Button).tag === 'button') found.push(value as Button)
    return value
  })
  return found
}

test('a notice with choices is a card that the platform takes, with one button for each', () => {
  for (const [language, labels] of [
    ['en', ['Run all', 'Skip']],
    ['zh', ['全部执行', '略过']],
  ] as const) {
    const content = noticeCard(asked, language) ?? ''
    expect(isRefused(checkCard(content, refer))).toBe(false)
    const buttons = buttonsOf(content)
    expect(buttons.map((one) => one.text.content)).toEqual(labels)
    expect(buttons.map((one) => choiceOfValue(one.behaviors[0]?.value ?? {}))).toEqual([
      { act: 'run-held', conversation: 'c1' },
      { act: 'skip-held', conversation: 'c1' },
    ])
    // Whoever sees no buttons can say the words.
    expect(content).toContain('/run')
    expect(content).toContain('/skip')
    // Replaced later for everybody, or not at all.
    expect(JSON.parse(content)).toMatchObject({ config: { update_multi: true } })
  }
})

test('where a right is asked for no button is the usual one', () => {
  const [stranger] = policyExamples['admission-asked']
  expect(buttonsOf(noticeCard(must(stranger, 'an example'), 'en') ?? '').map((one) => one.type)).toEqual(
    Array(4).fill('default'),
  )
  expect(buttonsOf(noticeCard(asked, 'en') ?? '').map((one) => one.type)).toEqual(['primary', 'default'])
})

test('a notice that asks for nothing is no card', () => {
  expect(noticeCard({ kind: 'nothing-held' }, 'en')).toBeNull()
})

test('once chosen the card says what was asked and what became of it, and there is nothing left to press', () => {
  const content = chosenCard(asked, { kind: 'late-released', count: 3 }, 'en')
  expect(isRefused(checkCard(content, refer))).toBe(false)
  expect(buttonsOf(content)).toEqual([])
  expect(content).toContain('2 messages that waited')
  expect(content).toContain('3 messages are running now')
  expect(JSON.parse(content)).toMatchObject({ config: { update_multi: true } })
})
