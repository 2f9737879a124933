import { randomUUID } from 'node:crypto'
import type {
  Channel,
  HistoryAsk,
  HistoryRead,
  LookUp,
  OtherForm,
  Outgoing,
  PartToSend,
  PlannedPart,
  ReactReply,
  ReadBack,
  Restating,
  SendReply,
  UpdateReply,
  UploadReply,
} from '../../src/collab/channel.js'
import type { AgentRuntime, ArtifactBytes, Meter, WakeRef, Workspaces } from '../../src/collab/ports.js'
import type { DeliverySource, NewDelivery, ReceiptEnd } from '../../src/collab/delivery.js'
import type { BotId, DeliveryId, Instant, RequestId, ReturnRef, TextDigest } from '../../src/collab/refs.js'
import { noAgents, noWork } from '../../src/exchange/no-agents.js'
import type { Exchange, ExchangeSettings } from '../../src/exchange/deps.js'
import { createRunningTurns } from '../../src/exchange/running.js'
import { sha256 } from '../../src/lib/digest.js'
import { noRecall } from '../../src/collab/recall.js'
import { silentLogger } from '../../src/lib/log.js'
import type { Db, SqlLike } from '../../src/stores/db.js'

export const bot = 'cli_test_app' as BotId
export const day = 1_796_000_000_000

export class TestClock {
  constructor(private time = day) {}
  now(): number {
    return this.time
  }
  set(time: number): void {
    this.time = Math.max(this.time, time)
  }
  add(ms: number): void {
    this.time += ms
  }
}

/** What one call of the platform does. `taken-lost`: the message is in the chat and the answer is not. */
export type Fault =
  | 'ok'
  | 'taken-lost'
  | 'lost'
  | 'being-sent'
  | 'rate-limit'
  | 'channel-down'
  | 'bad-format'
  | 'target-gone'
  | 'content-audit'
  | 'too-long'
  | 'cannot-reply-here'

export interface Shown {
  readonly messageId: string
  readonly chatId: string
  readonly content: string
  readonly msgType: string
  readonly replyTo: string | null
  readonly at: number
}

/**
 * A platform in memory. A uuid answers with its first message for one hour from its success, then makes another one.
 * `faults` are used up call by call; when none is left all goes well.
 */
export class FakeChannel implements Channel {
  readonly bot = bot
  readonly shown: Shown[] = []
  readonly sendCalls: (PartToSend & { readonly at: number })[] = []
  readonly reactions = new Map<string, { readonly messageId: string; readonly emoji: string }>()
  reactCalls = 0
  unreactCalls = 0
  uploads = 0
  uploadReplies: UploadReply[] = []
  faults: Fault[] = []
  readBacks: ReadBack[] = []
  lookUps: LookUp[] = []
  reacts: (ReactReply | 'placed-lost')[] = []
  unreacts: ReactReply[] = []
  /** Awaited before each send takes effect. */
  beforeSend: (() => Promise<void>) | null = null
  /** Ids are unique over all chats, as the platform's are. */
  private readonly ids = randomUUID().slice(0, 8)
  private uuids = new Map<string, { readonly messageId: string; readonly at: number }>()

  constructor(private readonly clock: TestClock) {}

  identity() {
    return { openId: 'ou_test_bot_manager', name: 'Manager' }
  }

  /** One text part per paragraph, one that begins with `#` a card; then one file part per attachment. */
  async plan(content: Outgoing): Promise<readonly PlannedPart[]> {
    if (content.kind === 'notice') return [textPart(JSON.stringify(content.notice))]
    const files = content.attachments.map((file) => ({ ...textPart(''), msgType: 'file' as const, plain: null, file }))
    const said = content.markdown.split('\n\n').map((text) => {
      const card = { ...textPart(text), msgType: 'interactive' as const, plain: null }
      return text.startsWith('#') ? card : textPart(text)
    })
    return [...said, ...files]
  }

  /** Card → post → text as the type says; smaller: two halves of the words; a new message: with a line before it. */
  async restate(part: PlannedPart, as: OtherForm, about: Restating): Promise<readonly PlannedPart[]> {
    if (as === 'new-message') {
      if (about.answers === null) return [part]
      const line = JSON.stringify(about.answers)
      if (part.file !== null) return [textPart(line), part]
      const { text } = JSON.parse(part.content) as { text: string }
      return [{ ...part, ...spoken(`${line}\n${text}`), source: part.source ?? null }]
    }
    if (part.file !== null) return [textPart(`${part.file.fileName} at ${about.page ?? 'its page'}`)]
    const sent = JSON.parse(part.content) as { text: string }
    // As the real one does: a text as it is sent, a card or a post from what it is written from.
    const { text } = part.msgType === 'text' ? sent : (part.source as { text: string })
    if (as === 'plainer') {
      const lower = { interactive: 'post', post: 'text' } as const
      return part.msgType === 'interactive' || part.msgType === 'post'
        ? [{ ...textPart(text), msgType: lower[part.msgType], source: { text } }]
        : []
    }
    const half = Math.ceil(text.length / 2)
    return text.length < 2
      ? []
      : [text.slice(0, half), text.slice(half)].map((piece) => ({ ...part, ...spoken(piece) }))
  }

