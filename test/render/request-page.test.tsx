import { describe, expect, test } from 'vitest'
import type { RefusalView } from '../../src/collab/project/refusals.js'
import type { RequestView } from '../../src/collab/project/request-view.js'
import { RequestPage } from '../../src/render/html/request-page.js'

const view: RequestView = {
  id: 'r-1',
  revision: 1,
  parent: null,
  conversation: 'c-1',
  origin: { channel: 'lark', messageId: 'om_1' },
  intent: 'consultation',
  openedAt: 0,
  state: 'open',
  axes: { assignment: 'unassigned', judgment: 'pending', control: 'open', delivery: 'none' },
  asks: [{ id: 'a-1', text: 'Sum it up', state: 'owed' }],
  attempts: [],
  observations: [],
  choices: [],
  assessments: [],
  results: [],
  work: [],
  briefs: [],
  refusals: [],
  cancellation: null,
  deliveries: [],
  next: null,
}

function shown(of: Partial<RequestView>, language: 'en' | 'zh' = 'en'): string {
  const page = RequestPage({
    shell: { language, csrf: null, sandbox: false },
    view: { ...view, ...of },
    place: 'p2p',
    now: 0,
    doing: null,
    said: null,
    formKey: 'k',
  })
  return String(page).replace(/<[^>]+>/gu, ' ')
}

const fact = (kind: string, detail: string | null): RequestView['observations'][number] => ({
  seq: 1,
  kind,
  revision: 1,
  at: 0,
  actor: { kind: 'host' },
  detail,
})

describe('the page of a request', () => {
  test('a follow-up that came too late for the running turn is no late cancellation', () => {
    const page = shown({ observations: [fact('steer-settled', 'too-late')] })
    expect(page).toContain('Told to the running turn')
    expect(page).toContain('that turn had ended before')
    expect(page).not.toContain('Cancelled too late')
    expect(shown({ observations: [fact('cancel-acknowledged', 'too-late')] })).toContain('Cancelled too late')
  })

  test('says whose refusal it was in words alone, and a rule of the host by its own name', () => {
    const refusal = { seq: 1, at: 0, turn: 't-1', tool: null, operation: 'rm -r /srv' } as unknown as RefusalView
    const ours = shown({ refusals: [{ ...refusal, by: 'application', rule: 'no-answer' }] })
    expect(ours).toContain('nobody answered the question in time')
    expect(ours).not.toContain('no-answer')
    expect(shown({ refusals: [{ ...refusal, by: 'person', rule: 'refused' }] }, 'zh')).toMatch(/有人拒绝了它。/u)
    const host = shown({ refusals: [{ ...refusal, by: 'policy', rule: 'deny rule 3', tool: 'Bash' }] })
    expect(host).toContain('deny rule 3 · Bash · ')
  })
})
