import fc from 'fast-check'
import { expect, test } from 'vitest'
import { choiceOfValue, choicesOf, valueOfChoice, type Choice } from '../../src/collab/choice.js'

const choice: fc.Arbitrary<Choice> = fc.oneof(
  fc.record({ act: fc.constantFrom('stop', 'run-held', 'skip-held', 'run-newest'), conversation: fc.string() }),
  fc.record({ act: fc.constantFrom('show-result', 'drop-result'), request: fc.string() }),
)

test('what a button asks for comes back whole from its value, through JSON', () => {
  fc.assert(
    fc.property(choice, (asked) => {
      const value = JSON.parse(JSON.stringify(valueOfChoice(asked))) as Record<string, unknown>
      expect(choiceOfValue(value)).toEqual(asked)
    }),
  )
})

test('a value of another program, of another form, or without its subject is no choice of ours', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      fc.pre(value['of'] !== 'lark-manager')
      expect(choiceOfValue(value)).toBeNull()
    }),
  )
  const value = valueOfChoice({ act: 'run-held', conversation: 'c1' })
  expect(choiceOfValue({ ...value, form: '2' })).toBeNull()
  expect(choiceOfValue({ ...value, conversation: 7 })).toBeNull()
  expect(choiceOfValue({ ...value, act: 'show-result' })).toBeNull()
  expect(choiceOfValue({ ...value, act: 'allow' })).toBeNull()
})

test('only a notice that leaves something to decide offers a choice', () => {
  const acts = (notice: Parameters<typeof choicesOf>[0]) => choicesOf(notice).map((one) => one.act)
  const held = ['run-held', 'skip-held']
  expect(acts({ kind: 'late-held', count: 1, oldestMinutes: 12, conversation: 'c1' })).toEqual(held)
  expect(acts({ kind: 'backlog-held', count: 3, oldestMinutes: 1, conversation: 'c1' })).toEqual([
    'run-held',
    'run-newest',
    'skip-held',
  ])
  // Stored by an earlier version, which did not name its conversation.
  expect(acts({ kind: 'late-held', count: 1, oldestMinutes: 12 })).toEqual([])
  expect(acts({ kind: 'stopped', turns: 1, finished: 0, queued: 0, conversation: 'c1' })).toEqual(held)
  expect(acts({ kind: 'stopped', turns: 0, finished: 1, queued: 0, conversation: 'c1' })).toEqual([])
  expect(acts({ kind: 'nothing-running', held: 0, conversation: 'c1' })).toEqual([])
  expect(acts({ kind: 'fresh-context', owed: 2, running: 0, conversation: 'c1' })).toEqual(held)
  expect(acts({ kind: 'result-withheld', requestId: 'r1' })).toEqual(['show-result', 'drop-result'])
  expect(acts({ kind: 'edited-after-answer', requestId: 'r1' })).toEqual(['take-edit', 'leave-edit'])
  expect(acts({ kind: 'help' })).toEqual([])
})
