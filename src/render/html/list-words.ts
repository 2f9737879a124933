import type { Language } from '../../collab/delivery.js'

export interface ListWords {
  readonly title: string
  readonly all: string
  readonly empty: string
  readonly emptyState: string
  readonly emptyHere: string
  readonly tryChat: string
  readonly more: string
  readonly older: string
  readonly erased: string
  readonly next: string
  readonly by: string
  readonly oneConversation: string
  readonly places: Readonly<Record<'p2p' | 'group' | 'topic' | 'unknown', string>>
}

export const listWords: Readonly<Record<Language, ListWords>> = {
  en: {
    title: 'Requests',
    all: 'All',
    empty: 'Nothing has been asked yet',
    emptyState: 'Nothing here right now.',
    emptyHere: 'Write to the bot in Lark: a direct message, or mention it in a group. It appears here at once.',
    tryChat: 'Open the chat and write the first message',
    more: 'Look further back',
    older: 'Older',
    erased: '(text erased)',
    next: 'Next',
    by: 'by',
    oneConversation: 'One conversation only',
    places: { p2p: 'Direct message', group: 'Group', topic: 'Topic', unknown: 'Elsewhere' },
  },
  zh: {
    title: '请求',
    all: '全部',
    empty: '还没有任何请求',
    emptyState: '目前没有内容。',
    emptyHere: '在飞书里给机器人发私信，或在群里提及它，消息会立刻出现在这里。',
    tryChat: '打开聊天，写下第一条消息',
    more: '继续查看更早的',
    older: '更早',
    erased: '（文字已清除）',
    next: '下一步',
    by: '由',
    oneConversation: '仅显示一个会话',
    places: { p2p: '私信', group: '群聊', topic: '话题', unknown: '其他位置' },
  },
}
