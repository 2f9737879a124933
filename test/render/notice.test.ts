import { describe, expect, test } from 'vitest'
import type { Notice, StatusOfPlace } from '../../src/collab/notice.js'
import type { AgentId, Instant } from '../../src/collab/refs.js'
import { policyExamples } from './policy-examples.js'
import { en } from '../../src/render/text/en.js'
import { renderNotice } from '../../src/render/text/notice.js'
import { zh } from '../../src/render/text/zh.js'

const reasons = ['exited', 'hung', 'no-output', 'garbage', 'unavailable', 'too-large', 'interrupted'] as const

const status: StatusOfPlace = {
  running: [{ agent: null, seconds: 125, state: 'working', runtime: 'acp', about: 'refactor it' }],
  waiting: 2,
  told: 1,
  held: [
    { because: 'late', count: 3 },
    { because: 'failed', count: 1 },
  ],
  deferred: [
    { about: 'the report', reason: 'no data', owner: 'mina', on: { when: 'note', note: 'data comes' }, seconds: 7_300 },
  ],
  handed: [{ agent: 'ben', about: 'the tests' }],
}

const asks = { kind: 'approval', operation: 'cat x', agent: 'ben', minutes: 3, requestId: '', approval: '' } as const
const offer = { scope: { kind: 'path', host: 'box', prefix: '/srv/notes' }, effects: ['write'], days: 30 } as const
const hostOffer = { scope: { kind: 'network', host: 'x.test' }, effects: ['network'], days: 30 } as const

/** Not told, or told in other words. */
const untold = new Set([
  'kind',
  'reason',
  'oldestMinutes',
  'conversation',
  'act',
  'waitsFor',
  'happened',
  'rest',
  'by',
  'because',
  'ask',
])

