import type { Language } from '../../collab/delivery.js'
import type { SendRefusal } from '../../collab/channel.js'

type Why = SendRefusal | 'planning' | 'empty' | 'text-erased' | 'given-up'

const words: Readonly<Record<Language, Readonly<Record<Why, string>>>> = {
  en: {
    'target-gone': 'the chat or what it answers is not there any more',
    'not-permitted': 'the bot may not write there',
    'bad-format': 'Lark does not take it in this form',
    'too-long': 'it is too long for one message',
    'content-audit': 'the content check of Lark refused it',
    'cannot-reply-here': 'nothing can be answered there',
    configuration: 'the app is not set up for it',
    planning: 'its form could not be worked out',
    empty: 'nothing was in it',
    'text-erased': 'its text was erased',
    'given-up': 'it was let be by hand',
  },
  zh: {
    'target-gone': '聊天或被回复的消息已不存在',
    'not-permitted': '机器人不能在那里发言',
    'bad-format': '飞书不接受这种格式',
    'too-long': '内容超出一条消息的长度',
    'content-audit': '飞书的内容审核拒绝了它',
    'cannot-reply-here': '那里不能回复',
    configuration: '应用没有相应的配置',
    planning: '未能排好它的格式',
    empty: '里面没有内容',
    'text-erased': '它的文字已被删除',
    'given-up': '已人工决定不再处理',
  },
}

const file: Readonly<Record<Language, (why: string) => string>> = {
  en: (why) => `a file: ${why}`,
  zh: (why) => `文件：${why}`,
}

/** Why an answer did not arrive, for a reader; a reason without words of its own is named as it is on record. */
export function whyUndelivered(reason: string, language: Language): string {
  const ofFile = /^upload-(.+)$/.exec(reason)?.[1]
  if (ofFile !== undefined) return file[language](whyUndelivered(ofFile, language))
  const known: Readonly<Record<string, string>> = words[language]
  return Object.hasOwn(known, reason) ? (known[reason] ?? reason) : reason
}
