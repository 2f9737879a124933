import { describe, expect, test } from 'vitest'
import { degrade, renderAnswer } from '../../src/render/answer.js'
import { imageNamed, MAX_CHARTS } from '../../src/render/named.js'
import { reportPage, withImages } from '../../src/render/report-page.js'
import type { Picture } from '../../src/render/view.js'
import { corpusView, shown, view } from './support.js'

const files = corpusView('').files ?? []
const nameOf = (picture: Picture): string => (picture.kind === 'file' ? picture.file.fileName : picture.fileName)
const chart = (title: string): string =>
  `\`\`\`chart\n${JSON.stringify({ type: 'bar', title, x: ['a'], series: [{ name: 's', values: [1] }] })}\n\`\`\``

describe('an image of the answer itself', () => {
  test.each([
    ['throughput.png', 'throughput.png'],
    ['./out/throughput.png', 'throughput.png'],
    ['/work/lane/throughput.png', 'throughput.png'],
    ['%E9%94%99%E8%AF%AF.png', '错误.png'],
    [`artifact:${'a'.repeat(64)}`, 'throughput.png'],
    [`sha256:${'B'.repeat(64)}`, '错误.png'],
    ['other.png', null],
    ['notes.pdf', null],
    [`artifact:${'0'.repeat(64)}`, null],
    ['https://e.test/throughput.png', null],
    ['file:throughput.png', null],
    ['%', null],
    ['', null],
  ])('%s names %s', (target, name) => {
    expect(imageNamed(target, files)?.fileName ?? null).toBe(name)
  })

  test('a name that two files have names neither', () => {
    const twice = [...files, { ...files[0]!, digest: 'd'.repeat(64) }]
    expect(imageNamed('throughput.png', twice)).toBeNull()
    expect(imageNamed(`artifact:${'d'.repeat(64)}`, twice)?.digest).toBe('d'.repeat(64))
  })

  test('follows the part that names it, once, however often it is named', () => {
    const filler = '一段文字。'.repeat(4_000)
    const { parts } = renderAnswer(
      corpusView(`![a](throughput.png)\n\n${filler}\n\n![b](错误.png) and ![c](throughput.png)`),
    )
    expect(parts.length).toBeGreaterThan(1)
    expect(parts.map((part) => part.pictures?.map(nameOf) ?? [])).toEqual([
      ['throughput.png'],
      ...parts.slice(2).map(() => []),
      ['错误.png'],
    ])
  })

  test('a short answer that shows one is a card with its name, and the plainer forms keep the name', () => {
    const { parts } = renderAnswer(corpusView('![The week](throughput.png)'))
    expect(parts.map(shown)).toEqual(['The week (throughput.png)'])
    for (const to of ['post', 'text'] as const) {
      expect(degrade(parts[0]!, to).map((each) => each.part.plain)).toEqual(['The week (throughput.png)'])
    }
  })
})

describe('a person', () => {
  const people = [{ openId: 'ou_wang', name: '王伟' }]

  test('whom the answer may call is called by id, in a card', () => {
    const { parts } = renderAnswer(view('Ask [@anybody **at all**](mention:ou_wang) now', { people }))
    expect(parts.map((part) => part.msgType)).toEqual(['interactive'])
    expect(parts.map(shown)).toEqual(['Ask <at id=ou_wang></at> now'])
    expect(parts[0]!.plain).toBe('Ask @王伟 now')
  })

  test.each(['mention:ou_other', 'mention:all', 'mention:ou_wang"x', 'mention:', 'mention:ou_wang ou_other'])(
    '%s stays words',
    (target) => {
      const { parts } = renderAnswer(view(`Ask [@Boss](<${target}>) now`, { people }))
      expect(parts.map((part) => part.plain)).toEqual(['Ask @Boss now'])
      for (const part of parts) expect(part.content).not.toContain('<at')
    },
  )

  test('whose name is not known is named in the words of the answer where they are not called', () => {
    const unnamed = [{ openId: 'ou_wang', name: '' }]
    const [part] = renderAnswer(view('Ask [@W](mention:ou_wang)', { people: unnamed })).parts
    expect(part!.content).toContain('<at id=ou_wang></at>')
    expect(degrade(part!, 'text').map((each) => each.part.plain)).toEqual(['Ask @W'])
  })

  test('nobody is called where the answer may call nobody', () => {
    const { parts } = renderAnswer(view('Ask [@W](mention:ou_wang)'))
    expect(parts.map((part) => part.plain)).toEqual(['Ask @W'])
    expect(parts[0]!.content).not.toContain('<at')
  })

  test('in a plainer form they are named', () => {
    const [part] = renderAnswer(view('Ask [@W](mention:ou_wang)', { people })).parts
    for (const to of ['post', 'text'] as const) {
      expect(degrade(part!, to).map((each) => each.part.plain)).toEqual(['Ask @王伟'])
    }
  })
})

