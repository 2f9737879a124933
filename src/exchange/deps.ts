import type { Channel } from '../collab/channel.js'
import type {
  AgentDirectory,
  AgentRuntime,
  ArtifactBytes,
  Meter,
  Wake,
  WorkAuthority,
  Workspaces,
} from '../collab/ports.js'
import type { OnRecall } from '../collab/decide/withheld.js'
import type { AgentId, BotId } from '../collab/refs.js'
import type { Logger } from '../lib/log.js'
import type { Clock } from '../lib/time.js'
import type { RecallProvider } from '../collab/recall.js'
import type { Db } from '../stores/db.js'
import type { RunningTurns } from './running.js'

/** Everything a verb needs; built once in `app`. */
export interface Exchange {
  readonly db: Db
  readonly clock: Clock
  readonly newId: () => string
  readonly log: Logger
  readonly meter: Meter
  readonly wake: Wake
  readonly channelOf: (bot: BotId) => Channel | null
  readonly runtime: AgentRuntime
  /** The runtime of one agent; null for an attached one, which pulls by itself. */
  readonly runtimeFor: (agent: AgentId) => Promise<AgentRuntime | null>
  /** What this process runs now and has not heard of yet. */
  readonly running: RunningTurns
  /** Off unless it was chosen; nothing depends on what it finds. */
  readonly recall: RecallProvider
  readonly directory: AgentDirectory
  readonly work: WorkAuthority
  /** Where agents reach their tools; null when no door is open in this process. */
  readonly toolsUrl: string | null
  /** Where the owner's pages are, without a slash at its end; null when no door is open in this process. */
  readonly publicUrl: string | null
  /** A fresh secret for a token; only its digest is kept. */
  readonly newSecret: () => string
  readonly artifacts: ArtifactBytes
  readonly workspaces: Workspaces
  readonly settings: ExchangeSettings
  /** Calls `work` again and again until stopped; a call that is still running is not overlapped. */
  readonly every: (ms: number, work: () => Promise<void>) => () => void
  /** Lends the place of a turn that waits for a person to another one, until the returned function is called. */
  readonly lendPlace: () => () => void
  /** The name of this machine, for agents. */
  readonly host: string
  /** Names this installation's process: who holds a wake, a turn or a lease. */
  readonly holder: string
}

/** Durations in milliseconds. */
export interface ExchangeSettings {
  /** Listed owners may bind by their first direct message. */
  readonly ownerOpenIds: ReadonlySet<string>
  /** Chats that the start opened wider, below what a chat's policy says: no mention needed, `@all`, other bots. */
  readonly openChats: ReadonlySet<string>
  readonly atAllChats: ReadonlySet<string>
  readonly botChats: ReadonlySet<string>
  /** An empty name turns that reaction off. */
  readonly reactions: { readonly received: string; readonly done: string; readonly failed: string }
  readonly receiptPolicy: 'clear' | 'retain'
  readonly lateAfterMs: number
  /** What happens to a result whose question was withdrawn while the work ran. */
  readonly onRecall: OnRecall
  /** A late message from an absence of our own runs by itself while it is younger; 0 holds all of them. */
  readonly lateRunWithinMs: number
  /** After so long without any event the histories are read. */
  readonly silenceMs: number
  /** So long a turn waits for a person's word, in ms; 0: what nothing allows is refused at once. */
  readonly approvalWaitMs: number
  /** A request without an answer for so long gets a live card; 0: never. */
  readonly progressAfterMs: number
  /** So many follow-ups wait behind a turn; those beyond wait for their owner's word. 0: however many. */
  readonly followUpsWaiting: number
  /** A follow-up that has waited behind a turn for so long waits for its owner's word. */
  readonly followUpsHoldMs: number
  /** A receipt that cannot get a slot within this time is skipped and counted. */
  readonly receiptSlotMs: number
  /** Failed turns of one request before it is handed to the owner as failed. */
  readonly turnTries: number
  /** How long a claim lasts without renewal. */
  readonly holdMs: number
  /** How long a wake may wait for its job before the sweep asks the queue. */
  readonly sweepGraceMs: number
  readonly sweepBatch: number
  /** False switches our own pacing off (a platform without limits, in benchmarks). */
  readonly pacing: boolean
  readonly attachmentLimitBytes: number
}
