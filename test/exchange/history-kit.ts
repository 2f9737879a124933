import { createLarkClient } from '../../src/bot/lark-client.js'
import { readHistory } from '../../src/bot/ingress/history.js'
import { judgeAuthority } from '../../src/bot/ingress/principal.js'
import type { HistoryAsk, HistoryRead } from '../../src/collab/channel.js'
import type { IncomingEvent } from '../../src/collab/message.js'
import type { Instant } from '../../src/collab/refs.js'
import { accept } from '../../src/exchange/accept.js'
import type { ExchangeSettings } from '../../src/exchange/deps.js'
import { fillGaps } from '../../src/exchange/gap-fill.js'
import { askForHistories } from '../../src/exchange/presence.js'
import { take } from '../../src/exchange/take.js'
import { must } from '../../src/lib/assert.js'
import { silentLogger } from '../../src/lib/log.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import type { Db } from '../../src/stores/db.js'
import { beat } from '../../src/stores/presence/presence.js'
import { bindOwner } from '../../src/stores/principals/principals.js'
import { noMeter } from '../bot/ingress/given.js'
import { bot, FakeChannel, TestClock, testExchange, type TestExchange } from './outgoing-kit.js'

export const owner = 'ou_test_owner'
export const colleague = 'ou_test_colleague'
export const otherBot = 'ou_other_bot'
export const dm = 'oc_dm'
export const group = 'oc_group'
/** Close enough together that no absence is read out of it. */
const BEAT_MS = 15_000
const self = { openId: 'ou_test_bot_manager', name: 'Manager' }

/** A channel whose histories are those of a sandbox; what it sends goes nowhere. */
class HistoryChannel extends FakeChannel {
  constructor(
    clock: TestClock,
    private readonly read: (ask: HistoryAsk) => Promise<HistoryRead>,
  ) {
    super(clock)
  }
  override history(ask: HistoryAsk) {
    return this.read(ask)
  }
}

export interface HistoryRig {
  readonly x: TestExchange
  readonly clock: TestClock
  readonly sandbox: Sandbox
  /** A person writes; nobody hears it. */
  write(chatId: string, text: string, more?: { from?: string; threadOf?: string; at?: number }): WorldMessage
  /** A door brings it, and it is accepted. */
  bring(message: WorldMessage): Promise<void>
  /** The process was away until now, and comes back. */
  away(ms: number): Promise<void>
  /** Time goes by while a process holds the door, and says so. */
  pass(ms: number): Promise<void>
  /** Asks for the histories and reads them, as often as the job says later; then accepts what is owed. */
  fill(): Promise<{ readonly note: string; readonly waits: number }>
}

/** An exchange on a database of its own, whose clock and platform the test moves. */
export async function historyRig(
  db: Db,
  settings: Partial<ExchangeSettings> = {},
  options: Partial<SandboxOptions> = {},
): Promise<HistoryRig> {
  const clock = new TestClock()
  let ids = 0
  const sandbox = createSandbox({
    clock,
    newId: () => `id-${++ids}-${Math.random()}`,
    app: { appId: bot, appSecret: 'secret', botOpenId: self.openId, botName: self.name },
    events: { mode: 'webhook', url: 'http://127.0.0.1:9/never' },
    rates: false,
    ...options,
  })
  const { world } = sandbox
  world.addPerson({ name: 'Owner', openId: owner })
  world.addPerson({ name: 'Colleague', openId: colleague })
  world.addPerson({ name: 'Other', openId: otherBot, bot: true })
  world.addChat({ mode: 'p2p', name: 'Owner', members: [owner], chatId: dm })
  world.addChat({ mode: 'group', name: 'Group', members: [owner, colleague, otherBot], chatId: group })
  const client = createLarkClient({
    bot,
    appSecret: 'secret',
    baseUrl: 'http://lark.test',
    clock,
    meter: noMeter,
    log: silentLogger,
    fetch: (url, init) => sandbox.handle(new Request(url as string, init)),
  })
  const policy = { self, groupsOpen: new Set<string>(), atAllChats: new Set<string>(), botChats: new Set<string>() }
  const read = (ask: HistoryAsk) =>
    readHistory({ bot, client, identity: () => self, judge: (message) => judgeAuthority(message, policy) }, ask)
  const x = testExchange(db, clock, new HistoryChannel(clock, read), settings)
  await bindOwner(db.sql, { bot, openId: owner, directChat: dm }, clock.now())
  await beat(db.sql, { bot, aliveAt: clock.now(), now: clock.now(), opened: true })

  async function acceptAll(): Promise<void> {
    const rows = await db.sql<{ id: string }[]>`
      select id from collab.ingress_events where disposition is null order by position`
    for (const { id } of rows) await accept(x, id)
  }
  return {
    x,
    clock,
    sandbox,
    write: (chatId, text, { from = owner, threadOf, at } = {}) =>
      world.say({
        chatId,
        from,
        text,
        silent: true,
        createTime: at ?? clock.now(),
        mentionBot: chatId === group && from === owner,
        ...(threadOf === undefined ? {} : { threadOf }),
      }),
    async bring(message) {
      await take(x, eventOf(await read(askFor(message)), message), 'websocket')
      await acceptAll()
    },
    async away(ms) {
      const from = clock.now()
      await beat(db.sql, { bot, aliveAt: from, now: from, opened: false })
      clock.add(ms)
      await beat(db.sql, { bot, aliveAt: clock.now(), now: clock.now(), opened: true })
    },
    async pass(ms) {
      for (let left = ms; left > 0; left -= BEAT_MS) {
        clock.add(Math.min(left, BEAT_MS))
        await beat(db.sql, { bot, aliveAt: clock.now(), now: clock.now(), opened: false })
      }
    },
    async fill() {
      await askForHistories(x, bot, clock.now())
      for (let waits = 0; ; waits += 1) {
        const outcome = await fillGaps(x, bot)
        if (outcome.outcome === 'failed') throw new Error(outcome.because)
        if (outcome.outcome === 'later') {
          clock.set(outcome.at)
          continue
        }
        await acceptAll()
        return { note: outcome.note, waits }
      }
    },
  }
}

function askFor(message: WorldMessage): HistoryAsk {
  const chatType = message.chatId === dm ? 'p2p' : 'group'
  return {
    place: { chatId: message.chatId, chatType, threadId: message.threadId },
    from: message.createTime as Instant,
    until: message.createTime as Instant,
    page: null,
  }
}

/** What the platform pushes of a message, taken from its history: the same conversion, another envelope. */
function eventOf(read: HistoryRead, message: WorldMessage): IncomingEvent {
  if (read.read !== 'page') throw new Error('the history cannot be read')
  const found = must(
    read.messages.find((one) => one.message.messageId === message.id),
    'the message',
  )
  const ids = { bot, key: message.id, eventId: `push-${message.id}`, eventType: 'im.message.receive_v1' }
  return { ...ids, kind: 'message', ...found }
}

export interface InputRow {
  readonly message: string
  readonly state: string
  readonly because: string | null
}

/** The requests of the lane, in the order in which they would run. */
export async function inputs(db: Db): Promise<readonly InputRow[]> {
  return await db.sql<InputRow[]>`
    select r.origin_message as message, i.state, i.because
    from collab.turn_inputs i join collab.work_requests r on r.id = i.request order by i.position`
}

export async function gaps(db: Db): Promise<readonly { readonly id: string; readonly because: string }[]> {
  return await db.sql<{ id: string; because: string }[]>`
    select message_id as id, because from collab.ingress_gaps order by written_at`
}
