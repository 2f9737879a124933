import { describe, expect, test } from 'vitest'
import type { Channel, PartToSend } from '../../src/collab/channel.js'
import type { Instant, ReturnRef } from '../../src/collab/refs.js'

/** What stands in one place of the platform, oldest first. */
export interface Shown {
  readonly messageId: string
  readonly msgType: string
  readonly content: string
  readonly threadId: string | null
  readonly parentId: string | null
}

/** A channel with the platform behind it, so that a test can see what readers see and break the line. */
export interface ChannelUnderTest {
  readonly channel: Channel
  /** A message of a person, in the chat's main flow or in a topic, and the route of its answer. */
  asked(place: 'direct' | 'group' | 'topic'): ReturnRef
  delivered(chatId: string): readonly Shown[]
  recall(messageId: string): void
  removeBot(chatId: string): void
  /** The next send takes effect, its answer is lost. */
  loseNextAnswer(): void
  /** The next send is lost before it takes effect. */
  loseNextCall(): void
  failNextSend(
    fault: { readonly code: number } | { readonly rateLimitSeconds: number } | { readonly status: number },
  ): void
  expireToken(): void
  hideHistory(): void
  now(): number
  advance(ms: number): void
}

let sends = 0

export function textPart(route: ReturnRef, text: string, uuid: string | null = `uuid-${++sends}`): PartToSend {
  return { route, msgType: 'text', content: JSON.stringify({ text }), uuid }
}

