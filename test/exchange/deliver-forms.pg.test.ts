import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deliver } from '../../src/exchange/deliver.js'
import { retryDelivery } from '../../src/exchange/retry.js'
import { partsOf } from '../../src/stores/deliveries/parts.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { bench as benchOf, finish, states, texts, type Bench } from './delivery-bench.js'
import { heldRun } from './outgoing-kit.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

const bench = (text: string, options: Parameters<typeof benchOf>[2] = {}) => benchOf(fresh.db, text, options)
const rows = (b: Bench) => partsOf(fresh.db.sql, b.id)
const types = (b: Bench) => b.channel.shown.map((message) => message.msgType)
const reply = { replyTo: 'om_question' }

describe('a part that is refused for its content', () => {
  test('goes card → post → text in its own place, one explicit refusal a step, and the later parts wait', async () => {
    const b = await bench('before\n\n# card\n\nafter')
    b.channel.faults = ['ok', 'bad-format', 'bad-format']
    expect(await finish(b)).toContain('verified: 3 of 3 parts arrived')
    expect(texts(b)).toEqual(['before', '# card', 'after'])
    expect(types(b)).toEqual(['text', 'text', 'text'])
    expect(b.channel.sendCalls.map((call) => call.msgType)).toEqual(['text', 'interactive', 'post', 'text', 'text'])
    expect(await states(b)).toEqual([
      'verified',
      'superseded bad-format',
      'superseded bad-format',
      'verified',
      'verified',
    ])
    expect((await rows(b)).map((row) => [row.index, row.subIndex, row.replaces])).toEqual([
      [0, 0, null],
      [1, 0, null],
      [1, 1, 0],
      [1, 2, 1],
      [2, 0, null],
    ])
    expect(new Set((await rows(b)).map((row) => row.key)).size).toBe(5)
  })

  test('its text refused as well, it has failed, and nothing more is tried', async () => {
    const b = await bench('# card\n\nafter')
    b.channel.faults = ['bad-format', 'bad-format', 'bad-format']
    expect(await finish(b)).toContain('failed: 0 of 2 parts arrived (bad-format)')
    expect(b.channel.shown).toEqual([])
  })

  test('no step is taken on a doubt: the same card is asked for again with the same uuid', async () => {
    const b = await bench('# card')
    b.channel.faults = ['taken-lost']
    expect(await finish(b)).toContain('verified: 1 of 1 parts arrived')
    expect(types(b)).toEqual(['interactive'])
    expect(await rows(b)).toHaveLength(1)
  })

  test('a refusal after a doubt is a step only when the chat proves that nothing arrived', async () => {
    const lost = await bench('# card')
    lost.channel.faults = ['lost', 'bad-format', 'bad-format']
    lost.channel.lookUps = [{ looked: 'absent' }]
    expect(await finish(lost)).toContain('verified: 1 of 1 parts arrived')
    expect(types(lost)).toEqual(['text'])

    const arrived = await bench('# card')
    arrived.channel.faults = ['taken-lost', 'bad-format']
    const messageId = () => arrived.channel.shown[0]?.messageId ?? ''
    arrived.channel.lookUp = async () => ({ looked: 'found', messageId: messageId() })
    expect(await finish(arrived)).toContain('verified: 1 of 1 parts arrived')
    expect(types(arrived)).toEqual(['interactive'])
  })

  test('a run that dies between the refusal and the step takes it once', async () => {
    const b = await bench('# card')
    b.channel.faults = ['bad-format', 'bad-format']
    const restate = b.channel.restate.bind(b.channel)
    b.channel.restate = async () => {
      b.channel.restate = restate
      // The process is gone: its rows stay as they are.
      return await new Promise(() => {})
    }
    void deliver(b.x, b.id, heldRun)
    await until(async () => (await rows(b))[0]?.state === 'sending' && b.channel.sendCalls.length === 1)
    b.channel.lookUps = [{ looked: 'absent' }]
    expect(await finish(b)).toContain('verified: 1 of 1 parts arrived')
    expect(b.channel.shown).toHaveLength(1)
  })

  test('a fault while it is written anew leaves the refusal standing, and it is told', async () => {
    const b = await bench('# card')
    b.channel.faults = ['bad-format']
    b.channel.restate = () => Promise.reject(new Error('a bug'))
    expect(await finish(b)).toContain('failed: 0 of 1 parts arrived (bad-format)')
  })
})

