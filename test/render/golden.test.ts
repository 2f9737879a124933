import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { degrade, renderAnswer, type RenderedPart } from '../../src/render/answer.js'
import { BREAKER } from '../../src/render/defuse.js'
import { corpusView, elementsOf } from './support.js'

/**
 * Every answer of `corpus/` as it is sent, in each message type. `npx vitest run --config test/vitest.config.ts
 * test/render/golden.test.ts -u` writes `golden/` anew; what changed there is read before it is committed.
 */
const corpus = new URL('./corpus/', import.meta.url)
const names = readdirSync(corpus).filter((name) => name.endsWith('.md'))

/** A page for a reviewer: what each part says in each message type, the invisible breaker made visible. */
function page(part: RenderedPart): string {
  const card =
    part.msgType === 'text'
      ? (JSON.parse(part.content) as { text: string }).text
      : elementsOf(part)
          .map((element) => `<${element.tag}>\n${element.content ?? ''}`)
          .join('\n')
  const post = degrade(part, 'post').map(({ part: each }) => {
    const { zh_cn } = JSON.parse(each.content) as { zh_cn: { content: unknown[] } }
    return zh_cn.content.map((line) => JSON.stringify(line)).join('\n')
  })
  const text = degrade(part, 'text').map(({ part: each }) => (JSON.parse(each.content) as { text: string }).text)
  const pictures = (part.pictures ?? []).map((picture) =>
    picture.kind === 'file'
      ? `----- picture ${picture.file.fileName}`
      : `----- picture ${picture.fileName}\n${picture.svg}`,
  )
  const sections = [
    `===== ${part.msgType}, ${part.bytes} bytes`,
    card,
    '----- post',
    ...post,
    '----- text',
    ...text,
    ...pictures,
  ]
  return sections.join('\n').replaceAll(BREAKER, '{breaker}')
}

describe('golden answers', () => {
  test('there are enough of them to notice a change', () => {
    expect(names.length).toBeGreaterThanOrEqual(60)
  })

  test.each(names)('%s', async (name) => {
    const { parts, attachments } = renderAnswer(corpusView(readFileSync(new URL(name, corpus), 'utf8')))
    const files = attachments.map((file) => `===== file ${file.fileName}, ${file.text.length} characters`)
    await expect(`${[...parts.map(page), ...files].join('\n')}\n`).toMatchFileSnapshot(
      `./golden/${name.replace('.md', '.txt')}`,
    )
  })
})