/** One of each kind, so that a new kind does not compile until it is read here too. */
const examples: { readonly [Kind in Notice['kind']]: readonly Extract<Notice, { readonly kind: Kind }>[] } = {
  'not-an-owner': [{ kind: 'not-an-owner', openId: 'ou_stranger' }],
  'owner-only-in-group': [{ kind: 'owner-only-in-group' }],
  'owner-not-bound-yet': [{ kind: 'owner-not-bound-yet' }],
  'empty-message': [{ kind: 'empty-message' }],
  ...policyExamples,
  'voice-without-words': [{ kind: 'voice-without-words' }],
  'bots-paused': [{ kind: 'bots-paused', turns: 3 }],
  'late-held': [
    { kind: 'late-held', count: 1, oldestMinutes: 1 },
    { kind: 'late-held', count: 4, oldestMinutes: 130 },
  ],
  'backlog-held': [
    { kind: 'backlog-held', count: 1, oldestMinutes: 61, conversation: 'c1' },
    { kind: 'backlog-held', count: 12, oldestMinutes: 3, conversation: 'c1' },
  ],
  'newest-released': [
    { kind: 'newest-released', skipped: 0 },
    { kind: 'newest-released', skipped: 4 },
  ],
  'late-released': [{ kind: 'late-released', count: 2 }],
  'late-skipped': [{ kind: 'late-skipped', count: 2 }],
  'nothing-held': [{ kind: 'nothing-held' }],
  'late-control': [{ kind: 'late-control', word: '/stop', minutes: 12 }],
  stopping: [{ kind: 'stopping', turns: 1 }],
  stopped: [
    { kind: 'stopped', turns: 1, finished: 0, queued: 0, conversation: 'c1' },
    { kind: 'stopped', turns: 1, finished: 0, queued: 3, conversation: 'c1' },
    { kind: 'stopped', turns: 0, finished: 1, queued: 2, conversation: 'c1' },
  ],
  'nothing-running': [
    { kind: 'nothing-running', held: 0, conversation: 'c1' },
    { kind: 'nothing-running', held: 2, conversation: 'c1' },
  ],
  'fresh-context': [
    { kind: 'fresh-context', owed: 0, running: 0, conversation: 'c1' },
    { kind: 'fresh-context', owed: 2, running: 1, conversation: 'c1' },
  ],
  'result-withheld': [{ kind: 'result-withheld', requestId: 'r-17' }],
  'edit-taken-up': [{ kind: 'edit-taken-up' }],
  'edited-after-answer': [{ kind: 'edited-after-answer', requestId: 'r-17' }],
  'edit-left': [{ kind: 'edit-left' }],
  // A press carries which request it is about; the manager speaks of itself.
  approval: [
    { kind: 'approval', operation: 'rm -r build/', agent: 'manager', minutes: 10, requestId: '', approval: '' },
    { kind: 'approval', operation: 'git push', agent: 'ben', minutes: 1, requestId: '', approval: '' },
    { ...asks, gap: { kind: 'other-effect', grant: 'g1', allows: ['read'] }, offer },
    { ...asks, gap: { kind: 'outside', grant: 'g1', scope: '/srv/notes' }, offer: hostOffer },
    { ...asks, gap: { kind: 'unresolved' }, cut: { more: 12, digest: 'd1' } },
    { ...asks, gap: { kind: 'not-named' } },
    { ...asks, gap: { kind: 'other-audience', grant: 'g1' } },
  ],
  'approval-given': [
    { kind: 'approval-given', standing: false },
    { kind: 'approval-given', standing: true },
    { kind: 'approval-given', standing: true, scope: offer },
    { kind: 'approval-given', standing: true, scope: hostOffer },
  ],
  'permission-ended': [
    { kind: 'permission-ended', gap: { kind: 'revoked', grant: 'g1', at: 1_764_000_000_000 as Instant } },
    { kind: 'permission-ended', gap: { kind: 'expired', grant: 'g1', at: 1_764_000_000_000 as Instant } },
    { kind: 'permission-ended', gap: { kind: 'parent-ended', grant: 'g1' } },
  ],
  'approval-denied': [{ kind: 'approval-denied' }],
  'approval-lapsed': [{ kind: 'approval-lapsed' }],
  status: [{ kind: 'status', status }],
  help: [{ kind: 'help' }],
  agents: [
    { kind: 'agents', agents: [], more: 0 },
    {
      kind: 'agents',
      agents: [
        { agent: 'mina', role: 'writer', discoverable: true, readable: true, deliverable: null, executable: false },
      ],
      more: 0,
    },
  ],
  'choice-not-yours': [{ kind: 'choice-not-yours' }],
  'choice-unknown': [{ kind: 'choice-unknown' }],
  'choice-made': [{ kind: 'choice-made', act: 'run-held' }],
  'choice-under-way': [{ kind: 'choice-under-way' }],
  'turn-failed': reasons.map((reason) => ({ kind: 'turn-failed', reason, requestId: 'r-17' })),
  'runtime-unavailable': [{ kind: 'runtime-unavailable', detail: 'codex is not signed in' }],
  'answered-in-private': [{ kind: 'answered-in-private' }],
  'not-confined': [{ kind: 'not-confined', detail: 'bubblewrap is not installed' }],
  'ended-with-turn': [{ kind: 'ended-with-turn', commands: ['sleep 300', 'npm run dev'] }],
  'refused-by-host': [
    {
      kind: 'refused-by-host',
      by: 'sandbox',
      rule: 'workspace-write',
      tool: 'exec_command',
      operation: 'touch /etc/x',
    },
    { kind: 'refused-by-host', by: 'policy', rule: 'command rule', tool: 'Bash', operation: null },
  ],
  'agent-asked-permission': [{ kind: 'agent-asked-permission', operation: 'write /etc/hosts' }],
  'cancel-asked': [
    { kind: 'cancel-asked', waitsFor: 'turn' },
    { kind: 'cancel-asked', waitsFor: 'effect' },
  ],
  cancelled: [{ kind: 'cancelled' }],
  // What had happened is named: see cancel.test.ts.
  'cancel-too-late': [{ kind: 'cancel-too-late', happened: [{ what: 'answered' }], rest: false, by: null }],
  'delivery-failed': [
    { kind: 'delivery-failed', arrived: 1, total: 3, reason: 'target-gone' },
    { kind: 'delivery-failed', arrived: 0, total: 0, reason: 'planning', page: 'https://m.test/requests/r-17' },
  ],
  'delivery-parked': [
    { kind: 'delivery-parked', part: 2, arrived: 4, total: 3, page: 'https://m.test/requests/r-17' },
    { kind: 'delivery-parked', part: 2, arrived: 4, total: 3, page: null },
  ],
  'answer-withheld': [{ kind: 'answer-withheld' }],
  'answer-withheld-owner': [
    { kind: 'answer-withheld-owner', arrived: 2, total: 3, page: 'https://m.test/requests/r-17' },
  ],
  'answers-gone': [
    { kind: 'answers-gone', words: 'What is 2 + 2?', minutes: 12, request: 'ab12cd34' },
    { kind: 'answers-gone', words: null, minutes: null, request: null },
  ],
  progress: [
    { kind: 'progress', conversation: 'c-1', progress: { state: 'working', because: null, handed: [] } },
    {
      kind: 'progress',
      conversation: 'c-1',
      progress: { state: 'waiting', because: 'worker-queued', told: true, handed: [] },
    },
    {
      kind: 'progress',
      conversation: 'c-1',
      progress: {
        state: 'waiting',
        because: 'worker-queued',
        handed: [{ agent: 'ben' as AgentId, stands: 'deferred', because: 'missing-input' }],
      },
    },
  ],
  'file-left-out': (['outside-workspace', 'unreadable', 'too-large', 'empty', 'too-many'] as const).map((reason) => ({
    kind: 'file-left-out',
    fileName: '报告.pdf',
    reason,
  })),
  'file-not-sent': [
    { kind: 'file-not-sent', fileName: '报告.pdf', reason: 'too-large' },
    { kind: 'file-not-sent', fileName: '报告.pdf', reason: 'empty' },
    { kind: 'file-not-sent', fileName: '报告.pdf', reason: 'refused', page: 'https://m.test/requests/r-17' },
    { kind: 'file-not-sent', fileName: '报告.pdf', reason: 'bad-name' },
  ],
}
const all: readonly Notice[] = Object.values(examples).flat()

