import type { Language } from '../../collab/delivery.js'

/** The words of the line that says on what the manager runs. */
export const managerWords = {
  en: {
    manager: 'Manager',
    individual: 'own sign-in',
    managed: 'operator’s credential',
    unclaimed: 'account not known',
    noModel: 'model not known',
    unavailable: 'Not available',
  },
  zh: {
    manager: '管理智能体',
    individual: '个人登录',
    managed: '运维方凭据',
    unclaimed: '账户未知',
    noModel: '模型未知',
    unavailable: '不可用',
  },
} as const satisfies Readonly<Record<Language, Readonly<Record<string, string>>>>
