import { describe, expect, test } from 'vitest'
import { answerWords } from '../../src/render/text/answer.js'
import { buttonWords } from '../../src/render/text/control.js'
import { moreFiles, moreOperations } from '../../src/render/text/limited.js'
import { filesBelow } from '../house/source.js'

/** Whatever is said in both languages: the same names, texts where the other has texts. */
const pairs = { answerWords, buttonWords, moreFiles, moreOperations } as const

function shapeOf(words: unknown): unknown {
  if (typeof words === 'string') return 'text'
  if (typeof words === 'function') return `text of ${words.length}`
  return Object.fromEntries(Object.entries(words as object).map(([name, inside]) => [name, shapeOf(inside)]))
}

describe('every sentence is there in both languages', () => {
  test.each(Object.entries(pairs))('%s', (_, { en, zh }) => {
    expect(shapeOf(zh)).toEqual(shapeOf(en))
    expect(JSON.stringify(said(zh))).toMatch(/[\u4e00-\u9fff]/)
    expect(JSON.stringify(said(en))).not.toMatch(/[\u4e00-\u9fff]/)
  })

  test('what is put into a sentence is in it, in both languages', () => {
    for (const words of [answerWords.en, answerWords.zh]) {
      for (const say of Object.values(words))
        if (typeof say === 'function') expect(say('report.md')).toContain('report.md')
    }
    for (const rest of [moreFiles.en, moreFiles.zh, moreOperations.en, moreOperations.zh]) {
      for (const count of [1, 7]) expect(rest(count)).toContain(String(count))
    }
  })
})

/** What is said, every function called with a word that both languages can hold. */
function said(words: unknown): unknown {
  if (typeof words === 'function') return (words as (given: string) => string)('x')
  if (typeof words !== 'object' || words === null) return words
  return Object.fromEntries(Object.entries(words).map(([name, inside]) => [name, said(inside)]))
}

/** Where Chinese may stand: files of words, and those that read what others write. */
const wordFiles =
  /(?:^render\/text\/|[-/]words\.ts$|\/problem(?:-titles)?\.ts$|^runtime\/rehearsal\/|^render\/html\/(?:(?:detail-)?terms|bits)\.tsx?$)/
const readers = new Set([
  'bot/egress/codes.ts',
  'bot/ingress/content/post.ts',
  'render/emphasis.ts',
  'exchange/control.ts',
  'collab/chat-command.ts',
])
/** File names in the language of the conversation, which are no sentences. */
const fileNames = new Set(['exchange/agents/answer.ts', 'exchange/direct-return.ts'])

test('no sentence of ours stands outside the files of words', () => {
  const stray = filesBelow('src')
    .filter(({ path }) => !wordFiles.test(path) && !readers.has(path) && !fileNames.has(path))
    .filter(({ text }) => /[\u4e00-\u9fff]/.test(withoutComments(text)))
    .map(({ path }) => path)
  expect(stray).toEqual([])
})

function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}
