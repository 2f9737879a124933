import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { degrade, renderAnswer, type RenderedPart } from '../../src/render/answer.js'
import { type Construct, constructs, type Form, targets } from '../../src/render/targets.js'
import { corpusView } from './support.js'

/** One example of each, and how each form looks on the wire of each message type. */
const samples: Readonly<Record<Construct, string>> = {
  heading: '# Word',
  emphasis: 'a **word** *it* ~~gone~~',
  list: '- word\n- two',
  task: '- [x] word',
  quote: '> word',
  rule: 'a\n\n---\n\nb',
  table: '| head |\n|---|\n| word |',
  'code block': '```sql\nword\n```',
  'inline code': 'a `word`',
  footnote: 'word[^1]\n\n[^1]: note',
  formula: '$$\na_1\n$$',
  link: '[word](https://e.test/p)',
  image: '![word](throughput.png)',
  person: '[@word](mention:ou_wang)',
  html: 'a <b>word</b>',
}

type Type = RenderedPart['msgType']
const looks: Readonly<Record<Construct, Readonly<Record<Type, RegExp>>>> = {
  heading: { interactive: /"### Word"/, post: /"text":"Word","style":\["bold"\]/, text: /"Word"/ },
  emphasis: {
    interactive: /\*\*word\*\* \*it\* ~~gone~~/,
    post: /"word","style":\["bold"\].*"it","style":\["italic"\].*"gone","style":\["lineThrough"\]/,
    text: /"a word it gone"/,
  },
  list: { interactive: /- word\\n- two/, post: /• word/, text: /• word/ },
  task: { interactive: /- ☑ word/, post: /"☑ word"/, text: /"☑ word"/ },
  quote: { interactive: /> word/, post: /> word/, text: /> word/ },
  rule: { interactive: /"tag":"hr"/, post: /"tag":"hr"/, text: /———/ },
  table: {
    interactive: /\| head \|\\n\| --- \|/,
    post: /"tag":"code_block","text":"\| head \|/,
    text: /"\| head \|\\n\| word \|"/,
  },
  'code block': { interactive: /```sql\\nword\\n```/, post: /"code_block","language":"SQL"/, text: /"word"/ },
  'inline code': { interactive: /`word`/, post: /"a word"/, text: /"a word"/ },
  footnote: { interactive: /word¹\\n\\n¹ note/, post: /word¹/, text: /word¹\\n\\n¹ note/ },
  formula: { interactive: /```latex\\na_1\\n```/, post: /"code_block","text":"a_1"/, text: /"a_1"/ },
  link: {
    interactive: /\[word\]\(https:\/\/e\.test\/p\)/,
    post: /"tag":"a","text":"word","href":"https:\/\/e\.test\/p"/,
    text: /word \(https:\/\/e\.test\/p\)/,
  },
  image: {
    interactive: /word \(throughput\.png\)/,
    post: /word \(throughput\.png\)/,
    text: /word \(throughput\.png\)/,
  },
  person: { interactive: /<at id=ou_wang><\/at>/, post: /"@王伟"/, text: /"@王伟"/ },
  html: { interactive: /&#60;b>word&#60;\/b>/, post: /<b>word<\/b>/, text: /<\u200bb>word<\u200b\/b>/ },
}

/** A part of each type that says the sample, made the way it is made in earnest. */
function contentOf(construct: Construct, type: Type): { content: string; pictures: number } {
  const [card] = renderAnswer(corpusView(`lead\n\n${samples[construct]}`)).parts
  const alone = renderAnswer(corpusView(samples[construct])).parts[0]!
  const part =
    type === 'interactive' ? (alone.msgType === 'interactive' ? alone : card!) : degrade(alone, type)[0]!.part
  return { content: part.content, pictures: alone.pictures?.length ?? 0 }
}

describe('what the table of message types says is what is sent', () => {
  test.each(
    constructs.flatMap((construct) =>
      (['interactive', 'post', 'text'] as const).map((type) => [construct, type] as const),
    ),
  )('%s in %s', (construct, type) => {
    const { content, pictures } = contentOf(construct, type)
    expect(content).toMatch(looks[construct][type])
    expect(pictures > 0).toBe(targets[type].forms[construct] === 'message')
  })

  test('forms that say the same look the same, and others do not', () => {
    // `native` and `style` are what only the client shows; a text message knows neither.
    const plain: readonly Form[] = ['sign', 'code', 'text', 'message']
    for (const construct of constructs) expect(plain).toContain(targets.text.forms[construct])
    expect(targets.post.limits.tables).toBe(0)
    expect(targets.interactive.limits.tables).toBeGreaterThan(0)
  })
})

test('docs/agents.md says the same', () => {
  const text = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8')
  const rows = text
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter(([first = '']) => (constructs as readonly string[]).includes(first))
  expect(rows).toEqual(
    constructs.map((construct) => [
      construct,
      targets.interactive.forms[construct],
      targets.post.forms[construct],
      targets.text.forms[construct],
    ]),
  )
})
