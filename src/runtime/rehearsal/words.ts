import type { Language } from '../../collab/delivery.js'
import { directiveList, directives, type DirectiveName } from './directives.js'

/** Characters of the owner's message that the plain answer quotes at most. */
const QUOTE = 60

/** The answer to a message without directives: what was received, what can be rehearsed, how a model is connected. */
export function plainAnswer(message: string, attachments: number, language: Language): string {
  const characters = [...message].length
  const quoted = quote(message)
  const list = directiveList(language)
  if (language === 'zh') {
    return [
      `没有连接模型，所以没有人读懂这条消息。已收到 ${characters} 个字符和 ${attachments} 个附件${quoted === '' ? '。' : `：“${quoted}”`}`,
      '要连接真正的运行时，请把 `MANAGER_ENDPOINT` 设为 `acp`，在 `MANAGER_COMMAND` 里写上智能体的命令，然后重新启动。',
      `在此之前，可以用下面的指令排练，每条指令单独占一行：\n\n${list}`,
    ].join('\n\n')
  }
  return [
    `No model is connected, so nothing has understood this message. Received: ${characters} characters and ${attachments} attachments${quoted === '' ? '.' : `: “${quoted}”`}`,
    'To connect a real runtime, set `MANAGER_ENDPOINT` to `acp` and `MANAGER_COMMAND` to the command of an agent, then start again.',
    `Until then these directives can be rehearsed, each on a line of its own:\n\n${list}`,
  ].join('\n\n')
}

function quote(message: string): string {
  const line = message.replace(/[\s`*_[\]<>|#~]+/gu, ' ').trim()
  const characters = [...line]
  return characters.length <= QUOTE ? line : `${characters.slice(0, QUOTE).join('')}…`
}

/** Sentences that say what a directive did. */
export const said: Readonly<
  Record<
    Language,
    {
      readonly allowed: (operation: string) => string
      readonly refused: (operation: string) => string
      readonly turn: (turn: number) => string
      readonly attached: (names: readonly string[]) => string
      readonly waited: (ms: number) => string
      readonly done: string
      readonly usage: (name: DirectiveName) => string
    }
  >
> = {
  en: {
    allowed: (operation) => `Allowed: ${operation}. A rehearsal does nothing with it.`,
    refused: (operation) => `Refused: ${operation}. Nothing was done.`,
    turn: (turn) => `This is turn ${turn} of this session.`,
    attached: (names) => `Attached: ${names.join(', ')}.`,
    waited: (ms) => `Waited ${ms / 1000} s.`,
    done: 'Done.',
    usage: (name) => `This directive is written \`${usageOf(name)}\`: ${helpOf(name, 'en')}.`,
  },
  zh: {
    allowed: (operation) => `已允许：${operation}。排练不会真的执行。`,
    refused: (operation) => `已拒绝：${operation}。什么都没有做。`,
    turn: (turn) => `这是本会话的第 ${turn} 轮。`,
    attached: (names) => `已附上：${names.join('、')}。`,
    waited: (ms) => `等待了 ${ms / 1000} 秒。`,
    done: '完成。',
    usage: (name) => `这条指令应写成 \`${usageOf(name)}\`：${helpOf(name, 'zh')}。`,
  },
}

function usageOf(name: DirectiveName): string {
  return directives.find((directive) => directive.name === name)?.usage ?? `!${name}`
}

function helpOf(name: DirectiveName, language: Language): string {
  return directives.find((directive) => directive.name === name)?.help[language] ?? ''
}