  /** What each card says now. */
  readonly updated: { readonly messageId: string; readonly content: string }[] = []
  updates: UpdateReply[] = []

  async update(messageId: string, content: string): Promise<UpdateReply> {
    this.updated.push({ messageId, content })
    return this.updates.shift() ?? { update: 'done' }
  }

  async upload(): Promise<UploadReply> {
    this.uploads += 1
    const told = this.uploadReplies.shift()
    if (told !== undefined) return told
    return { upload: 'stored', key: `file_${this.uploads}` } as const
  }

  withUpload(_part: PlannedPart, key: string): string {
    return JSON.stringify({ file_key: key })
  }

  async send(part: PartToSend): Promise<SendReply> {
    await this.beforeSend?.()
    const at = this.clock.now()
    this.sendCalls.push({ ...part, at })
    const fault = this.faults.shift() ?? 'ok'
    switch (fault) {
      case 'ok':
        return { reply: 'taken', messageId: this.accept(part, at) }
      case 'taken-lost':
        this.accept(part, at)
        return { reply: 'ambiguous', because: 'connection-lost', code: null }
      case 'lost':
        return { reply: 'ambiguous', because: 'timeout', code: null }
      case 'being-sent':
        return { reply: 'ambiguous', because: 'being-sent', code: 230049 }
      case 'rate-limit':
        return { reply: 'later', because: 'rate-limit', retryAfterMs: 3_000, code: 230020 }
      case 'channel-down':
        return { reply: 'later', because: 'channel-down', retryAfterMs: 5_000, code: null }
      default:
        return { reply: 'refused', because: fault, code: 230001, detail: 'refused by the test' }
    }
  }

  private accept(part: PartToSend, at: number): string {
    const known = part.uuid === null ? undefined : this.uuids.get(part.uuid)
    if (known !== undefined && at - known.at < 3_600_000) return known.messageId
    const messageId = `om_${this.ids}_${this.shown.length + 1}`
    const { route, msgType, content } = part
    this.shown.push({ messageId, chatId: route.chatId, content, msgType, replyTo: route.replyTo, at })
    if (part.uuid !== null) this.uuids.set(part.uuid, { messageId, at })
    return messageId
  }

  async readBack(messageId: string): Promise<ReadBack> {
    const told = this.readBacks.shift()
    if (told !== undefined) return told
    return this.shown.some((message) => message.messageId === messageId)
      ? { found: 'as-sent' }
      : { found: 'different', because: 'deleted' }
  }

  async lookUp(sent: PartToSend, plain: string | null, window: { from: Instant; to: Instant }): Promise<LookUp> {
    const told = this.lookUps.shift()
    if (told !== undefined) return told
    if (plain === null) return { looked: 'incomplete', because: 'no-content-to-match' }
    const found = this.shown.find(
      (message) =>
        message.chatId === sent.route.chatId &&
        message.content === sent.content &&
        message.at >= window.from &&
        message.at <= window.to + 60_000,
    )
    if (found !== undefined) return { looked: 'found', messageId: found.messageId }
    if (this.clock.now() < window.to + 60_000) return { looked: 'incomplete', because: 'too-early' }
    return { looked: 'absent' }
  }

  async react(messageId: string, emoji: string): Promise<ReactReply> {
    this.reactCalls += 1
    const told = this.reacts.shift()
    if (told !== undefined && told !== 'placed-lost') return told
    const reactionId = `rx_${this.ids}_${this.reactCalls}`
    this.reactions.set(reactionId, { messageId, emoji })
    return told === 'placed-lost' ? { reaction: 'unknown', code: null } : { reaction: 'placed', reactionId }
  }

  async unreact(_messageId: string, reactionId: string) {
    this.unreactCalls += 1
    const told = this.unreacts.shift()
    if (told !== undefined) return told
    this.reactions.delete(reactionId)
    return { reaction: 'removed' } as const
  }

  async findReaction(messageId: string, emoji: string) {
    for (const [id, reaction] of this.reactions) {
      if (reaction.messageId === messageId && reaction.emoji === emoji) return { found: id }
    }
    return { found: null }
  }

  async fetchMessage() {
    return { fetched: false, because: 'unsupported' } as const
  }
  async fetchBundle() {
    return { fetched: false, because: 'unsupported' } as const
  }
  async history(_ask: HistoryAsk): Promise<HistoryRead> {
    return { read: 'refused', because: 'not-permitted' }
  }
  async download() {
    return { fetched: false, because: 'unsupported' } as const
  }
}

