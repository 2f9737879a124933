/** The few sentences a long answer adds to itself. */
export interface AnswerWords {
  readonly empty: string
  /** Above the first blocks of an answer that is only attached as a whole. */
  readonly beginning: (fileNames: string) => string
  /** Below a conclusion. */
  readonly fullReport: (fileNames: string) => string
  /** Above the first blocks of a conclusion that is itself too long. */
  readonly conclusionBeginning: (fileNames: string) => string
  /** Alone, when not even a beginning fits a message. */
  readonly onlyAttached: (fileNames: string) => string
}

export const answerWords = {
  en: {
    empty: 'The answer is empty.',
    beginning: (files) => `This is the beginning of the answer. The whole answer is attached: ${files}`,
    fullReport: (files) => `The full report is attached: ${files}`,
    conclusionBeginning: (files) =>
      `This is the beginning of the conclusion. It is attached in full, with the report: ${files}`,
    onlyAttached: (files) => `The answer does not fit a message. It is attached in full: ${files}`,
  },
  zh: {
    empty: '回答是空的。',
    beginning: (files) => `以下是回答的开头，完整回答见附件：${files}`,
    fullReport: (files) => `完整报告见附件：${files}`,
    conclusionBeginning: (files) => `以下是结论的开头，完整结论和报告见附件：${files}`,
    onlyAttached: (files) => `回答放不进一条消息，完整内容见附件：${files}`,
  },
} as const satisfies Record<'en' | 'zh', AnswerWords>
