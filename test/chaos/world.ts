import type { NewDelivery } from '../../src/collab/delivery.js'
import type { BotId, DeliveryId, EventId, Instant, ReturnRef, TextDigest } from '../../src/collab/refs.js'
import { retryDelivery, type PartDecision } from '../../src/exchange/retry.js'
import { placeReceipt } from '../../src/exchange/receipts.js'
import { sha256 } from '../../src/lib/digest.js'
import { MINUTE } from '../../src/lib/time.js'
import type { ApiName, FaultAction } from '../../src/sandbox/faults.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'
import { seedIds, seedSandboxWorld } from '../../src/sandbox/seed.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { putDeliveries } from '../../src/stores/deliveries/deliveries.js'
import { partsOf, type PartRow } from '../../src/stores/deliveries/parts.js'
import { prepareReaction } from '../../src/stores/deliveries/reactions.js'
import { putWake } from '../../src/stores/wakes/wakes.js'
import type { Db } from '../../src/stores/db.js'
import { bot, day } from '../exchange/outgoing-kit.js'
import { Desk } from './desk.js'
import { HandTime } from './hand-time.js'
import { appSecret, Office, type Outside } from './office.js'
import type { Place, PlannedAnswer, Schedule, Who } from './schedule.js'
import { uuidsOf } from './uuids.js'

/** An answer of the schedule, committed or not. */
export interface Asked {
  readonly plan: PlannedAnswer
  readonly trigger: WorldMessage
  readonly route: ReturnRef
  readonly id: DeliveryId
  readonly receipt: string
  committed: boolean
}

export interface ReactionChange {
  readonly kind: 'reaction-added' | 'reaction-removed'
  readonly messageId: string
  readonly emoji: string
}

const emoji = 'Get'
const sweepGraceMs = 10_000

/** The gateway's processes, the platform and the people of one schedule. */
export class World implements Outside {
  readonly time = new HandTime(day)
  readonly sandbox: Sandbox
  readonly desk = new Desk(() => this.time.now())
  readonly settings: Outside['settings']
  readonly sweepGraceMs = sweepGraceMs
  offline = false
  deaf = false
  readonly errors: unknown[] = []
  readonly asked: readonly Asked[]
  readonly offices = new Map<Who, Office>()
  /** Reactions of the bot, as everybody saw them come and go. */
  readonly reactions: ReactionChange[] = []
  private started = 0
  private commands = 0

  constructor(
    readonly db: Db,
    readonly schedule: Schedule,
  ) {
    let ids = 0
    this.sandbox = createSandbox({
      clock: this.time,
      timers: this.time.timers,
      newId: () => `id-${++ids}`,
      app: { appId: bot, appSecret },
      events: { mode: 'websocket' },
      rates: schedule.pacing,
    })
    seedSandboxWorld(this.sandbox)
    this.sandbox.onChange((change) => {
      if (change.kind !== 'reaction-added' && change.kind !== 'reaction-removed') return
      if (change.by === 'bot') this.reactions.push(change)
    })
    this.settings = {
      pacing: schedule.pacing,
      sweepGraceMs,
      receiptPolicy: schedule.policy,
      reactions: { received: emoji, done: schedule.done, failed: 'CrossMark' },
    }
    this.asked = schedule.answers.map((plan, nth) => this.ask(plan, nth))
    this.lay(schedule)
    for (const who of ['A', 'B'] as const) this.start(who)
  }

  private ask(plan: PlannedAnswer, nth: number): Asked {
    const { world } = this.sandbox
    const chats: Record<Place, string> = {
      direct: seedIds.dm,
      group: seedIds.group,
      fresh: seedIds.group,
      topic: seedIds.topicGroup,
      anchor: seedIds.topicGroup,
    }
    const chatId = chats[plan.place]
    const trigger = world.say({ chatId, from: seedIds.alice, text: `question ${nth}`, silent: true })
    const route: ReturnRef = {
      channel: 'lark',
      bot,
      chatId,
      chatType: plan.place === 'direct' ? 'p2p' : 'group',
      threadId: trigger.threadId,
      replyTo: plan.place === 'fresh' || plan.place === 'anchor' ? null : trigger.id,
    }
    return { plan, trigger, route, id: `delivery-${nth}` as DeliveryId, receipt: `receipt-${nth}`, committed: false }
  }

  private lay({ faults }: Schedule): void {
    const lay = (api: ApiName, actions: readonly (FaultAction | null)[]): void =>
      actions.forEach((action, at) => {
        if (action !== null) this.sandbox.faults.add({ api, when: { nth: at + 1 }, do: action, times: 1 })
      })
    lay('message.create', faults.send)
    lay('message.reply', faults.send)
    lay('message.get', faults.get)
    lay('message.list', faults.list)
    lay('file.upload', faults.upload)
    lay('token', faults.token)
    lay('reaction.create', faults.react)
    lay('reaction.delete', faults.unreact)
    lay('reaction.list', faults.look)
  }

  start(who: Who): Office {
    const office = new Office(this, `${who}${++this.started}`, who)
    this.offices.set(who, office)
    return office
  }

  office(who: Who): Office {
    return this.offices.get(who) ?? this.start(who)
  }

