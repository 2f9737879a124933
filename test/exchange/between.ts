import type { Db } from '../../src/stores/db.js'

/**
 * A database whose user is overtaken: before its `at`-th step outside a transaction `meanwhile` runs to its end, as
 * another process would. A transaction is one step: within it the locks decide.
 */
export function overtaken(db: Db, at: number, meanwhile: () => Promise<void>): Db {
  let steps = 0
  const step = async <T>(work: () => PromiseLike<T>): Promise<T> => {
    if (steps++ === at) await meanwhile()
    return await work()
  }
  const sql = new Proxy(db.sql, {
    apply(target, self, args) {
      const query: PromiseLike<unknown> = Reflect.apply(target, self, args)
      const then = query.then.bind(query)
      // Asked only when it is awaited: a fragment inside another statement stays what it is.
      // oxlint-disable-next-line unicorn/no-thenable -- it is thenable already
      Object.defineProperty(query, 'then', {
        value: (ok: never, bad: never) =>
          step(() => new Promise((resolve, reject) => void then(resolve, reject))).then(ok, bad),
      })
      return query
    },
  })
  return { ...db, sql, tx: (work) => step(() => db.tx(work)) }
}
