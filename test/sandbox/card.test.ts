import { describe, expect, test } from 'vitest'
import { DAY, MINUTE } from '../../src/lib/time.js'
import { isRefused } from '../../src/sandbox/answer.js'
import { checkCard, countTables, withoutCode } from '../../src/sandbox/card-check.js'
import { caller, card, openSandbox } from './kit.js'

const refer = { imageKeys: new Set(['img_ok']), people: new Set(['ou_bob']) }
const table = '| a | b |\n| --- | --- |\n| 1 | 2 |\n'
const markdown = (content: string): object => ({ tag: 'markdown', content })
const realTable = { tag: 'table', columns: [{ name: 'a' }], rows: [{ a: 1 }] }

const errCode = (content: string): number => {
  const checked = checkCard(content, refer)
  return isRefused(checked) ? Number(/ErrCode: (\d+)/.exec(checked.detail ?? '')?.[1]) : 0
}

describe('card 2.0 checks', () => {
  test.each([
    ['a plain card', card([markdown('# hi')]), 0],
    ['broken JSON', '{"schema":', 200621],
    ['a 1.0 card', JSON.stringify({ elements: [] }), 200621],
    ['no body', JSON.stringify({ schema: '2.0' }), 200621],
    ['a tag of 1.0', card([{ tag: 'note', elements: [] }]), 200861],
    [
      'a nested unknown tag',
      card([{ tag: 'column_set', columns: [{ tag: 'column', elements: [{ tag: 'x' }] }] }]),
      200861,
    ],
    ['exactly 200 elements', card(Array.from({ length: 200 }, () => ({ tag: 'hr' }))), 0],
    ['201 elements', card(Array.from({ length: 201 }, () => ({ tag: 'hr' }))), 11310],
    ['five tables of both kinds', card([markdown(`${table}\n\n${table}`), realTable, realTable, realTable]), 0],
    [
      'six tables of both kinds',
      card([markdown(`${table}\n\n${table}\n\n${table}`), realTable, realTable, realTable]),
      11310,
    ],
    ['five tables in one markdown', card([markdown(Array(5).fill(table).join('\n\n'))]), 11310],
    ['tables inside a code block', card([markdown('```\n' + Array(9).fill(table).join('\n') + '```')]), 0],
    ['an image address', card([markdown('![x](https://example.com/a.png)')]), 200570],
    ['an image key of ours', card([markdown('![x](img_ok)')]), 0],
    ['an unknown person', card([markdown('<at id=ou_nobody></at>')]), 100290],
    ['a known person', card([markdown('<at ids=ou_bob,all></at>')]), 0],
    [
      'an element id given twice',
      card([
        { tag: 'hr', element_id: 'a' },
        { tag: 'hr', element_id: 'a' },
      ]),
      300301,
    ],
    ['an element id with a digit first', card([{ tag: 'hr', element_id: '1a' }]), 300303],
    [
      'a table inside a column',
      card([{ tag: 'column_set', columns: [{ tag: 'column', elements: [realTable] }] }]),
      200914,
    ],
    ['a button without text', card([{ tag: 'button' }]), 200621],
  ])('%s', (_what, content, expected) => {
    expect(errCode(content)).toBe(expected)
  })

  test('a table is a header line over a delimiter line', () => {
    expect(countTables('a | b\n--- | ---\n1 | 2')).toBe(1)
    expect(countTables('a | b\n\n---\n')).toBe(0)
    expect(countTables(`${table}\ntext\n${table}`)).toBe(2)
    expect(withoutCode('a `x | y` b')).toBe('a  b')
  })
})

