import type postgres from 'postgres'
import type { Db } from '../../src/stores/db.js'

/** How a wait of a process ends. `die`: everything of it stops as by SIGKILL. `fail`: the connection is lost. */
export type Cut = 'die-before' | 'die-after' | 'fail-before' | 'fail-after'

/** What a dead process waits for never comes; nothing of it runs on, not even a `finally`. */
const never = new Promise<never>(() => {})

/**
 * One process whose every word with the outside (a statement, a transaction, a call) is a gate. It passes a gate when
 * the schedule says so, or at once while it runs free; so the same schedule gives the same interleaving.
 */
export class Stepped {
  private readonly waiting: (() => void)[] = []
  private readonly resting: (() => void)[] = []
  private tasks = 0
  private inFlight = 0
  private looking = false
  private cut: Cut | null = null
  private free = false
  private onDeath = (): void => {}
  private readonly died = new Promise<void>((resolve) => (this.onDeath = resolve))
  dead = false

  /** Runs `work` as something that this process does; it counts until it ends. */
  async task<T>(work: () => Promise<T>): Promise<T> {
    this.tasks += 1
    try {
      return await work()
    } finally {
      this.tasks -= 1
      this.look()
    }
  }

  async pass<T>(what: 'database' | 'call', work: () => PromiseLike<T>): Promise<T> {
    if (!this.free && !this.dead) {
      await new Promise<void>((go) => {
        this.waiting.push(go)
        this.look()
      })
    }
    if (this.dead) return await never
    const cut = this.takeCut(what)
    if (cut === 'die-before') return await this.die()
    if (cut === 'fail-before') throw lost()
    this.inFlight += 1
    let value: T
    try {
      value = await work()
    } finally {
      this.inFlight -= 1
      this.look()
    }
    // Killed by the schedule while the word was on its way.
    if (this.dead || cut === 'die-after') return await this.die()
    if (cut === 'fail-after') throw lost()
    return value
  }

  /** The next gate that it fits ends so. A call has its own faults, on the platform's side. */
  cutNext(cut: Cut): void {
    this.cut = cut
  }

  /** Passes one gate and waits until the process stands again. False: it stands at none. */
  async step(): Promise<boolean> {
    const go = this.waiting.shift()
    if (go === undefined) return false
    go()
    await this.rest()
    return true
  }

  /** Waits until everything stands at a gate or has ended. */
  async rest(): Promise<void> {
    if (this.stands()) return
    await new Promise<void>((resolve) => {
      this.resting.push(resolve)
      this.look()
    })
  }

  /**
   * Lets the process run by itself while `work` does, or until it dies; what stands at a gate stays there. A lost
   * connection ends it as it ends a round of the sweeper.
   */
  async freely(work: () => Promise<unknown>): Promise<void> {
    const before = this.free
    this.free = true
    try {
      await Promise.race([work(), this.died])
    } catch (error) {
      if (!isLost(error)) throw error
    } finally {
      this.free = before
    }
  }

  /** From now on nothing stops it any more. */
  release(): void {
    this.free = true
    this.cut = null
    for (const go of this.waiting.splice(0)) go()
  }

  get idle(): boolean {
    return this.tasks === 0
  }

  private async die(): Promise<never> {
    this.kill()
    return await never
  }

  kill(): void {
    this.dead = true
    this.onDeath()
    this.waiting.splice(0)
    for (const resolve of this.resting.splice(0)) resolve()
  }

  private takeCut(what: 'database' | 'call'): Cut | null {
    const { cut } = this
    if (cut === null || (what === 'call' && cut.startsWith('fail'))) return null
    this.cut = null
    return cut
  }

  private stands(): boolean {
    return this.dead || (this.inFlight === 0 && (this.waiting.length > 0 || this.tasks === 0))
  }

  /** After everything that follows from the last answer has run. */
  private look(): void {
    if (this.looking || this.resting.length === 0) return
    this.looking = true
    setImmediate(() => {
      this.looking = false
      if (this.stands()) for (const resolve of this.resting.splice(0)) resolve()
    })
  }
}

export function isLost(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'CONNECTION_CLOSED'
}

function lost(): Error {
  return Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' })
}

/** A transaction is one gate: it happens whole or not at all. */
export function steppedDb(db: Db, process: Stepped): Db {
  return {
    ...db,
    sql: steppedSql(db.sql, process),
    tx: (work) => process.pass('database', () => db.tx(work)),
  }
}

function steppedSql(sql: postgres.Sql, process: Stepped): postgres.Sql {
  return new Proxy(sql, {
    apply(target, self, args) {
      const query: PromiseLike<unknown> = Reflect.apply(target, self, args)
      const then = query.then.bind(query)
      // Asked only when it is awaited: a fragment inside another statement stays what it is.
      // oxlint-disable-next-line unicorn/no-thenable -- it is thenable already
      Object.defineProperty(query, 'then', {
        value: (ok: never, bad: never) =>
          process.pass('database', () => new Promise((resolve, reject) => void then(resolve, reject))).then(ok, bad),
      })
      return query
    },
  })
}