describe('a part that is refused for its size', () => {
  test('is said in smaller rows at its place, in order, and what arrived is never planned again', async () => {
    const b = await bench('one\n\nabcdefgh\n\nlast')
    b.channel.faults = ['ok', 'too-long', 'ok', 'too-long']
    expect(await finish(b)).toContain('verified: 5 of 5 parts arrived')
    expect(texts(b)).toEqual(['one', 'abcd', 'ef', 'gh', 'last'])
    const accepted = (await rows(b)).filter((row) => row.state === 'verified').map((row) => row.messageId)
    expect(accepted).toEqual(b.channel.shown.map((message) => message.messageId))
  })

  test('pieces that say the same are as many messages', async () => {
    const b = await bench('aaaaaaaa')
    b.channel.faults = ['too-long', 'too-long', 'ok', 'ok', 'too-long']
    await finish(b)
    expect(texts(b).join('')).toBe('aaaaaaaa')
    expect(texts(b)).toEqual(['aa', 'aa', 'aa', 'aa'])
  })

  test('one that cannot be made smaller has failed', async () => {
    const b = await bench('a')
    b.channel.faults = ['too-long']
    expect(await finish(b)).toContain('failed: 0 of 1 parts arrived (too-long)')
  })
})

describe('a message that cannot be replied to any more', () => {
  test('is answered by a new message in its place that names it, with the same key; the rest follows without', async () => {
    const b = await bench('p1\n\np2', { route: reply })
    b.channel.faults = ['cannot-reply-here', 'ok', 'cannot-reply-here']
    expect(await finish(b)).toContain('verified: 2 of 2 parts arrived')
    expect(texts(b)[0]).toMatch(/"kind":"answers-gone"[^]*\np1$/)
    expect(texts(b)[1]).toBe('p2')
    expect(b.channel.shown.map((message) => message.replyTo)).toEqual([null, null])
    const [first, second] = b.channel.sendCalls
    expect(second?.uuid).toBe(first?.uuid)
    expect(first?.route.replyTo).toBe('om_question')
  })

  test('a doubt about the reply is settled first: no second message', async () => {
    const b = await bench('p1', { route: reply })
    b.channel.faults = ['taken-lost', 'cannot-reply-here']
    expect(await finish(b)).toContain('verified: 1 of 1 parts arrived')
    expect(texts(b)).toEqual(['p1'])
  })

  test('after a proved absence the new message has the uuid of the refused reply', async () => {
    const b = await bench('p1', { route: reply })
    b.channel.faults = ['lost']
    await deliver(b.x, b.id, heldRun)
    b.clock.add(55 * 60_000)
    b.channel.faults = ['cannot-reply-here']
    expect(await finish(b)).toContain('verified: 1 of 1 parts arrived')
    const uuids = b.channel.sendCalls.map((call) => call.uuid)
    expect(uuids).toHaveLength(3)
    expect(uuids[2]).toBe(uuids[1])
    expect(uuids[1]).not.toBe(uuids[0])
  })

  test('a place that takes no new message either has failed', async () => {
    const b = await bench('p1', { route: reply })
    b.channel.faults = ['cannot-reply-here', 'cannot-reply-here']
    expect(await finish(b)).toContain('failed: 0 of 1 parts arrived (cannot-reply-here)')
    expect(b.channel.sendCalls).toHaveLength(2)
  })

  test.each(['target-gone', 'content-audit'] as const)('%s is no reason to write without replying', async (fault) => {
    const b = await bench('# card', { route: reply })
    b.channel.faults = [fault]
    expect(await finish(b)).toContain(`failed: 0 of 1 parts arrived (${fault})`)
    expect(b.channel.sendCalls).toHaveLength(1)
  })

  test('a file goes with the key that it was uploaded with', async () => {
    const file = { digest: 'd'.repeat(64), fileName: '报告.md', mediaType: 'text/markdown', size: 10 }
    const b = await bench('see the file', { files: [file], route: reply })
    b.channel.faults = ['ok', 'cannot-reply-here']
    expect(await finish(b)).toContain('verified: 3 of 3 parts arrived')
    expect(b.channel.uploads).toBe(1)
    expect(b.channel.shown.at(-1)).toMatchObject({ content: '{"file_key":"file_1"}', replyTo: null })
    expect(texts(b)[1]).toContain('answers-gone')
  })

  test('a card of the new message that is refused for its content steps down without replying, and names it again', async () => {
    const b = await bench('# card', { route: reply })
    b.channel.faults = ['cannot-reply-here', 'bad-format', 'bad-format']
    expect(await finish(b)).toContain('verified: 1 of 1 parts arrived')
    expect(b.channel.sendCalls.map((call) => [call.msgType, call.route.replyTo])).toEqual([
      ['interactive', 'om_question'],
      ['interactive', null],
      ['post', null],
      ['text', null],
    ])
    expect(texts(b)[0]?.match(/answers-gone/g)).toHaveLength(1)
  })
})

