import type postgres from 'postgres'
import type { Channel } from '../../src/collab/channel.js'
import type { Db } from '../../src/stores/db.js'

export class Killed extends Error {}

/**
 * Ends a run as SIGKILL would: at the `at`-th thing that it waits for, before or after that took effect, everything
 * stops, and nothing that it waits for afterwards happens either.
 */
export class Killer {
  private waits = 0
  private dead = false
  constructor(
    private readonly at: number,
    private readonly effect: 'before' | 'after',
  ) {}

  async wait<T>(work: () => PromiseLike<T>): Promise<T> {
    if (this.dead) throw new Killed()
    const mine = this.waits++ === this.at
    if (mine && this.effect === 'before') this.die()
    const value = await work()
    if (mine) this.die()
    return value
  }

  private die(): never {
    this.dead = true
    throw new Killed()
  }
}

export function mortalDb(db: Db, killer: Killer): Db {
  return {
    ...db,
    sql: mortalSql(db.sql, killer),
    tx: (work) => killer.wait(() => db.tx((tx) => work(mortalSql(tx, killer)))),
  }
}

function mortalSql<S extends postgres.Sql | postgres.TransactionSql>(sql: S, killer: Killer): S {
  return new Proxy(sql, {
    apply(target, self, args) {
      const query: PromiseLike<unknown> = Reflect.apply(target, self, args)
      const then = query.then.bind(query)
      // Asked only when it is awaited: a fragment inside another statement stays what it is.
      // oxlint-disable-next-line unicorn/no-thenable -- it is thenable already
      Object.defineProperty(query, 'then', {
        value: (ok: never, bad: never) =>
          killer.wait(() => new Promise((resolve, reject) => void then(resolve, reject))).then(ok, bad),
      })
      return query
    },
  })
}

export function mortalChannel<C extends Channel>(channel: C, killer: Killer): C {
  return new Proxy(channel, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function' || key === 'identity' || key === 'withUpload') {
        return typeof value === 'function' ? value.bind(target) : value
      }
      return (...args: unknown[]) => killer.wait(() => value.apply(target, args) as PromiseLike<unknown>)
    },
  })
}
