import { describe, expect, test } from 'vitest'
import { ManagerChip, type ManagerView } from '../../src/render/html/manager-chip.js'

const codex: ManagerView = {
  endpoint: 'codex',
  executorKind: 'individual',
  model: 'gpt-6-astra',
  available: true,
  unavailableReason: null,
}
const shown = (manager: ManagerView, language: 'en' | 'zh' = 'en'): string =>
  String(ManagerChip({ manager, language })).replace(/<[^>]+>/gu, '')

describe('the line about the manager', () => {
  test.each([
    ['en', 'Manager: codex · own sign-in · gpt-6-astra'],
    ['zh', '管理智能体: codex · 个人登录 · gpt-6-astra'],
  ] as const)('names executor, account and model (%s)', (language, line) => {
    expect(shown(codex, language)).toBe(line)
  })

  test('what is not known is said to be unknown, not guessed', () => {
    const acp = { ...codex, endpoint: 'acp', executorKind: null, model: null, available: null }
    expect(shown(acp)).toBe('Manager: acp · account not known · model not known')
  })

  test('what cannot be used says so and why, in the same line; the reason is text', () => {
    const gone = { ...codex, executorKind: 'managed', available: false, unavailableReason: 'no <b>codex</b>' } as const
    expect(String(ManagerChip({ manager: gone, language: 'en' }))).toContain('no &lt;b&gt;codex')
    expect(shown(gone)).toMatch(/^Manager: codex · operator’s credential · gpt-6-astra Not available no /u)
  })
})
