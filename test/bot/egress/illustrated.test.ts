import { expect, test } from 'vitest'
import { planParts, type PlanParts } from '../../../src/bot/egress/plan.js'
import type { Outgoing, OutgoingFile } from '../../../src/collab/channel.js'
import { sha256 } from '../../../src/lib/digest.js'
import { renderAnswer } from '../../../src/render/answer.js'
import type { AnswerView, RenderedAnswer } from '../../../src/render/view.js'
import { attachedWhole } from '../../../src/render/whole.js'

const bytesOf = (text: string): Uint8Array => Buffer.from(text)
const file = (fileName: string, mediaType: string, bytes = bytesOf(fileName)): OutgoingFile => ({
  digest: sha256(bytes),
  fileName,
  mediaType,
  size: bytes.byteLength,
})

function store(render: (view: AnswerView) => RenderedAnswer = renderAnswer, readable = true) {
  const kept = new Map<string, Uint8Array>()
  const parts: PlanParts = {
    renderAnswer: (view) => Promise.resolve(render(view)),
    storeFile(bytes, fileName, mediaType) {
      const stored = file(fileName, mediaType, bytes)
      kept.set(stored.digest, bytes)
      return Promise.resolve(stored)
    },
    async *readFile(digest) {
      if (!readable) throw new Error('gone')
      yield kept.get(digest) ?? bytesOf('image bytes')
    },
  }
  return { parts, kept }
}

const answer = (markdown: string, attachments: readonly OutgoingFile[] = []): Outgoing => ({
  kind: 'answer',
  markdown,
  conclusion: null,
  label: null,
  refusedOperations: [],
  language: 'en',
  reportName: 'report',
  attachments,
})

const chart = JSON.stringify({ type: 'bar', title: 'T', x: ['a'], series: [{ name: 's', values: [1] }] })
const painted = (png: Uint8Array | null) => (view: AnswerView) => {
  const rendered = renderAnswer(view)
  const parts = rendered.parts.map((part) => ({
    ...part,
    pictures: (part.pictures ?? []).map((picture) => (picture.kind === 'chart' ? { ...picture, png } : picture)),
  }))
  return { ...rendered, parts }
}

test('an image that the answer names follows its message; the other files come at the end', async () => {
  const files = [file('notes.pdf', 'application/pdf'), file('plot.png', 'image/png')]
  const planned = await planParts(answer('See ![the plot](plot.png).', files), store().parts)
  expect(planned.map((part) => [part.msgType, part.file?.fileName ?? null])).toEqual([
    ['interactive', null],
    ['image', 'plot.png'],
    ['file', 'notes.pdf'],
  ])
})

test('a chart is stored and sent as a picture after its data', async () => {
  const { parts, kept } = store(painted(bytesOf('png')))
  const planned = await planParts(answer(`\`\`\`chart\n${chart}\n\`\`\``), parts)
  expect(planned.map((part) => [part.msgType, part.file?.fileName ?? null])).toEqual([
    ['interactive', null],
    ['image', 'chart-1.png'],
  ])
  expect(kept.get(planned[1]!.file!.digest)).toEqual(bytesOf('png'))
})

test('a chart that cannot be painted is its data alone', async () => {
  const planned = await planParts(answer(`\`\`\`chart\n${chart}\n\`\`\``), store(painted(null)).parts)
  expect(planned.map((part) => part.msgType)).toEqual(['interactive'])
  expect(planned[0]!.content).toContain('| a | 1 |')
})

test('an image that cannot be sent keeps its words, and a line says why', async () => {
  const planned = await planParts(
    answer('![x](empty.png)', [file('empty.png', 'image/png', bytesOf(''))]),
    store().parts,
  )
  expect(planned.map((part) => part.msgType)).toEqual(['interactive', 'text'])
  expect(planned[0]!.content).toContain('x (empty.png)')
  expect(planned[1]!.content).toContain('empty.png')
})

test.each([true, false])('the page of a report holds its images (bytes readable: %s)', async (readable) => {
  const { parts, kept } = store(renderAnswer, readable)
  const plot = file('plot.png', 'image/png')
  const planned = await planParts(answer(`![plot](plot.png)\n\n${'word '.repeat(60_000)}`, [plot]), parts)
  const page = planned.find((part) => part.file?.mediaType === 'text/html')?.file
  const html = Buffer.from(kept.get(page?.digest ?? '') ?? []).toString('utf8')
  const encoded = Buffer.from('image bytes').toString('base64')
  expect(html).toContain(readable ? `src="data:image/png;base64,${encoded}" alt="plot"` : '<img alt="plot">')
  // In the chat it is shown as well, after the beginning of the answer that names it.
  expect(planned.map((part) => part.file?.fileName ?? part.msgType)).toEqual([
    'interactive',
    'plot.png',
    'report.md',
    'report.html',
  ])
})

test('an answer that could not be read is sent as it was written, and its parts say so', async () => {
  const planned = await planParts(answer('**x**'), store(attachedWhole).parts)
  expect(planned.map((part) => [part.msgType, part.file?.fileName ?? null])).toEqual([
    ['text', null],
    ['file', 'report.md'],
  ])
  expect(planned[0]!.content).toContain('**x**')
  expect(planned[0]!.renderer).toContain('unread')
})

test('people are called only where the answer may call them', async () => {
  const people = [{ openId: 'ou_wang', name: '王伟' }]
  const markdown = 'Ask [@W](mention:ou_wang)'
  const [called] = await planParts({ ...answer(markdown), people } as Outgoing, store().parts)
  expect(called!.content).toContain('<at id=ou_wang></at>')
  const [named] = await planParts(answer(markdown), store().parts)
  expect(named!.content).not.toContain('<at')
})
