import { onTestFinished } from 'vitest'
import { createLarkChannel } from '../../../src/bot/egress/lark-channel.js'
import type { PlanParts } from '../../../src/bot/egress/plan.js'
import { createLarkClient, type Timeouts } from '../../../src/bot/lark-client.js'
import type { LarkClient } from '../../../src/bot/lark-api.js'
import type { Channel, OutgoingFile } from '../../../src/collab/channel.js'
import type { ReturnRef } from '../../../src/collab/refs.js'
import { sha256 } from '../../../src/lib/digest.js'
import { renderAnswer } from '../../../src/render/answer.js'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import { seedIds, seedSandboxWorld } from '../../../src/sandbox/seed.js'
import { serveSandbox } from '../../../src/sandbox/serve.js'
import type { ChannelUnderTest } from '../../contracts/channel.js'
import { sampleBot, sampleSelf } from '../../replay/samples.js'
import { capturingLogger, type Line } from '../ingress/given.js'

export const secret = 'sandbox-secret-never-in-a-log'

export interface Opened extends ChannelUnderTest {
  readonly channel: Channel
  readonly client: LarkClient
  readonly sandbox: Sandbox
  readonly url: string
  readonly lines: Line[]
  readonly calls: { readonly api: string; readonly code: string }[]
  readonly files: Map<string, Uint8Array>
}

/** A channel whose platform is the sandbox, with a clock that moves only when told. */
export async function openChannel(options: { timeouts?: Partial<Timeouts> } = {}): Promise<Opened> {
  let now = 1_790_000_000_000
  let ids = 0
  const clock = { now: () => now }
  const served = await serveSandbox({
    clock,
    newId: () => `id-${++ids}`,
    app: { appId: sampleBot, appSecret: secret },
    events: { mode: 'websocket' },
    rates: false,
  })
  onTestFinished(() => served.close())
  const { sandbox, url } = served
  const { world, faults } = sandbox
  seedSandboxWorld(sandbox)
  const { log, lines } = capturingLogger()
  const calls: { api: string; code: string }[] = []
  const client = createLarkClient({
    bot: sampleBot,
    appSecret: secret,
    baseUrl: url,
    clock,
    log,
    meter: { observe() {}, count() {}, lastEvent() {}, api: (api, code) => void calls.push({ api, code }) },
    timeouts: options.timeouts ?? {},
  })
  const files = new Map<string, Uint8Array>()
  const plan: PlanParts = {
    renderAnswer: (view) => Promise.resolve(renderAnswer(view)),
    storeFile(bytes, fileName, mediaType) {
      const digest = sha256(bytes)
      files.set(digest, bytes)
      return Promise.resolve<OutgoingFile>({ digest, fileName, mediaType, size: bytes.byteLength })
    },
  }
  const channel: Channel = {
    ...createLarkChannel({ bot: sampleBot, client, clock, identity: () => sampleSelf, ...plan }),
    history: () => Promise.resolve({ read: 'refused', because: 'not-permitted' }),
  }
  const nextSend = (api: 'message.reply' | 'message.create', action: Parameters<typeof faults.add>[0]['do']) =>
    faults.add({ api, do: action, times: 1 })

  return {
    channel,
    client,
    sandbox,
    url,
    lines,
    calls,
    files,
    asked(place) {
      const chatId = { direct: seedIds.dm, group: seedIds.group, topic: seedIds.topicGroup }[place]
      const said = world.say({ chatId, from: seedIds.alice, text: 'a question', mentionBot: place !== 'direct' })
      const route: ReturnRef = {
        channel: 'lark',
        bot: sampleBot,
        chatId,
        chatType: place === 'direct' ? 'p2p' : 'group',
        threadId: said.threadId,
        replyTo: said.id,
      }
      return route
    },
    delivered: (chatId) =>
      world
        .messages(chatId)
        .filter((message) => message.sender === 'bot')
        .map(({ id, msgType, content, threadId, parentId }) => ({
          messageId: id,
          msgType,
          content,
          threadId,
          parentId,
        })),
    recall: (messageId) => {
      const message = world
        .chats()
        .flatMap((chat) => world.messages(chat.chatId))
        .find((one) => one.id === messageId)
      world.recall(messageId, message?.sender ?? seedIds.alice)
    },
    removeBot: (chatId) => world.removeBot(chatId),
    loseNextAnswer: () => void nextSend('message.reply', { kind: 'accept-then-reset' }),
    loseNextCall: () => void nextSend('message.reply', { kind: 'reset-before' }),
    failNextSend(fault) {
      if ('code' in fault) nextSend('message.reply', { kind: 'code', code: fault.code })
      else if ('status' in fault) nextSend('message.reply', { kind: 'status', status: fault.status })
      else nextSend('message.reply', { kind: 'rate-limit', resetSeconds: fault.rateLimitSeconds })
    },
    expireToken: () => faults.expireToken(),
    hideHistory: () => void faults.add({ api: 'message.list', do: { kind: 'code', code: 99991672 } }),
    now: () => now,
    advance: (ms) => void (now += ms),
  }
}
