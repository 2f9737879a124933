import { describe, expect, onTestFinished, test } from 'vitest'
import type { OtherForm, Outgoing, PlannedPart, Restating } from '../../../src/collab/channel.js'
import { must } from '../../../src/lib/assert.js'
import { CARD_MAX_BYTES, requestBytes, TEXT_MAX_BYTES } from '../../../src/render/wire.js'
import { closeRenderWorker } from '../../../src/render/worker.js'
import { textPart as sendable } from '../../contracts/channel.js'
import { openChannel } from './given.js'

const answer = (
  markdown: string,
  attachments: Extract<Outgoing, { kind: 'answer' }>['attachments'] = [],
): Outgoing => ({
  kind: 'answer',
  markdown,
  conclusion: null,
  label: null,
  refusedOperations: [],
  language: 'en',
  reportName: 'report',
  attachments,
})
const about: Restating = { language: 'en', page: 'https://m.test/requests/r1', answers: null }
const naming = (words: string | null): Restating => ({
  ...about,
  answers: { kind: 'answers-gone', words, minutes: 12, request: 'ab12cd34' },
})
const rich = (times: number) =>
  Array.from(
    { length: times },
    (_, n) =>
      `## 第 ${n} 节\n\nSome **bold** and [a link](https://e.test/${n}).\n\n| k | 值 |\n| - | - |\n| a${n} | ${n} |\n\n\`\`\`ts\nlet x = ${n}\n\`\`\``,
  ).join('\n\n')
const words = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '')

/** The card of an answer, the channel, and a way to send what it makes of it to the sandbox and read it back. */
async function given(markdown: string) {
  const opened = await openChannel()
  onTestFinished(closeRenderWorker)
  const route = opened.asked('direct')
  const [card] = await opened.channel.plan(answer(markdown), route)
  const arrives = async (parts: readonly PlannedPart[]) => {
    for (const part of parts) {
      expect(part.bytes).toBe(requestBytes(part.content))
      expect(part.bytes).toBeLessThanOrEqual(part.msgType === 'text' ? TEXT_MAX_BYTES : CARD_MAX_BYTES)
      const sent = { ...sendable(route, ''), msgType: part.msgType, content: part.content }
      const reply = await opened.channel.send(sent)
      expect(reply).toMatchObject({ reply: 'taken' })
      const id = reply.reply === 'taken' ? reply.messageId : ''
      expect(await opened.channel.readBack(id, sent, part.plain)).toEqual({ found: 'as-sent' })
    }
  }
  const again = (part: PlannedPart, as: OtherForm, how = about) => opened.channel.restate(part, as, how)
  return { ...opened, card: must(card, 'a card'), arrives, again }
}

describe('what the platform refused for its content', () => {
  test.each([3, 60])(
    'a card with %d sections becomes posts, these texts, with every word, and all is taken',
    async (times) => {
      const { card, again, arrives } = await given(rich(times))
      expect(card.msgType).toBe('interactive')
      const posts = await again(card, 'plainer')
      expect(new Set(posts.map((part) => part.msgType))).toEqual(new Set(['post']))
      const texts = (await Promise.all(posts.map((post) => again(post, 'plainer')))).flat()
      expect(new Set(texts.map((part) => part.msgType))).toEqual(new Set(['text']))
      const said = (parts: readonly PlannedPart[]) => words(parts.map((part) => part.plain).join(' '))
      expect(said(texts)).toBe(said(posts))
      for (const n of [0, 1, 2]) expect(said(texts)).toContain(`a${n}${n}`)
      await arrives([...posts, ...texts])
      for (const text of texts) expect(await again(text, 'plainer')).toEqual([])
    },
  )
})

describe('what the platform refused for its size', () => {
  test('a card becomes smaller cards and a text smaller texts, down to what is no message', async () => {
    const { card, again, arrives } = await given(rich(60))
    let pieces: readonly PlannedPart[] = await again(card, 'smaller')
    expect(pieces.length).toBeGreaterThan(1)
    await arrives(pieces)
    for (let rounds = 0; pieces.length > 0; rounds++) {
      expect(rounds).toBeLessThan(12)
      pieces = await again(must(pieces[0], 'a piece'), 'smaller')
    }
    const [post] = await again(card, 'plainer')
    const [text] = await again(must(post, 'a post'), 'plainer')
    const texts = await again(must(text, 'a text'), 'smaller')
    expect(texts.length).toBeGreaterThan(1)
    expect(words(texts.map((part) => part.plain).join(''))).toBe(words(text?.plain ?? ''))
    await arrives(texts)
  })
})

describe('a question that cannot be replied to', () => {
  test('text, post and card name it in the same message, and mention nobody', async () => {
    const { card, again, arrives } = await given(rich(3))
    const posts = await again(card, 'plainer')
    const texts = await again(must(posts[0], 'a post'), 'plainer')
    for (const part of [card, ...posts, ...texts]) {
      const made = await again(part, 'new-message', naming('<at user_id="all">all</at> what is **this**?'))
      expect(made).toHaveLength(1)
      expect(made[0]?.content).toContain('ab12cd34')
      expect(made[0]?.content).not.toMatch(/[^"]<at user_id/)
      await arrives(made)
    }
  })

  test('a full card is named in a message of its own before it; so is a file', async () => {
    const { card, again, arrives, channel, asked } = await given(rich(3))
    const filler = { tag: 'markdown', content: 'x'.repeat(CARD_MAX_BYTES - 800) }
    const content = JSON.stringify({ schema: '2.0', config: { update_multi: true }, body: { elements: [filler] } })
    const full = { ...card, content, bytes: requestBytes(content) }
    const named = await again(full, 'new-message', naming(null))
    expect(named.map((part) => part.msgType)).toEqual(['text', 'interactive'])
    expect(named[1]).toEqual(full)
    await arrives(named)
    const file = { digest: 'd'.repeat(64), fileName: '报告.pdf', mediaType: 'application/pdf', size: 4 }
    const parts = await channel.plan(answer('see', [file]), asked('direct'))
    const part = must(
      parts.find((one) => one.file !== null),
      'a file',
    )
    const [before, itself] = await again(part, 'new-message', naming(null))
    expect(before).toMatchObject({ msgType: 'text' })
    expect(itself).toEqual(part)
  })

  test('what follows an earlier part that named it is left as it is', async () => {
    const { card, again } = await given(rich(3))
    expect(await again(card, 'new-message')).toEqual([card])
  })
})

describe('a file that is refused', () => {
  test('a picture goes as a file, a file becomes a line with its page', async () => {
    const { channel, asked, again, arrives } = await given('x')
    const picture = { digest: 'd'.repeat(64), fileName: '图 1.png', mediaType: 'image/png', size: 4 }
    const parts = await channel.plan(answer('see', [picture]), asked('direct'))
    const image = must(
      parts.find((one) => one.msgType === 'image'),
      'a picture',
    )
    const [asFile] = await again(image, 'plainer')
    expect(asFile).toMatchObject({ msgType: 'file', file: { fileName: '图 1.png' } })
    const line = await again(must(asFile, 'a file'), 'plainer')
    expect(line[0]?.plain).toMatch(/图 1\.png was not accepted.*https:\/\/m\.test\/requests\/r1/)
    await arrives(line)
    expect(await again(must(asFile, 'a file'), 'smaller')).toEqual([])
  })
})