/** What every channel must do, whatever platform stands behind it. */
export function channelContract(name: string, open: () => Promise<ChannelUnderTest>): void {
  const window = (from: number, to: number) => ({ from: from as Instant, to: to as Instant })

  describe(`channel contract: ${name}`, () => {
    test('A8 one send id reaches the audience once', async () => {
      const { channel, asked, delivered } = await open()
      const route = asked('direct')
      const part = textPart(route, 'once')
      const [first, second] = [await channel.send(part), await channel.send(part)]
      expect(first.reply).toBe('taken')
      expect(second).toEqual(first)
      expect(delivered(route.chatId)).toHaveLength(1)
    })

    test('A8 a cut line is ambiguous, never refused, and the look-up finds the message', async () => {
      const { channel, asked, delivered, loseNextAnswer, now, advance } = await open()
      for (const place of ['direct', 'group', 'topic'] as const) {
        const route = asked(place)
        loseNextAnswer()
        const from = now()
        const part = textPart(route, `lost in ${place}`)
        expect(await channel.send(part)).toMatchObject({ reply: 'ambiguous', because: 'connection-lost' })
        advance(2_000)
        const [shown] = delivered(route.chatId)
        expect(await channel.lookUp(part, `lost in ${place}`, window(from, now()))).toEqual({
          looked: 'found',
          messageId: shown?.messageId,
        })
      }
    })

    test('A8 a send that never arrived is absent only when its time has passed', async () => {
      const { channel, asked, delivered, loseNextCall, now, advance } = await open()
      const route = asked('group')
      loseNextCall()
      const from = now()
      const part = textPart(route, 'never')
      expect((await channel.send(part)).reply).toBe('ambiguous')
      const to = now()
      expect(await channel.lookUp(part, 'never', window(from, to))).toEqual({
        looked: 'incomplete',
        because: 'too-early',
      })
      advance(61_000)
      expect(await channel.lookUp(part, 'never', window(from, to))).toEqual({ looked: 'absent' })
      expect(delivered(route.chatId)).toEqual([])
    })

    test('A8 history that cannot be read proves nothing', async () => {
      const { channel, asked, hideHistory, now, advance } = await open()
      const route = asked('group')
      hideHistory()
      const from = now()
      advance(120_000)
      expect(await channel.lookUp(textPart(route, 'x'), 'x', window(from, from))).toEqual({
        looked: 'incomplete',
        because: 'not-permitted',
      })
    })

    test('A8 the same text sent for another question is not taken for this one', async () => {
      const { channel, asked, now, advance } = await open()
      const [one, two] = [asked('group'), asked('group')]
      const from = now()
      expect((await channel.send(textPart(one, 'same words'))).reply).toBe('taken')
      advance(62_000)
      expect(await channel.lookUp(textPart(two, 'same words'), 'same words', window(from, from))).toEqual({
        looked: 'absent',
      })
    })

    test('A8 two files cannot be told apart, one can', async () => {
      const { channel, asked, now, advance } = await open()
      const route = asked('direct')
      const card: PartToSend = { ...textPart(route, ''), msgType: 'interactive', content: simpleCard('a') }
      const from = now()
      const first = await channel.send(card)
      advance(1_000)
      expect(await channel.lookUp(card, null, window(from, from))).toEqual({
        looked: 'found',
        messageId: first.reply === 'taken' ? first.messageId : '',
      })
      await channel.send({ ...card, content: simpleCard('b'), uuid: 'another' })
      expect(await channel.lookUp(card, null, window(from, from))).toEqual({
        looked: 'incomplete',
        because: 'no-content-to-match',
      })
    })

    test('an answer stays in its topic; a quote is answered in the main flow', async () => {
      const { channel, asked, delivered } = await open()
      const topic = asked('topic')
      await channel.send(textPart(topic, 'in the topic'))
      expect(delivered(topic.chatId)).toMatchObject([{ threadId: topic.threadId }])
      const group = asked('group')
      await channel.send(textPart(group, 'in the open'))
      expect(delivered(group.chatId).at(-1)).toMatchObject({ threadId: null, parentId: group.replyTo })
    })

    test('without its trigger an answer still stays in its topic', async () => {
      const { channel, asked, delivered } = await open()
      const topic = asked('topic')
      expect((await channel.send(textPart({ ...topic, replyTo: null }, 'anchored'))).reply).toBe('taken')
      expect(delivered(topic.chatId).at(-1)?.threadId).toBe(topic.threadId)
    })

    test('with a root that still stands, it needs no history to stay in its topic; with none left, nothing is sent', async () => {
      const { channel, asked, recall, hideHistory, delivered } = await open()
      const topic = asked('topic')
      const detached = { ...topic, replyTo: null }
      hideHistory()
      expect(await channel.send({ ...textPart(detached, 'on the root'), threadRoot: topic.replyTo })).toMatchObject({
        reply: 'taken',
      })
      expect(delivered(topic.chatId).at(-1)?.threadId).toBe(topic.threadId)
      recall(topic.replyTo ?? '')
      expect(await channel.send({ ...textPart(detached, 'nowhere'), threadRoot: topic.replyTo })).toMatchObject({
        reply: 'refused',
      })
      expect(delivered(topic.chatId)).toHaveLength(1)
    })

    test('a recalled trigger says that it cannot be replied to, and a new message in the chat can be sent', async () => {
      const { channel, asked, recall, delivered } = await open()
      const route = asked('group')
      recall(route.replyTo ?? '')
      expect(await channel.send(textPart(route, 'late'))).toMatchObject({
        reply: 'refused',
        because: 'cannot-reply-here',
      })
      expect(delivered(route.chatId)).toEqual([])
      expect((await channel.send(textPart({ ...route, replyTo: null }, 'late'))).reply).toBe('taken')
    })

    test('a chat that the bot left is a gone target', async () => {
      const { channel, asked, removeBot } = await open()
      const route = asked('group')
      removeBot(route.chatId)
      expect(await channel.send(textPart(route, 'x'))).toMatchObject({ reply: 'refused', because: 'target-gone' })
    })

    test('a wait that the platform names is the wait', async () => {
      const { channel, asked, failNextSend, delivered } = await open()
      const route = asked('direct')
      failNextSend({ rateLimitSeconds: 3 })
      expect(await channel.send(textPart(route, 'x'))).toMatchObject({
        reply: 'later',
        because: 'rate-limit',
        retryAfterMs: 3_000,
      })
      expect(delivered(route.chatId)).toEqual([])
    })

    test("a server's fault is ambiguous, with and without words of the platform", async () => {
      const { channel, asked, failNextSend } = await open()
      const route = asked('direct')
      for (const fault of [{ status: 502 }, { status: 504 }, { code: 2200 }]) {
        failNextSend(fault)
        expect((await channel.send(textPart(route, 'x'))).reply).toBe('ambiguous')
      }
    })

    test('an expired token is replaced and the call repeated, seen once', async () => {
      const { channel, asked, expireToken, delivered } = await open()
      const route = asked('direct')
      await channel.send(textPart(route, 'first'))
      expireToken()
      expect((await channel.send(textPart(route, 'second'))).reply).toBe('taken')
      expect(delivered(route.chatId)).toHaveLength(2)
    })

    test('A8 what was sent reads back as sent, and a changed, moved or recalled one does not', async () => {
      const { channel, asked, delivered, recall } = await open()
      const route = asked('topic')
      const text = 'Read <me> back: **as** is, 你好 👋\nand https://example.com/?a=1&b=2'
      const part = textPart(route, text)
      await channel.send(part)
      const messageId = delivered(route.chatId).at(-1)?.messageId ?? ''
      expect(await channel.readBack(messageId, part, text)).toEqual({ found: 'as-sent' })
      expect(await channel.readBack(messageId, part, 'other')).toEqual({ found: 'different', because: 'other-content' })
      const elsewhere = { ...part, route: { ...route, threadId: 'omt_other' } }
      expect(await channel.readBack(messageId, elsewhere, text)).toMatchObject({ because: 'other-place' })
      expect(await channel.readBack(messageId, { ...part, msgType: 'post' }, text)).toMatchObject({
        because: 'other-type',
      })
      expect(await channel.readBack(route.replyTo ?? '', part, text)).toMatchObject({ because: 'other-sender' })
      recall(messageId)
      expect(await channel.readBack(messageId, part, text)).toEqual({ found: 'different', because: 'deleted' })
    })

    test('a reaction is placed, found, and taken away more than once without harm', async () => {
      const { channel, asked } = await open()
      const message = asked('direct').replyTo ?? ''
      const placed = await channel.react(message, 'Get')
      expect(placed.reaction).toBe('placed')
      const id = placed.reaction === 'placed' ? placed.reactionId : ''
      expect(await channel.findReaction(message, 'Get')).toEqual({ found: id })
      expect(await channel.findReaction(message, 'OK')).toEqual({ found: null })
      expect(await channel.unreact(message, id)).toEqual({ reaction: 'removed' })
      expect(await channel.unreact(message, id)).toEqual({ reaction: 'removed' })
      expect(await channel.findReaction(message, 'Get')).toEqual({ found: null })
      expect(await channel.react(message, 'NotAnEmoji')).toMatchObject({ because: 'unknown-emoji' })
    })

    test('a reaction on a recalled message is gone, and so is taking it away', async () => {
      const { channel, asked, recall } = await open()
      const message = asked('direct').replyTo ?? ''
      const placed = await channel.react(message, 'Get')
      recall(message)
      expect(await channel.react(message, 'OK')).toMatchObject({ reaction: 'refused', because: 'message-gone' })
      const id = placed.reaction === 'placed' ? placed.reactionId : ''
      expect(await channel.unreact(message, id)).toEqual({ reaction: 'removed' })
    })
  })
}

function simpleCard(text: string): string {
  return JSON.stringify({ schema: '2.0', body: { elements: [{ tag: 'markdown', content: text }] } })
}
