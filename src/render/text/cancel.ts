import type { Language } from '../../collab/delivery.js'
import type { Notice } from '../../collab/notice.js'
import type { Cancellation, Happened } from '../../collab/project/cancellation.js'

type Words = {
  readonly asked: (waitsFor: 'turn' | 'effect') => string
  readonly acknowledged: string
  readonly tooLate: (happened: string, rest: boolean) => string
  readonly by: (agent: string, happened: string) => string
  readonly happened: (one: Happened) => string
  readonly between: string
}

const words: Readonly<Record<Language, Words>> = {
  en: {
    asked: (waitsFor) =>
      waitsFor === 'turn'
        ? 'Cancellation asked for. What runs now is being stopped; I say here what became of it.'
        : 'Cancellation asked for. It takes effect once the outcome of an outside act is known; I say here what became of it.',
    acknowledged: 'Cancelled. Nothing of it will run.',
    tooLate: (happened, rest) =>
      rest
        ? `Cancelled, but too late for this, which had already happened: ${happened}. Nothing more of it will run.`
        : `Too late to cancel. This had already happened: ${happened}.`,
    by: (agent, happened) =>
      `Cancelled, but too late for this, which ${agent} had already done: ${happened}. Nothing more of it will run.`,
    happened: (one) => {
      switch (one.what) {
        case 'answered':
          return 'it was answered'
        case 'effect':
          return `${one.effectKind} on ${one.target}`
        case 'work':
          return `${one.ref} changed (revision ${one.revision})`
      }
    },
    between: '; ',
  },
  zh: {
    asked: (waitsFor) =>
      waitsFor === 'turn'
        ? '已收到取消要求，正在停止当前的处理，结果会在这里告知。'
        : '已收到取消要求，待一项外部操作的结果明确后生效，结果会在这里告知。',
    acknowledged: '已取消，不会执行。',
    tooLate: (happened, rest) =>
      rest
        ? `已取消，但以下内容在取消之前已经发生：${happened}。其余部分不会再执行。`
        : `取消得太晚，以下内容已经发生：${happened}。`,
    by: (agent, happened) => `已取消，但 ${agent} 在取消之前已经完成：${happened}。其余部分不会再执行。`,
    happened: (one) => {
      switch (one.what) {
        case 'answered':
          return '已经给出回答'
        case 'effect':
          return `${one.effectKind}（${one.target}）`
        case 'work':
          return `${one.ref} 已变更（版本 ${one.revision}）`
      }
    },
    between: '；',
  },
}

/** How a cancellation stands, in one or two sentences; the same on every surface. */
export function cancellationText(cancellation: Cancellation, language: Language): string {
  const { asked, acknowledged, tooLate } = words[language]
  switch (cancellation.stands) {
    case 'asked':
      return asked(cancellation.waitsFor)
    case 'acknowledged':
      return acknowledged
    case 'too-late':
      return tooLate(listed(cancellation.happened, language), cancellation.rest)
  }
}

/** The notice of a cancellation that came too late; with an agent, of what that one had done for the request. */
export function tooLateText(notice: Extract<Notice, { kind: 'cancel-too-late' }>, language: Language): string {
  const happened = listed(notice.happened, language)
  return notice.by === null ? words[language].tooLate(happened, notice.rest) : words[language].by(notice.by, happened)
}

function listed(happened: readonly Happened[], language: Language): string {
  return happened.map(words[language].happened).join(words[language].between)
}
