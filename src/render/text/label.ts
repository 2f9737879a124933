import type { Bearing, Language } from '../../collab/delivery.js'

const noModel: Readonly<Record<Language, string>> = { en: 'no model:', zh: '无模型：' }

const from: Readonly<Record<Language, (agent: string) => string>> = {
  en: (agent) => `From ${agent}, in its own words:`,
  zh: (agent) => `以下是 ${agent} 的原话：`,
}

const bearings: Readonly<Record<Language, Readonly<Record<Bearing, string>>>> = {
  en: {
    replaces: 'This replaces the earlier answer:',
    updates: 'This updates the earlier answer:',
    'before-correction': 'Written before your correction; an answer to that follows:',
  },
  zh: {
    replaces: '以下内容取代之前的回答：',
    updates: '以下是对之前回答的更新：',
    'before-correction': '以下写于您更正之前，针对更正的回答随后送到：',
  },
}

/**
 * What stands before an answer, said by us: that no model answered, whose words they are, and how they bear on another
 * answer to the same request. Empty for an answer that stands alone.
 */
export function answerLabel(
  answer: { readonly label: 'no-model' | null; readonly bearing?: Bearing; readonly from?: string },
  language: Language,
): string {
  return [
    ...(answer.label === null ? [] : [noModel[language]]),
    ...(answer.from === undefined ? [] : [from[language](answer.from)]),
    ...(answer.bearing === undefined ? [] : [bearings[language][answer.bearing]]),
  ].join(language === 'zh' ? '' : ' ')
}
