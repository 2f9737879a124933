import type postgres from 'postgres'

/** What a statement needs, inside a transaction or outside. `bigint` is read as a number. */
export type WorkSql = postgres.Sql | postgres.TransactionSql

/** One transaction at read committed, run again when the database chose it as the loser of a race. */
export type WorkTx = <T>(work: (sql: postgres.TransactionSql) => Promise<T>) => Promise<T>