describe('a chart', () => {
  test('is a title, its data as a table, and a picture after the part', () => {
    const { parts } = renderAnswer(view(`Before.\n\n${chart('T')}\n\nAfter.`))
    expect(parts.map((part) => part.plain)).toEqual(['Before. T | | s | | a | 1 | After.'])
    expect(parts[0]!.pictures?.map(nameOf)).toEqual(['chart-1.png'])
  })

  test(`only the first ${MAX_CHARTS} are painted; the data of all are there`, () => {
    const { parts } = renderAnswer(view(Array.from({ length: 9 }, (_, n) => chart(`T${n}`)).join('\n\n')))
    expect(parts.flatMap((part) => part.pictures ?? [])).toHaveLength(MAX_CHARTS)
    for (let n = 0; n < 9; n++) expect(parts.map((part) => part.plain).join(' ')).toContain(`T${n}`)
  })

  test('in a list or a quote it is a chart as well', () => {
    const nested = chart('T').replaceAll('\n', '\n  ')
    expect(renderAnswer(view(`- item\n\n  ${nested}`)).parts[0]!.pictures).toHaveLength(1)
  })
})

describe('the page of a report', () => {
  const page = reportPage({
    title: 't',
    markdown: `![The week](throughput.png) ![far](https://e.test/p.png)\n\n${chart('<T>')}`,
    language: 'en',
    files,
  })

  test('has its images and charts in it and asks nobody for anything', () => {
    expect(page.images.map((file) => file.fileName)).toEqual(['throughput.png'])
    const html = withImages(page.html, new Map([['a'.repeat(64), { mediaType: 'image/png', base64: 'AAAA' }]]))
    expect(html).toContain('<img src="data:image/png;base64,AAAA" alt="The week">')
    expect(html).toContain('<a href="https://e.test/p.png"')
    const sources = [...html.matchAll(/src="([^"]*)"/g)].map(([, source = '']) => source.slice(0, 20))
    expect(sources.every((source) => source.startsWith('data:image/'))).toBe(true)
    expect(html).toContain('img-src data:')
  })

  test('draws a chart and keeps its data', () => {
    const drawing = /src="data:image\/svg\+xml;base64,([^"]+)"/.exec(page.html)?.[1] ?? ''
    expect(Buffer.from(drawing, 'base64').toString('utf8')).toContain('&lt;T&gt;</text>')
    expect(page.html).toContain('<th>s</th>')
    expect(page.html).toContain('<strong>&lt;T&gt;</strong>')
  })

  test('an image whose bytes cannot be had leaves its words', () => {
    const html = withImages(page.html, new Map())
    expect(html).toContain('<img alt="The week">')
    expect(html).not.toContain('artifact:')
  })

  test('words of the answer are not taken for an image of it', () => {
    const text = reportPage({ title: 't', markdown: `x src="artifact:${'a'.repeat(64)}" y`, language: 'en', files })
    expect(withImages(text.html, new Map([['a'.repeat(64), { mediaType: 'image/png', base64: 'AAAA' }]]))).toBe(
      text.html,
    )
  })

  test('images beyond what a page can hold stay names', () => {
    const large = files.slice(0, 2).map((file) => ({ ...file, size: 5_000_000 }))
    const two = reportPage({
      title: 't',
      markdown: '![a](throughput.png) ![b](错误.png)',
      language: 'en',
      files: large,
    })
    expect(two.images).toHaveLength(1)
    expect(two.html).toContain('<span>b</span> (错误.png)')
  })

  test('shows the boxes of a task list', () => {
    expect(reportPage({ title: 't', markdown: '- [ ] a\n- [x] b', language: 'en' }).html).toContain(
      '<li>☐ a</li>\n<li>☑ b</li>',
    )
  })
})