describe('what the gateway says in a chat', () => {
  test('both languages have the same sentences', () => {
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort())
    expect(Object.keys(examples).sort()).toEqual(Object.keys(en).sort())
  })

  test.each(all.map((notice) => [notice.kind, notice] as const))(
    '%s names its facts in both languages',
    (_, notice) => {
      for (const language of ['en', 'zh'] as const) {
        const text = renderNotice(notice, language)
        for (const [name, value] of Object.entries(notice)) {
          const told = typeof value === 'string' || typeof value === 'number'
          if (!told || untold.has(name) || value === 1 || value === 0) continue
          // A result that is kept back is known by the buttons on its card.
          // Which request it is, is in the button.
          if (notice.kind === 'result-withheld' || notice.kind === 'edited-after-answer') continue
          expect(text).toContain(String(value))
        }
        expect(text).not.toContain('undefined')
      }
      expect(/[\u4e00-\u9fff]/.test(renderNotice(notice, 'zh'))).toBe(true)
      expect(/[\u4e00-\u9fff]/.test(renderNotice(notice, 'en').replace('报告', ''))).toBe(false)
    },
  )

  test.each(all.map((notice) => [notice.kind, notice] as const))(
    '%s tells the same facts in both languages',
    (_, notice) => {
      expect(factsRead(notice, 'zh')).toEqual(factsRead(notice, 'en'))
    },
  )

  test('a delivery without any part speaks of none', () => {
    const notice = { kind: 'delivery-failed', arrived: 0, total: 0, reason: 'planning' } as const
    for (const language of ['en', 'zh'] as const) {
      expect(renderNotice(notice, language)).not.toContain('0')
    }
  })

  test('why an answer did not arrive is said in words; what has none keeps its name', () => {
    const why = (reason: string, language: 'en' | 'zh') =>
      renderNotice({ kind: 'delivery-failed', arrived: 1, total: 3, reason }, language)
    for (const reason of ['target-gone', 'not-permitted', 'configuration', 'given-up', 'upload-too-long']) {
      expect(why(reason, 'en')).not.toContain(reason)
      expect(why(reason, 'zh')).not.toMatch(/[a-z]{4}/)
    }
    expect(why('upload-too-long', 'en')).toContain('a file: it is too long')
    for (const language of ['en', 'zh'] as const) expect(why('server-error', language)).toContain('server-error')
  })

  test('no two failures read the same, and none asks to send again', () => {
    for (const language of ['en', 'zh'] as const) {
      const said = examples['turn-failed'].map((notice) => renderNotice(notice, language))
      expect(new Set(said).size).toBe(reasons.length)
    }
    for (const notice of all) {
      expect(renderNotice(notice, 'en')).not.toMatch(/again\b(?! by itself|\. )|resend|!/i)
      expect(renderNotice(notice, 'zh')).not.toMatch(/重新发送|再发一次|重发|！/)
    }
  })

  test('late messages name the two words that decide', () => {
    for (const language of ['en', 'zh'] as const) {
      for (const notice of examples['late-held']) {
        expect(renderNotice(notice, language)).toContain('/run')
        expect(renderNotice(notice, language)).toContain('/skip')
      }
    }
    expect(renderNotice({ kind: 'late-held', count: 4, oldestMinutes: 130 }, 'en')).toContain('2 hours ago')
  })
})

/** The paths of all facts of a notice that its words look at. */
function factsRead(notice: Notice, language: 'en' | 'zh'): readonly string[] {
  const read = new Set<string>()
  const watched = <T extends object>(value: T, path: string): T =>
    new Proxy(value, {
      get(target, key, receiver) {
        const member: unknown = Reflect.get(target, key, receiver)
        if (typeof key === 'symbol' || typeof member === 'function') return member
        read.add(`${path}.${key}`)
        return typeof member === 'object' && member !== null ? watched(member, `${path}.${key}`) : member
      },
    })
  renderNotice(watched(notice, 'notice'), language)
  // How many there are of something decides a plural in one language only.
  return [...read].filter((path) => !/\.(?:length|count|kind)$|\.\d+$/.test(path)).sort()
}
