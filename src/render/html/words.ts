import type { Language } from '../../collab/delivery.js'

export interface PageWords {
  readonly product: string
  readonly skip: string
  readonly navigation: string
  readonly requests: string
  readonly chat: string
  readonly queues: string
  readonly signIn: string
  readonly signOut: string
  readonly token: string
  readonly signInHint: string
  readonly codeSpent: string
  readonly tokenWrong: string
  readonly notFound: string
  readonly notFoundHint: string
  readonly backToList: string
}

/** The words around the content, in both languages. */
export const pageWords: Readonly<Record<Language, PageWords>> = {
  en: {
    product: 'lark-manager',
    skip: 'Skip to content',
    navigation: 'Pages',
    requests: 'Requests',
    chat: 'Chat',
    queues: 'Queues',
    signIn: 'Sign in',
    signOut: 'Sign out',
    token: 'Admin token',
    signInHint:
      'Open the sign-in link that the start printed, or make a new one with lark-manager setup --sign-in. The admin token works, too.',
    codeSpent: 'This link was used already or is older than 15 minutes. Make a new one, or use the admin token.',
    tokenWrong: 'That is not the admin token.',
    notFound: 'There is nothing here',
    notFoundHint: 'The address may be mistyped, or it belongs to another gateway.',
    backToList: 'All requests',
  },
  zh: {
    product: 'lark-manager',
    skip: '跳到正文',
    navigation: '页面',
    requests: '请求',
    chat: '聊天',
    queues: '队列',
    signIn: '登录',
    signOut: '退出',
    token: '管理员令牌',
    signInHint: '请打开启动时打印的登录链接，或用 lark-manager setup --sign-in 生成新的链接；也可以使用管理员令牌。',
    codeSpent: '这个链接已使用过，或已超过 15 分钟。请生成新的链接，或使用管理员令牌。',
    tokenWrong: '管理员令牌不正确。',
    notFound: '这里没有内容',
    notFoundHint: '地址可能有误，或属于另一个网关。',
    backToList: '全部请求',
  },
}
