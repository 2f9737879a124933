import { describe, expect, test } from 'vitest'
import { sheetLines, type Sheet } from '../../src/collab/project/sheet.js'
import { acceptance } from '../kit/acceptance.js'

const sheet: Sheet = {
  host: 'host-one',
  effective: {
    runtime: 'codex',
    version: '0.171.0',
    model: 'gpt-6-astra',
    effort: 'high',
    realModel: true,
    confinement: {
      profile: 'restricted',
      reads: 'workspace',
      writes: 'workspace',
      paths: [{ path: '/srv/docs', access: 'read' }],
      network: 'none',
      by: 'runtime',
    },
  },
  tools: true,
  grants: 2,
  otherProfile: false,
}
const text = (over: Partial<Sheet> = {}) => sheetLines({ ...sheet, ...over }).join('\n')

describe('the sheet of a session', () => {
  acceptance('A12', 'names host, model, effort, what is reached, tools and standing permissions', () => {
    for (const word of [
      'host-one',
      'codex (0.171.0)',
      'gpt-6-astra',
      'high',
      'restricted',
      '/srv/docs',
      'none.',
      ': 2.',
    ]) {
      expect(text()).toContain(word)
    }
    expect(text()).not.toContain('not known')
  })

  test('what the runtime does not say is not known, and never taken from the settings', () => {
    const { confinement: _, ...bare } = sheet.effective
    expect(text({ effective: { ...bare, model: null, effort: null } })).toMatch(/Model: not said; effort: not said/u)
    const unknown = { profile: 'owner', reads: null, writes: null, paths: [], network: null, by: 'runtime' } as const
    expect(text({ effective: { ...bare, confinement: unknown } })).toMatch(
      /\(not known\).*\(not known\)[\s\S]*not known\./u,
    )
  })

  test('an open network of a restricted session is said to be one', () => {
    const { effective } = sheet
    const open = { ...effective, confinement: { ...effective.confinement!, network: 'open', by: 'namespace' } as const }
    expect(text({ effective: open })).toContain('cannot be cut')
  })

  acceptance('A12', 'a session that another profile replaced is told so, and that what is on record binds', () => {
    expect(text({ otherProfile: true })).toMatch(/another profile.*bind as before/u)
    expect(text()).not.toContain('another profile')
  })

  test('a difference between what was set and what is in force is named', () => {
    expect(text({ effective: { ...sheet.effective, differs: ['sandbox', 'model'] } })).toContain('sandbox, model')
  })
})
