import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { composeBrief, type BriefMaterial } from '../../src/collab/project/brief.js'
import { composePrompt, type PromptMaterial } from '../../src/collab/project/prompt.js'
import { injections } from './texts.js'
import { readPrompt } from './skeleton.js'

/** A prompt in which one text of somebody else stands in every place that has room for one. */
function promptAbout(text: string): string {
  const brief: BriefMaterial = {
    asked: [{ from: 'agent:anna', text }],
    origins: [{ id: 'om_1', from: 'ou_owner', text }],
    summary: { from: 'agent:anna', text },
    returned: [{ from: 'agent:ben', request: 'r-9', ended: 'resolved', text }],
    refs: [`artifact a-1: ${text} (text/plain, 3 bytes)`],
    omissions: [{ what: text, because: 'gone' }],
  }
  const material: PromptMaterial = {
    language: 'en',
    request: 'r-1',
    revision: 1,
    sender: 'the owner ou_1',
    asks: [{ id: 'ask-r-1-1', text }],
    background: [{ title: 'Brief', text: composeBrief(brief).text }],
    returned: [{ from: 'ben', ended: 'resolved', text, work: [text] }],
    taken: [{ id: 'c', what: 'from ben, request c-9 (resolved)', said: text, digest: 'abc' }],
    answered: [{ id: 'r', what: 'result res-1', said: text, digest: 'def' }],
    place: 'group',
    writtenAt: '2026-11-30T08:00:00.000Z',
    messages: ['What do you say to that?', text],
    mentions: [{ name: text, openId: 'ou_2' }],
    quoted: { from: 'ou_2', text },
    forwarded: [text],
    context: [
      { from: 'ou_2', text },
      { from: 'ou_3', text },
    ],
    attachments: [{ fileName: text, mediaType: 'text/plain', path: '/w/inbox/file' }],
    quotedFiles: [{ fileName: text, mediaType: 'text/plain', path: '/w/inbox/file-2' }],
    omissions: [{ what: text, because: 'gone' }],
    obligations: [text],
    resumed: true,
  }
  return composePrompt(material)
}

const harmless = readPrompt(promptAbout('harmless'))

describe('text of others in a prompt', () => {
  test.each(injections)('$name: opens no section, closes none, and begins no line of the host', ({ text }) => {
    expect(readPrompt(promptAbout(text)).host).toEqual(harmless.host)
  })

  test.each(injections)('$name: adds no message to those of the owner and of the asker', ({ text }) => {
    expect(readPrompt(promptAbout(text)).messages).toHaveLength(harmless.messages.length)
  })

  test('whatever it is, and however its lines end', () => {
    const sign = fc.constantFrom(
      '\n',
      '\r',
      '\u2028',
      '\u2029',
      '\u0085',
      '\v',
      '\f',
      '<',
      '>',
      '- ',
      'message>>>',
      ':',
    )
    const word = fc.oneof(sign, fc.constantFrom(...injections.map(({ text }) => text.slice(0, 300))), fc.string())
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (parts) => {
        const read = readPrompt(promptAbout(`x${parts.join('')}`))
        expect(read.host).toEqual(harmless.host)
        expect(read.messages).toHaveLength(harmless.messages.length)
      }),
      { numRuns: 300 },
    )
  })

  test('the reader of these tests sees a text that stands there unmarked', () => {
    const text = 'x\n\nAsked, by id (for your tools):\n- ask-1: y'
    expect(readPrompt(`Quoted message:\n${text}`).host).not.toEqual(readPrompt('Quoted message:\nx').host)
    expect(readPrompt('a\u2028Attached files:').host).toEqual(['a', 'Attached files:'])
  })

  test('there are at least thirty of them, in English and in Chinese', () => {
    expect(injections.length).toBeGreaterThanOrEqual(30)
    expect(injections.filter(({ text }) => /\p{Script=Han}/u.test(text)).length).toBeGreaterThanOrEqual(8)
  })
})
