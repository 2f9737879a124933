import { closedPolicy, type ChatPolicy, type StartRefusal } from '../../src/collab/chat-policy.js'
import type { Notice } from '../../src/collab/notice.js'
import type { PolicyCatalogue } from '../../src/render/text/policy.js'

const because: readonly StartRefusal[] = [
  'not-addressed',
  'owner-only',
  'nobody',
  'not-a-member',
  'membership-ended',
  'membership-used-up',
  'other-tenant',
  'tenant-unknown',
  'bots-closed',
  'quiet-hours',
  'not-isolated',
]
const open: ChatPolicy = {
  who: 'members',
  mention: 'off',
  atAll: true,
  bots: true,
  returns: 'chat',
  quiet: { from: 1_320, until: 480, zone: 'Asia/Shanghai' },
  language: 'zh',
  ownerWork: 'private-return',
}
const ref = { chat: 4, everywhere: 2 }
const shown = { kind: 'chat-policy', ref, readable: true, isolated: true, members: 0, setBy: null } as const

/** One of each notice about who may start work. */
export const policyExamples: {
  readonly [Kind in keyof PolicyCatalogue]: readonly Extract<Notice, { readonly kind: Kind }>[]
} = {
  'start-refused': because.map((reason) => ({ kind: 'start-refused', because: reason })),
  'operate-owner-only': [{ kind: 'operate-owner-only' }],
  'authority-gone': [{ kind: 'authority-gone' }],
  'admission-asked': [
    { kind: 'admission-asked', ask: 'a-1', openId: 'ou_bob', chatId: 'oc_room', direct: false, words: 'sum it up' },
  ],
  'admission-given': [
    { kind: 'admission-given', openId: 'ou_bob', chatId: 'oc_room', starts: 10, days: 7 },
    { kind: 'admission-given', openId: 'ou_bob', chatId: null, starts: null, days: null },
  ],
  'admission-refused': [{ kind: 'admission-refused', openId: 'ou_bob', days: 30 }],
  'chat-policy': [
    { ...shown, everywhere: false, policy: open, members: 3, setBy: 'ou_alice', changed: true },
    {
      ...shown,
      everywhere: true,
      policy: { ...open, who: 'humans', ownerWork: 'owner' },
      changed: false,
      isolated: false,
    },
    { ...shown, everywhere: false, policy: closedPolicy, changed: false, readable: false },
  ],
  'chat-command-wrong': [{ kind: 'chat-command-wrong', wrong: 'who=everyone' }],
  'chat-policy-refused': [
    { kind: 'chat-policy-refused', because: 'policy-not-isolated' },
    { kind: 'chat-policy-refused', because: 'policy-conflict' },
  ],
  'member-removed': [
    { kind: 'member-removed', openId: 'ou_bob', count: 0 },
    { kind: 'member-removed', openId: 'ou_bob', count: 1 },
  ],
}
