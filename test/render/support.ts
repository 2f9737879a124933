import type { AnswerView, RenderedPart } from '../../src/render/answer.js'

export const view = (markdown: string, more: Partial<AnswerView> = {}): AnswerView => ({
  markdown,
  language: 'en',
  reportName: 'report',
  ...more,
})

/** The answer of a corpus file, with the files and the people that the corpus speaks of. */
export const corpusView = (markdown: string): AnswerView =>
  view(markdown, {
    files: [
      { digest: 'a'.repeat(64), fileName: 'throughput.png', mediaType: 'image/png', size: 68 },
      { digest: 'b'.repeat(64), fileName: '错误.png', mediaType: 'image/png', size: 68 },
      { digest: 'c'.repeat(64), fileName: 'notes.pdf', mediaType: 'application/pdf', size: 9 },
    ],
    people: [{ openId: 'ou_wang', name: '王伟' }],
  })

export interface ShownElement {
  readonly tag: string
  readonly content?: string
}

/** The elements of a card, read back from the exact content string. */
export function elementsOf(part: RenderedPart): readonly ShownElement[] {
  return (JSON.parse(part.content) as { body: { elements: ShownElement[] } }).body.elements
}

/** What a part says in its own notation. */
export function shown(part: RenderedPart): string {
  if (part.msgType === 'text') return (JSON.parse(part.content) as { text: string }).text
  return elementsOf(part)
    .map((element) => element.content ?? `[${element.tag}]`)
    .join('\n\n')
}

/** Bytes of a request as it would be made: the fields beside content at their real length. */
export function realRequestBytes(part: RenderedPart): number {
  const body = {
    receive_id: `oc_${'0'.repeat(32)}`,
    msg_type: part.msgType,
    content: part.content,
    uuid: '0'.repeat(40),
  }
  return Buffer.byteLength(JSON.stringify(body))
}