  /** The next answer is committed, as a turn's end does it; its question got its receipt before. */
  async commit(who: Who): Promise<void> {
    const next = this.asked.find((one) => !one.committed)
    if (next === undefined) return
    next.committed = true
    if (next.plan.receipt) await this.receive(who, next)
    const text = next.plan.parts
      .flatMap((kind, at) => {
        if (kind === 'file') return []
        const words = kind === 'same' ? 'the same words' : `answer ${next.id} part ${at}`
        return [kind === 'card' ? `**${words}**` : words]
      })
      .join('\n\n')
    const digest = sha256(text) as TextDigest
    const { db } = this
    await db.sql`
      insert into collab.texts (digest, access_scope, body) values (${digest}, 'test', ${text}) on conflict do nothing`
    const delivery = this.deliveryOf(next, digest)
    const wake = await db.tx(async (tx) => {
      await putDeliveries(tx, [delivery])
      return await putWake(tx, 'deliver', delivery.id, this.time.now())
    })
    if (!this.deaf) await this.desk.put([wake])
  }

  private deliveryOf(asked: Asked, digest: TextDigest): NewDelivery {
    const files = asked.plan.parts.flatMap((kind, at) =>
      kind === 'file' ? [{ digest: sha256(`${at}`), fileName: `f${at}.txt`, mediaType: 'text/plain', size: 1 }] : [],
    )
    const { messageId, chatId } = { messageId: asked.trigger.id, chatId: asked.route.chatId }
    return {
      id: asked.id,
      causeKind: 'result',
      causeId: asked.id,
      route: asked.route,
      bot,
      request: null,
      source: {
        kind: 'answer',
        endsReceipt: asked.plan.receipt ? { messageId, chatId, end: 'done' } : null,
        language: 'en',
        textDigest: digest,
        conclusionDigest: null,
        accessScope: 'test',
        files,
        label: null,
        refusedOperations: [],
        reportName: 'report',
      },
      createdAt: this.time.now() as Instant,
    }
  }

  /** The row in the event's own statement, then the reaction in process, which nobody waits for. */
  private async receive(who: Who, asked: Asked): Promise<void> {
    const office = this.office(who)
    const receipt = { id: asked.receipt, bot: bot as BotId, messageId: asked.trigger.id, chatId: asked.route.chatId }
    const at = this.time.now()
    await prepareReaction(this.db.sql, { ...receipt, purpose: 'received', emoji, preparedAt: at })
    void office.process.task(() => placeReceipt(office.x, { ...receipt, emoji }, at))
    await office.process.rest()
  }

  /** Messages of the bot in a place, in the order in which readers see them come. */
  shown(chatId: string): readonly WorldMessage[] {
    return this.sandbox.world.messages(chatId).filter((message) => message.sender === 'bot')
  }

  /** What an operator who looks into the chat sees of a part. */
  isShown(route: ReturnRef, part: PartRow): boolean {
    const uuids = uuidsOf(part)
    return this.shown(route.chatId).some((message) => message.uuid !== null && uuids.has(message.uuid))
  }

  /**
   * An operator decides over what is parked: never within the time in which a call may still arrive, and with the
   * truth where the truth is asked for.
   */
  async decide(nth: number, wanted: PartDecision | 'retry' | 'truth'): Promise<boolean> {
    const asked = this.asked[nth % this.asked.length]
    if (asked === undefined || !asked.committed) return false
    const rows = await partsOf(this.db.sql, asked.id)
    const parked = rows.find((row) => row.state === 'parked')
    let decision: PartDecision | undefined
    if (wanted !== 'retry') {
      if (parked === undefined) return false
      const last = Math.max(0, ...parked.history.map((call) => call.endedAt ?? call.startedAt))
      if (this.time.now() - last < 2 * MINUTE) return false
      decision = wanted === 'give-up' ? wanted : this.isShown(asked.route, parked) ? 'present' : 'absent-send'
    }
    const outcome = await retryDelivery(this.operator(), {
      delivery: asked.id,
      ...(decision === undefined || parked === undefined
        ? {}
        : { part: { index: parked.index, subIndex: parked.subIndex }, decision }),
      who: 'operator',
      eventId: `command-${++this.commands}` as EventId,
    })
    return outcome.outcome === 'put'
  }

  async isParked(nth: number): Promise<boolean> {
    const id = this.asked[nth]?.id
    return id !== undefined && (await partsOf(this.db.sql, id)).some((row) => row.state === 'parked')
  }

  /** The operator's door is a process of its own that nothing happens to. */
  private operator(): Office['x'] {
    const door = new Office(this, `door${this.commands}`, 'door')
    door.process.release()
    return door.x
  }

  /** Removes what the schedule wrote, so that the next one has the same ids. */
  async clear(): Promise<void> {
    for (const office of this.offices.values()) office.bury()
    await this.sandbox.close()
    await this.db.sql.unsafe(`
      delete from collab.send_attempts; delete from collab.delivery_parts; delete from collab.deliveries;
      delete from collab.reactions; delete from collab.wakes; delete from collab.pacing; delete from collab.audit_lines;
      delete from collab.texts`)
  }
}
