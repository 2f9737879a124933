import type { Language } from '../../collab/delivery.js'

/** One written instruction that the rehearsal runtime follows. */
export interface Directive {
  readonly name: string
  /** As an owner writes it, on a line of its own. */
  readonly usage: string
  readonly help: Readonly<Record<Language, string>>
}

/**
 * Every directive there is. A directive is a line of the owner's message that begins with `!` and one of these
 * names; directives are followed from top to bottom, and nothing else in the message has any effect.
 */
export const directives = [
  {
    name: 'reply',
    usage: '!reply <markdown>',
    help: {
      en: 'answer with this text as it stands; it may go on over many lines, to !end or to the end',
      zh: '原样回复这段文字；可以有多行，到 !end 或消息末尾为止',
    },
  },
  {
    name: 'say',
    usage: '!say <markdown>',
    help: { en: 'the same as !reply', zh: '与 !reply 相同' },
  },
  {
    name: 'conclusion',
    usage: '!conclusion <one line>',
    help: { en: 'give the answer this conclusion', zh: '给回答加上这句结论' },
  },
  {
    name: 'long',
    usage: '!long 120kb',
    help: {
      en: 'a long answer of about this size, with headings, lists, tables, code and Chinese text (1–1024kb)',
      zh: '约这么大的长回答，含标题、列表、表格、代码和中文（1–1024kb）',
    },
  },
  {
    name: 'parts',
    usage: '!parts 3',
    help: { en: 'an answer that needs about this many messages (1–20)', zh: '大约需要这么多条消息的回答（1–20）' },
  },
  {
    name: 'table',
    usage: '!table 7',
    help: { en: 'an answer with this many small tables (1–50)', zh: '含这么多个小表格的回答（1–50）' },
  },
  {
    name: 'attach',
    usage: '!attach chart.png',
    help: {
      en: 'give a file with the answer: a picture for .png, else a short text',
      zh: '随回答附上一个文件：.png 为图片，其他为短文本',
    },
  },
  {
    name: 'ask',
    usage: '!ask <operation>',
    help: {
      en: 'ask for approval of this operation, then say how it was decided; nothing is ever done',
      zh: '请求批准这项操作，然后说明决定；不会真的执行',
    },
  },
  {
    name: 'delay',
    usage: '!delay 5s',
    help: { en: 'wait so long (ms, s or m; at most 10m)', zh: '等待这么久（ms、s 或 m；最长 10m）' },
  },
  {
    name: 'think',
    usage: '!think',
    help: { en: 'show that it is thinking', zh: '显示正在思考' },
  },
  {
    name: 'turn',
    usage: '!turn',
    help: { en: 'say which turn of its session this is', zh: '说明这是本会话的第几轮' },
  },
  {
    name: 'fail',
    usage: '!fail exit',
    help: {
      en: 'end without an answer: exit, hang, silent, garbage, unavailable or too-large',
      zh: '不给回答就结束：exit、hang、silent、garbage、unavailable 或 too-large',
    },
  },
] as const satisfies readonly Directive[]

export type DirectiveName = (typeof directives)[number]['name']

export const failures = ['exit', 'hang', 'silent', 'garbage', 'unavailable', 'too-large'] as const
export type RehearsedFailure = (typeof failures)[number]

/** All directives as Markdown list lines. */
export function directiveList(language: Language): string {
  return directives.map(({ usage, help }) => `- \`${usage}\` — ${help[language]}`).join('\n')
}
