import { createLarkChannel } from '../../src/bot/egress/lark-channel.js'
import { createLarkClient } from '../../src/bot/lark-client.js'
import type { Channel } from '../../src/collab/channel.js'
import type { Performer } from '../../src/collab/jobs.js'
import type { ExchangeSettings } from '../../src/exchange/deps.js'
import { createPerformer, recover } from '../../src/exchange/perform.js'
import { sha256 } from '../../src/lib/digest.js'
import { silentLogger } from '../../src/lib/log.js'
import { SECOND } from '../../src/lib/time.js'
import { renderAnswer } from '../../src/render/answer.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import type { Db } from '../../src/stores/db.js'
import { bot, TestClock, testExchange, TestMeter, type TestExchange } from '../exchange/outgoing-kit.js'
import type { Desk, Job } from './desk.js'
import type { HandTime } from './hand-time.js'
import { isLost, Stepped, steppedDb } from './stepped.js'

export const appSecret = 'sandbox-secret'
const CALL_MS = 10 * SECOND

/** What all processes of one schedule share. */
export interface Outside {
  readonly db: Db
  readonly time: HandTime
  readonly sandbox: Sandbox
  readonly desk: Desk
  readonly settings: Partial<ExchangeSettings>
  /** No route to the platform. */
  offline: boolean
  /** Kicks do not reach the queue. */
  deaf: boolean
  /** Errors that no schedule makes: bugs. */
  readonly errors: unknown[]
}

/** One process of the gateway, from its start to its death. */
export class Office {
  readonly process = new Stepped()
  readonly x: TestExchange
  private readonly performer: Performer
  private readonly stopping = new AbortController()
  private readonly ends: (() => void)[] = []

  constructor(
    private readonly outside: Outside,
    readonly name: string,
    holder: string,
  ) {
    const { db, time, desk } = outside
    let ids = 0
    const stepped = steppedDb(db, this.process)
    const channel = this.channel()
    this.x = {
      ...testExchange(stepped, new TestClock(), channel, outside.settings),
      clock: time,
      newId: () => `${name}-${++ids}`,
      wake: {
        kick: (wakes) => void (outside.deaf ? null : desk.put(wakes.filter((wake) => wake.kind !== 'upkeep'))),
      },
      every: (ms, work) => {
        const end = time.every(ms, () => this.process.freely(work))
        this.ends.push(end)
        return end
      },
      holder,
    }
    this.performer = createPerformer(this.x)
  }

  private channel(): Channel {
    const { time } = this.outside
    const client = createLarkClient({
      bot,
      appSecret,
      baseUrl: 'http://sandbox.invalid',
      clock: time,
      log: silentLogger,
      meter: new TestMeter(),
      fetch: wire(this.outside, this.process),
    })
    const real = createLarkChannel({
      bot,
      client,
      clock: time,
      identity: () => ({ openId: 'ou_bot', name: 'Manager' }),
      renderAnswer: async (view) => renderAnswer(view),
      storeFile: async (bytes, fileName, mediaType) => ({
        digest: sha256(bytes),
        fileName,
        mediaType,
        size: bytes.byteLength,
      }),
    })
    return inParagraphs(real)
  }

  /** Takes the next due job, if it does nothing yet. False: there is none. */
  begin(): boolean {
    const job = this.outside.desk.take(this.name)
    if (job !== null) void this.process.task(() => this.perform(job))
    return job !== null
  }

  private async perform(job: Job): Promise<void> {
    const { desk, errors } = this.outside
    try {
      const outcome = await this.performer.perform({
        ...job.wake,
        signal: this.stopping.signal,
        lastAttempt: false,
      })
      if (outcome.outcome === 'later') desk.again(job, outcome.at)
      else desk.end(job, outcome.outcome === 'done' ? 'completed' : 'failed')
    } catch (error) {
      if (!isLost(error)) errors.push(error)
      desk.failedOnce(job)
    }
  }

  /** Runs through `gates` gates, taking jobs as they come. */
  async run(gates: number): Promise<void> {
    for (let passed = 0; passed < gates && !this.process.dead; passed++) {
      await this.process.rest()
      if (await this.process.step()) continue
      if (!this.process.idle || this.stopping.signal.aborted || !this.begin()) return
      await this.process.rest()
    }
  }

  /** A sweep, all at once. */
  async sweep(): Promise<number> {
    let put = 0
    if (!this.process.dead) {
      await this.process.freely(async () => void (put = await this.performer.sweep(this.outside.desk)))
    }
    return put
  }

  async recover(): Promise<void> {
    await this.process.freely(() => recover(this.x))
  }

  stop(): void {
    this.stopping.abort()
  }

  get stopped(): boolean {
    return this.stopping.signal.aborted
  }

  /** What a death leaves to the others. */
  bury(): void {
    this.process.kill()
    for (const end of this.ends) end()
    this.outside.desk.abandon(this.name)
  }
}

/** Many messages out of a few words: each paragraph is an answer of its own to the renderer. */
export function inParagraphs(real: Omit<Channel, 'history'>): Channel {
  return {
    ...real,
    history: async () => ({ read: 'refused', because: 'not-permitted' }),
    async plan(content, route) {
      if (content.kind !== 'answer') return await real.plan(content, route)
      const { markdown, attachments, ...rest } = content
      const each = markdown.split('\n\n').map((one) => ({ ...rest, markdown: one, attachments: [] }))
      const parts = await Promise.all(each.map((one) => real.plan(one, route)))
      const [only] = each
      if (only === undefined || attachments.length === 0) return parts.flat()
      const withFiles = await real.plan({ ...only, attachments }, route)
      return [...parts.flat(), ...withFiles.filter((part) => part.file !== null)]
    },
  }
}

/** The way to the platform: a call leaves, takes effect, and its answer comes back; each of them is a gate. */
function wire(outside: Outside, process: Stepped): typeof fetch {
  const { time, sandbox } = outside
  return async (input, init = {}) => {
    const from = time.now()
    const inTime = (): void => {
      if (time.now() - from > CALL_MS) throw new DOMException('This operation was aborted', 'AbortError')
    }
    const { signal: _, ...rest } = init
    const answer = await process.pass('call', async () => {
      inTime()
      if (outside.offline) throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
      const response = await sandbox.handle(new Request(input as URL, rest))
      return { response, text: await response.text() }
    })
    await process.pass('call', async () => inTime())
    const { status, headers, ok } = answer.response
    return { status, headers, ok, body: null, text: async () => answer.text } as unknown as Response
  }
}
