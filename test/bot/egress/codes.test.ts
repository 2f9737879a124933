import { describe, expect, test } from 'vitest'
import { unreacted, unread, unsent } from '../../../src/bot/egress/classify.js'
import { codeTable } from '../../../src/bot/egress/codes.js'
import type { ApiName, ApiReply } from '../../../src/bot/lark-api.js'

/*
 * What each code comes to at the port of its call, written down from the error tables of the platform's documents and
 * not from the code under test. One line: the calls, the outcome, its codes.
 */
const everywhere =
  'token bot.info message.create message.reply message.patch message.get message.list ' +
  'reaction.create reaction.delete reaction.list image.upload file.upload resource.get'
const send = 'message.create message.reply'
const say = `${send} message.patch`
const upload = 'image.upload file.upload'
const react = 'reaction.create reaction.delete reaction.list'
const get = 'message.get message.list'

const expected: readonly (readonly [apis: string, outcome: string, codes: readonly number[]])[] = [
  [`${say} ${upload} token bot.info`, 'later rate-limit', [99991400, 230020, 11232, 11233, 99991403]],
  [`${say} ${upload} token bot.info`, 'later channel-down', [232096, 99991661, 99991663, 99991664, 99991665, 99991671]],
  [`${say} ${upload} token bot.info`, 'ambiguous server-error', [2200]],
  [`${say} ${upload} token bot.info`, 'refused not-permitted', [99991672]],
  [
    `${say} ${upload} token bot.info`,
    'refused configuration',
    [99991668, 99991677, 99991679, 99991662, 99991673, 99991401, 99991543, 10003, 10014, 230006, 234007],
  ],
  [`${say} ${upload} token bot.info`, 'refused target-gone', [99992351, 99992361, 234004]],
  [`${say} ${upload} token bot.info`, 'refused bad-format', [99992402]],

  [say, 'refused bad-format', [230001, 230017, 230054, 230055, 230099]],
  [send, 'refused bad-format', [230012]],
  [say, 'refused too-long', [230025]],
  [say, 'refused content-audit', [230022, 230028]],
  [say, 'ambiguous being-sent', [230049]],
  [say, 'refused target-gone', [230002, 230013, 230029, 230034, 230036, 230053, 232009]],
  [say, 'refused not-permitted', [230015, 230018, 230027, 230035, 230038, 230050, 230075]],
  ['message.reply', 'refused cannot-reply-here', [230011, 230019, 230071, 230072, 230110, 230111, 231003, 99992354]],
  ['message.patch', 'refused target-gone', [230011, 230110, 230111, 99992354]],
  ['message.patch', 'refused not-permitted', [230012, 230031, 300302]],

  [upload, 'refused bad-format', [234001, 234010, 234011, 234039]],
  [upload, 'refused too-long', [234006, 234037]],
  [upload, 'refused not-permitted', [234002, 234009, 234019, 234038, 234040, 230027, 230050]],
  // Of a download alone; an upload names no message, so these are as good as refused there.
  [upload, 'refused target-gone', [234003, 234041, 230011, 230110, 99992354]],
  [upload, 'refused bad-format', [234043]],
  [upload, 'ambiguous server-error', [234042]],

  [react, 'later', [99991400, 230020, 11232, 11233, 232096, 231015]],
  [react, 'later', [99991661, 99991663, 99991664, 99991665, 99991671]],
  [react, 'refused quota', [99991403]],
  [react, 'unknown', [2200]],
  [react, 'refused unknown-emoji', [231001]],
  [
    react,
    'refused message-gone',
    [231003, 231004, 231005, 232009, 230002, 230011, 230110, 99992354, 99992351, 99992361, 234004],
  ],
  [react, 'gone', [231010, 231011]],
  [
    react,
    'refused not-permitted',
    [231002, 231007, 231008, 231017, 231018, 231019, 231020, 231021, 231022, 230027, 230050, 99991672],
  ],
  [
    react,
    'refused not-permitted',
    [99991668, 99991677, 99991679, 99991662, 99991673, 99991401, 99991543, 10003, 10014, 230006, 234007, 99992402],
  ],

  [
    `${get} resource.get`,
    'unavailable',
    [99991400, 230020, 11232, 11233, 99991403, 232096, 2200, 99991661, 99991663, 99991664, 99991665, 99991671],
  ],
  [
    `${get} resource.get`,
    'not-permitted',
    [99991672, 99991668, 99991677, 99991679, 99991662, 99991673, 99991401, 99991543, 10003, 10014, 230006, 234007],
  ],
  [`${get} resource.get`, 'not-permitted', [99992351, 99992361, 234004, 99992402, 230027, 230050]],
  [get, 'not-permitted', [230001, 230002, 230073, 232009]],
  [get, 'gone', [230011, 230019, 230110, 230111, 99992354]],
  [get, 'unsupported', [231203, 231204]],
  ['resource.get', 'gone', [234003, 234041, 230011, 230110, 99992354]],
  ['resource.get', 'too-large', [234006, 234037]],
  ['resource.get', 'unsupported', [234043]],
  ['resource.get', 'not-permitted', [234002, 234009, 234019, 234038, 234040, 234001, 234010, 234011, 234039]],
  ['resource.get', 'unavailable', [234042]],
]

const cases = expected.flatMap(([apis, , codes]) =>
  apis.split(' ').flatMap((api) => codes.map((code) => `${api} ${code}`)),
)

/** The outcome in one line; the status of the answer must not matter for a code that is known. */
function outcomeOf(api: ApiName, code: number, status: number): string {
  const answer: ApiReply = { got: 'reply', status, code, msg: '', logId: null, resetMs: null, body: null }
  if (api.startsWith('reaction')) {
    const meant = unreacted(api, answer)
    return meant.reaction === 'refused' ? `refused ${meant.because}` : meant.reaction
  }
  if (api === 'message.get' || api === 'message.list' || api === 'resource.get') return unread(api, answer)
  const meant = unsent(api, answer)
  return `${meant.reply} ${meant.because}`
}

describe('every code of every call', () => {
  test.each(expected)('%s: %s', (apis, outcome, codes) => {
    for (const api of apis.split(' ') as ApiName[]) {
      for (const code of codes) {
        for (const status of [200, 400, 500])
          expect(outcomeOf(api, code, status), `${api} ${code}, HTTP ${status}`).toBe(outcome)
      }
    }
  })

  test('each row of the table is tried for each of its calls, and nothing else', () => {
    const tried = new Set(cases)
    const stated = codeTable.flatMap((row) => row.apis.map((api) => `${api} ${row.code}`))
    expect(tried.size).toBe(cases.length)
    expect([...tried].sort()).toEqual([...stated].sort())
    expect(new Set(stated).size).toBe(stated.length)
    expect(new Set(stated.map((one) => one.split(' ')[0])).size).toBe(everywhere.split(' ').length)
  })

  test('each row says what the platform means by it, and where that is written', () => {
    for (const row of codeTable) {
      expect(row.says.length, String(row.code)).toBeGreaterThan(3)
      expect(row.source, String(row.code)).toMatch(/^(api-call-guide|im-v1)/)
    }
  })

  test('only an explicit word about the reply leads to a new message in its place', () => {
    const codes = codeTable.filter((row) => row.meaning === 'cannot-reply-here')
    expect(new Set(codes.flatMap((row) => row.apis))).toEqual(new Set(['message.reply']))
  })
})