describe('a file that the platform does not take', () => {
  const file = { digest: 'd'.repeat(64), fileName: '报告.md', mediaType: 'text/markdown', size: 10 }
  const refused = { reply: 'refused', because: 'too-long', code: 234006, detail: '' } as const

  test('is named in a line in its place, and what follows it arrives', async () => {
    const b = await bench('text', { files: [file, { ...file, fileName: 'second.md' }] })
    b.channel.uploadReplies = [refused]
    expect(await finish(b)).toContain('verified: 3 of 3 parts arrived')
    expect(types(b)).toEqual(['text', 'text', 'file'])
    expect(texts(b)[1]).toContain('报告.md')
    expect(await states(b)).toEqual(['verified', 'superseded upload-too-long', 'verified', 'verified'])
  })
})

describe('an upload whose outcome nobody knows', () => {
  const file = { digest: 'd'.repeat(64), fileName: '报告.md', mediaType: 'text/markdown', size: 10 }
  const doubtful = { reply: 'ambiguous', because: 'timeout', code: null } as const

  test('is repeated for about an hour, then the file is named and what follows it arrives', async () => {
    const b = await bench('text', { files: [file] })
    b.channel.uploadReplies = Array.from({ length: 100 }, () => doubtful)
    const from = b.clock.now()
    expect(await finish(b)).toContain('verified: 2 of 2 parts arrived')
    expect(b.clock.now() - from).toBeGreaterThan(50 * 60_000)
    expect(b.clock.now() - from).toBeLessThan(90 * 60_000)
    expect(types(b)).toEqual(['text', 'text'])
  })

  test('costs no try while the line is down', async () => {
    const b = await bench('text', { files: [file] })
    const down = { reply: 'later', because: 'channel-down', retryAfterMs: 60_000, code: null } as const
    b.channel.uploadReplies = Array.from({ length: 100 }, () => down)
    expect(await finish(b)).toContain('verified: 2 of 2 parts arrived')
    expect(types(b)).toEqual(['text', 'file'])
  })
})

describe('a retry', () => {
  test('of a refused part begins where the ladder ended, and says nothing twice', async () => {
    const b = await bench('one\n\n# card\n\nlast')
    b.channel.faults = ['ok', 'bad-format', 'bad-format', 'bad-format']
    await finish(b)
    for (const _ of [1, 2, 3]) {
      await retryDelivery(b.x, { delivery: b.id, who: 'op', eventId: crypto.randomUUID() as never })
      await finish(b)
    }
    expect(texts(b)).toEqual(['one', '# card', 'last'])
    expect(types(b)).toEqual(['text', 'text', 'text'])
  })
})

async function until(look: () => Promise<boolean>): Promise<void> {
  for (let n = 0; !(await look()); n++) {
    if (n > 2_000) throw new Error('waited too long')
    await new Promise((resolve) => setImmediate(resolve))
  }
}