describe('cards over REST', () => {
  const open = async () => {
    const kit = await openSandbox()
    const call = await caller(kit.url)
    const send = (content: string) =>
      call('POST', '/im/v1/messages?receive_id_type=chat_id', {
        receive_id: kit.ids.group,
        msg_type: 'interactive',
        content,
      })
    return { ...kit, call, send }
  }

  test('a refusal names the sub-code in its sentence, as recorded', async () => {
    const { send } = await open()
    const refusal = await send(card(Array(6).fill(realTable) as object[]))
    expect(refusal).toMatchObject({ status: 400, code: 230099 })
    expect(refusal.msg).toMatch(/^Failed to create card content, ext=ErrCode: 11310; ErrMsg: .*; ErrorValue: table; $/)
  })

  test('is read back simplified, and whole on request', async () => {
    const { send, call } = await open()
    const content = card([
      markdown('hello'),
      { tag: 'button', text: { tag: 'plain_text', content: 'Go' }, type: 'primary' },
    ])
    const { data } = await send(content)
    const path = `/im/v1/messages/${String(data['message_id'])}`
    const bodyOf = (items: unknown) => (items as { body: { content: string } }[])[0]?.body.content ?? ''
    expect(JSON.parse(bodyOf((await call('GET', path)).data['items']))).toEqual({
      title: '',
      elements: [[{ tag: 'text', text: 'hello' }], [{ tag: 'button', text: 'Go', type: 'primary' }]],
    })
    const whole = await call('GET', `${path}?card_msg_content_type=user_card_content`)
    expect(bodyOf(whole.data['items'])).toBe(content)
  })

  test('is replaced for fourteen days, when it was and stays shared', async () => {
    const { send, call, time, url } = await open()
    const { data } = await send(card([markdown('one')]))
    const path = `/im/v1/messages/${String(data['message_id'])}`
    const exclusive = await send(card([markdown('one')], {}))
    const patch = (target: string, content: string) => call('PATCH', target, { content })
    expect((await patch(path, card([markdown('two')]))).code).toBe(0)
    expect((await patch(path, card([markdown('two')], {}))).code).toBe(230099)
    const other = `/im/v1/messages/${String(exclusive.data['message_id'])}`
    expect((await patch(other, card([markdown('two')]))).code).toBe(230099)
    time.advance(14 * DAY)
    // A token lives two hours, so the later calls need one of their own.
    const later = await caller(url)
    expect((await later('PATCH', path, { content: card([markdown('three')]) })).code).toBe(0)
    time.advance(1)
    expect((await later('PATCH', path, { content: card([markdown('four')]) })).code).toBe(230031)
  })
})

describe('card entities', () => {
  const open = async () => {
    const kit = await openSandbox()
    const call = await caller(kit.url)
    const data = card([{ tag: 'markdown', element_id: 'text', content: '' }], {
      update_multi: true,
      streaming_mode: true,
    })
    const made = await call('POST', '/cardkit/v1/cards', { type: 'card_json', data })
    const path = `/cardkit/v1/cards/${String(made.data['card_id'])}`
    const stream = (content: string, sequence: number, element = 'text') =>
      call('PUT', `${path}/elements/${element}/content`, { content, sequence })
    return { ...kit, call, made, path, stream }
  }

  test('a message that shows an entity follows its text', async () => {
    const { call, made, stream, sandbox, ids } = await open()
    const reference = JSON.stringify({ type: 'card', data: { card_id: made.data['card_id'] } })
    const sent = await call('POST', '/im/v1/messages?receive_id_type=chat_id', {
      receive_id: ids.group,
      msg_type: 'interactive',
      content: reference,
    })
    expect(sent.code).toBe(0)
    expect((await stream('so far', 1)).code).toBe(0)
    expect(sandbox.world.messages(ids.group)[0]?.content).toContain('"content":"so far"')
  })

  test('the sequence only rises, over every operation', async () => {
    const { call, path, stream } = await open()
    expect((await stream('a', 5)).code).toBe(0)
    expect((await stream('ab', 5)).code).toBe(300317)
    const settings = JSON.stringify({ config: { streaming_mode: false } })
    expect((await call('PATCH', `${path}/settings`, { settings, sequence: 4 })).code).toBe(300317)
    expect((await call('PATCH', `${path}/settings`, { settings, sequence: 6 })).code).toBe(0)
    expect((await stream('abc', 7)).code).toBe(300309)
  })

  test('streaming ends by itself after ten minutes', async () => {
    const { stream, time } = await open()
    time.advance(10 * MINUTE)
    expect((await stream('a', 1)).code).toBe(0)
    time.advance(1)
    expect((await stream('ab', 2)).code).toBe(200850)
    expect((await stream('ab', 2)).code).toBe(300309)
  })

  test('unknown cards and elements are refused', async () => {
    const { call, stream, time, url, path } = await open()
    expect((await call('PUT', '/cardkit/v1/cards/1/elements/a/content', { content: 'x', sequence: 1 })).code).toBe(
      200740,
    )
    expect((await stream('x', 1, 'other')).code).toBe(300313)
    time.advance(14 * DAY + 1)
    const later = await caller(url)
    expect((await later('PATCH', `${path}/settings`, { settings: '{}', sequence: 9 })).code).toBe(200750)
  })
})