function textPart(text: string): PlannedPart {
  return { msgType: 'text', ...spoken(text), file: null, renderer: 'test-1' }
}

function spoken(text: string) {
  const content = JSON.stringify({ text })
  return { content, bytes: content.length, plain: text, source: { text } }
}

export class TestMeter implements Meter {
  readonly counts = new Map<string, number>()
  readonly seen: { readonly name: string; readonly seconds: number }[] = []
  observe(name: string, seconds: number): void {
    this.seen.push({ name, seconds })
  }
  api(): void {}
  count(name: string, label: string): void {
    const key = `${name} ${label}`
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1)
  }
  lastEvent(): void {}
}

export const testSettings: ExchangeSettings = {
  ownerOpenIds: new Set(['ou_test_owner']),
  openChats: new Set(),
  atAllChats: new Set(),
  botChats: new Set(),
  reactions: { received: 'Get', done: '', failed: 'CrossMark' },
  receiptPolicy: 'clear',
  lateAfterMs: 600_000,
  onRecall: 'hold',
  lateRunWithinMs: 7_200_000,
  silenceMs: 600_000,
  approvalWaitMs: 0,
  progressAfterMs: 0,
  followUpsWaiting: 20,
  followUpsHoldMs: 3_600_000,
  receiptSlotMs: 2_000,
  turnTries: 3,
  holdMs: 60_000,
  sweepGraceMs: 10_000,
  sweepBatch: 100,
  pacing: true,
  attachmentLimitBytes: 1_000_000,
}

export interface TestExchange extends Exchange {
  readonly kicked: WakeRef[]
  readonly meter: TestMeter
}

export function testExchange(
  db: Db,
  clock: TestClock,
  channel: Channel,
  settings: Partial<ExchangeSettings> = {},
): TestExchange {
  const kicked: WakeRef[] = []
  return {
    db,
    clock,
    newId: () => randomUUID(),
    log: silentLogger,
    meter: new TestMeter(),
    wake: { kick: (wakes) => void kicked.push(...wakes) },
    kicked,
    channelOf: (id) => (id === bot ? channel : null),
    // Nothing on the way out starts a turn or opens a workspace.
    runtime: absent<AgentRuntime>('runtime', { confines: () => Promise.resolve(true) }),
    runtimeFor: async () => null,
    running: createRunningTurns(),
    recall: noRecall,
    directory: noAgents,
    work: noWork,
    toolsUrl: null,
    publicUrl: 'https://manager.test',
    newSecret: () => randomUUID(),
    workspaces: absent<Workspaces>('workspaces'),
    artifacts: {
      ...absent<ArtifactBytes>('artifacts'),
      read: async function* () {
        yield new Uint8Array([1])
      },
    },
    settings: { ...testSettings, ...settings },
    every: () => () => {},
    host: 'host-one',
    lendPlace: () => () => {},
    holder: 'test',
  }
}

function absent<T extends object>(name: string, but: Partial<T> = {}): T {
  return new Proxy(but as T, {
    ownKeys: () => [],
    get: (_target, key) => {
      if (Object.hasOwn(but, key)) return but[key as keyof T]
      throw new Error(`${name}.${String(key)} is not expected here`)
    },
  })
}

export function route(chatId: string): ReturnRef {
  return { channel: 'lark', bot, chatId, chatType: 'group', threadId: null, replyTo: null }
}

/** Puts a text and a delivery of it; every paragraph becomes a part. */
export async function answer(
  sql: SqlLike,
  text: string,
  options: {
    chatId?: string
    at?: number
    route?: Partial<ReturnRef>
    request?: RequestId
    endsReceipt?: { messageId: string; chatId: string; end: ReceiptEnd }
    files?: Extract<DeliverySource, { kind: 'answer' }>['files']
  } = {},
): Promise<NewDelivery> {
  const digest = sha256(text)
  await sql`
    insert into collab.texts (digest, access_scope, body) values (${digest}, 'test', ${text}) on conflict do nothing`
  const id = randomUUID() as DeliveryId
  return {
    id,
    causeKind: 'result',
    causeId: id,
    route: { ...route(options.chatId ?? `oc_${id}`), ...options.route },
    bot,
    request: options.request ?? null,
    source: {
      kind: 'answer',
      endsReceipt: options.endsReceipt ?? null,
      language: 'en',
      textDigest: digest as TextDigest,
      conclusionDigest: null,
      accessScope: 'test',
      files: options.files ?? [],
      label: null,
      refusedOperations: [],
      reportName: 'report',
    },
    createdAt: (options.at ?? day) as Instant,
  }
}

export const heldRun = { signal: new AbortController().signal, stillHeld: async () => true }
