import type { IncomingMessage, TurnAuthority } from '../collab/message.js'
import type { BotIdentity, Channel } from '../collab/channel.js'
import type { Meter } from '../collab/ports.js'
import type { BotId } from '../collab/refs.js'
import type { Logger } from '../lib/log.js'
import type { Clock } from '../lib/time.js'
import { createLarkChannel } from './egress/lark-channel.js'
import type { PlanParts } from './egress/plan.js'
import { createIdentity } from './identity.js'
import {
  createLongConnection,
  isAppId,
  NOT_AN_APP_ID,
  type ConnectionLease,
  type ConnectionState,
  type Pace,
} from './ingress/long-connection.js'
import { readHistory } from './ingress/history.js'
import { withIdentity } from './ingress/message.js'
import type { Act } from './ingress/press.js'
import { judgeAuthority } from './ingress/principal.js'
import { createReceive, type ChatPolicy, type Take } from './ingress/receive.js'
import { createWebhook } from './ingress/webhook.js'
import { createLarkClient } from './lark-client.js'

export interface BotParts extends PlanParts {
  readonly bot: BotId
  readonly appSecret: string
  readonly baseUrl: string
  readonly events:
    | { readonly mode: 'websocket'; readonly lease: ConnectionLease; readonly pace?: Partial<Pace> }
    | { readonly mode: 'webhook'; readonly encryptKey: string | null; readonly verificationToken: string | null }
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
  readonly log: Logger
  readonly meter: Meter
  readonly take: Take
  /** Carries out a press on a card; absent: presses are only stored. */
  readonly press?: Act
  readonly policy: () => ChatPolicy
  /** The platform said who we are: what waited unjudged can be judged now. */
  readonly onIdentity: (identity: BotIdentity) => void
  /** The long connection was made, first or again. */
  readonly onConnected?: () => void
}

export interface BotState {
  readonly identity: BotIdentity | null
  /** Why it is not known; null once it is. */
  readonly identityError: string | null
  /** What is wrong with our own settings, whatever the platform answers; null when nothing is. */
  readonly settingsError: string | null
  /** Null in webhook mode. */
  readonly connection: ConnectionState | null
}

export interface Bot {
  readonly channel: Channel
  /** Null over the long connection: then nothing may come in by HTTP. */
  readonly webhook: ((request: Request) => Promise<Response>) | null
  /** Judges a stored group message that came before we knew who we are. */
  judge(message: IncomingMessage): { readonly message: IncomingMessage; readonly turnAuthority: TurnAuthority }
  start(): void
  stop(): Promise<void>
  /** The long connection is open and brings nothing: a new one is made. Nothing in webhook mode. */
  reopen(reason: string): void
  state(): BotState
}

/** One bot on Lark: both doors in, the channel out, and who it is. */
export function createBot(parts: BotParts): Bot {
  const { bot, appSecret, baseUrl, clock, log, meter, events } = parts
  const client = createLarkClient({ bot, appSecret, baseUrl, clock, meter, log })
  const identity = createIdentity({ client, log, random: parts.random, onIdentity: parts.onIdentity })
  const receive = createReceive({
    bot,
    identity: identity.current,
    policy: parts.policy,
    take: parts.take,
    ...(parts.press === undefined ? {} : { press: parts.press }),
    log,
    meter,
    clock,
  })
  const connection =
    events.mode === 'websocket'
      ? createLongConnection({
          bot,
          appSecret,
          baseUrl,
          receive,
          lease: events.lease,
          log,
          clock,
          random: parts.random,
          ...(parts.onConnected === undefined ? {} : { onConnected: parts.onConnected }),
          ...(events.pace === undefined ? {} : { pace: events.pace }),
        })
      : null
  const webhook =
    events.mode === 'webhook'
      ? createWebhook({
          bot,
          encryptKey: events.encryptKey,
          verificationToken: events.verificationToken,
          clock,
          receive,
          log,
          meter,
        })
      : null
  const judge = (message: IncomingMessage): TurnAuthority =>
    judgeAuthority(message, { self: identity.current(), ...parts.policy() })
  return {
    channel: {
      ...createLarkChannel({
        bot,
        client,
        clock,
        identity: identity.current,
        storeFile: parts.storeFile,
        ...(parts.readFile === undefined ? {} : { readFile: parts.readFile }),
        ...(parts.renderAnswer === undefined ? {} : { renderAnswer: parts.renderAnswer }),
      }),
      history: (ask) => readHistory({ bot, client, identity: identity.current, judge }, ask),
    },
    webhook,
    judge(message) {
      const self = identity.current()
      const known = self === null ? message : withIdentity(message, self)
      return { message: known, turnAuthority: judge(known) }
    },
    start() {
      identity.start()
      connection?.start()
    },
    async stop() {
      identity.stop()
      await connection?.stop()
    },
    reopen: (reason) => connection?.reopen(reason),
    state: () => ({
      identity: identity.current(),
      identityError: identity.error(),
      settingsError: connection === null || isAppId(bot) ? null : NOT_AN_APP_ID,
      connection: connection?.state() ?? null,
    }),
  }
}
