import { localRecall } from '../exchange/agents/recall-local.js'
import { noRecall } from '../collab/recall.js'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createArtifactBytes, sweepIncoming } from '../artifacts/bytes.js'
import { createWorkspaces } from '../artifacts/workspaces.js'
import type { Channel } from '../collab/channel.js'
import type { AgentRuntime, Meter, Wake } from '../collab/ports.js'
import type { AgentId, BotId } from '../collab/refs.js'
import type { Exchange } from '../exchange/deps.js'
import { createRunningTurns } from '../exchange/running.js'
import type { Logger } from '../lib/log.js'
import type { Db } from '../stores/db.js'
import { HOUR } from '../lib/time.js'
import { every, newId, newSecret, systemClock } from './chance.js'
import type { Config } from './config.js'
import type { DataDir } from './data-dir.js'
import type { Work } from './work.js'

/** Where the plugs meet the sockets. `channels` is filled when the bots are made. */
export function createExchange(parts: {
  readonly config: Config
  readonly db: Db
  readonly log: Logger
  readonly meter: Meter
  readonly wake: Wake
  readonly runtime: AgentRuntime
  readonly runtimeFor: (agent: AgentId) => Promise<AgentRuntime | null>
  readonly work: Work
  readonly channels: ReadonlyMap<BotId, Channel>
  readonly holder: string
  /** Known once the port is taken; null until then. */
  readonly toolsUrl: () => string | null
  /** The same for the owner's pages. */
  readonly publicUrl: () => string | null
  readonly owners: ReadonlySet<string>
  readonly lendPlace: () => () => void
}): Exchange {
  const { config, db, log, meter, wake, runtime, runtimeFor, work, channels, holder, owners } = parts
  const { numbers } = config
  const artifacts = createArtifactBytes({ root: artifactsIn(config), newId })
  return {
    db,
    clock: systemClock,
    newId,
    every,
    lendPlace: parts.lendPlace,
    log,
    meter,
    wake,
    channelOf: (bot) => channels.get(bot) ?? null,
    runtime,
    runtimeFor,
    running: createRunningTurns(),
    recall: config.recall === 'local' ? localRecall({ db, clock: systemClock }) : noRecall,
    directory: work.directory,
    work: work.authority,
    get toolsUrl() {
      return parts.toolsUrl()
    },
    get publicUrl() {
      return parts.publicUrl()
    },
    newSecret,
    artifacts,
    workspaces: createWorkspaces({ root: join(config.dataDir, 'workspaces'), artifacts }),
    host: hostname(),
    holder,
    settings: {
      ownerOpenIds: owners,
      openChats: config.chats.open,
      atAllChats: config.chats.atAll,
      botChats: config.chats.bots,
      reactions: config.reactions,
      receiptPolicy: config.receiptPolicy,
      lateAfterMs: numbers.lateAfterMs,
      onRecall: config.onRecall,
      lateRunWithinMs: numbers.lateRunWithinMs,
      silenceMs: numbers.silenceMs,
      approvalWaitMs: numbers.approvalWaitMs,
      progressAfterMs: numbers.progressAfterMs,
      followUpsWaiting: numbers.followUpsWaiting,
      followUpsHoldMs: numbers.followUpsHoldMs,
      receiptSlotMs: numbers.receiptSlotMs,
      turnTries: numbers.turnTries,
      holdMs: numbers.holdMs,
      sweepGraceMs: numbers.sweepGraceMs,
      sweepBatch: numbers.sweepBatch,
      pacing: config.pacing,
      attachmentLimitBytes: numbers.attachmentLimit,
    },
  }
}

const artifactsIn = (config: Config): string => join(config.dataDir, 'artifacts')

/** Half files of a process that was killed. Split roles share a folder, so there only what is old is surely nobody's. */
export async function sweepFiles(config: Config, dataDir: DataDir | null, log: Logger): Promise<void> {
  const now = systemClock.now()
  const count = await sweepIncoming(artifactsIn(config), dataDir === null ? now - HOUR : now)
  if (count > 0) log.info('half-written files of an earlier process were removed', { count })
}
