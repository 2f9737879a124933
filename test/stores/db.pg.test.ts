import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { exactNumber } from '../../src/stores/client.js'

let fresh: FreshDb

beforeAll(async () => {
  fresh = await freshDb({ empty: true })
  await fresh.db.sql`create table counters (id text primary key, value bigint not null, note jsonb)`
})

afterAll(() => fresh.drop())

describe('the database client', () => {
  test('reads bigint as a number and writes it back exactly', async () => {
    const instant = 1_796_037_312_123
    await fresh.db.sql`insert into counters (id, value) values ('instant', ${instant})`
    const [row] = await fresh.db.sql<{ value: number }[]>`select value from counters where value = ${instant}`
    expect(row?.value).toBe(instant)
  })

  test('a bigint that a number cannot hold is an error, not another number', async () => {
    await expect(fresh.db.sql`select 9007199254740993::bigint as value`).rejects.toThrow(RangeError)
    expect(() => exactNumber('-9007199254740993')).toThrow(RangeError)
    const [after] = await fresh.db.sql`select 1::bigint as value`
    expect(after?.['value']).toBe(1)
  })

  test('raw jsonb stays an object beside the client of drizzle', async () => {
    await fresh.db.orm.execute('select 1')
    await fresh.db
      .sql`insert into counters (id, value, note) values ('note', 0, ${fresh.db.sql.json({ a: [1, '二'] })})`
    const [row] = await fresh.db.sql`select note, jsonb_typeof(note) as kind from counters where id = 'note'`
    expect(row).toMatchObject({ note: { a: [1, '二'] }, kind: 'object' })
  })

  test('a transaction that throws leaves nothing behind', async () => {
    const refused = fresh.db.tx(async (tx) => {
      await tx`insert into counters (id, value) values ('gone', 1)`
      throw new Error('not today')
    })
    await expect(refused).rejects.toThrow('not today')
    expect(await fresh.db.sql`select 1 from counters where id = 'gone'`).toHaveLength(0)
  })

  test('a transaction gives its value as it is and runs at read committed', async () => {
    const rows = await fresh.db.tx(async (tx) => {
      await tx`select 1`
      const [level] = await tx`show transaction_isolation`
      return [level?.['transaction_isolation'] as string]
    })
    expect(rows).toEqual(['read committed'])
  })

  test('the loser of a deadlock is run once more', async () => {
    await fresh.db.sql`insert into counters (id, value) values ('left', 0), ('right', 0)`
    let runs = 0
    // The second one waits until the first holds its row; only the first round of each may meet the other.
    let bothHold: () => void = () => {}
    const held = new Promise<void>((resolve) => (bothHold = resolve))
    let holders = 0
    const add = (first: string, second: string) =>
      fresh.db.tx(async (tx) => {
        runs++
        await tx`update counters set value = value + 1 where id = ${first}`
        if (++holders === 2) bothHold()
        await held
        await tx`update counters set value = value + 1 where id = ${second}`
      })
    await Promise.all([add('left', 'right'), add('right', 'left')])
    const rows = await fresh.db.sql`select value from counters where id in ('left', 'right')`
    expect(rows.map((row) => row['value'])).toEqual([2, 2])
    expect(runs).toBe(3)
  })

  test('a conflict is retried once and then given to the caller', async () => {
    let runs = 0
    const lost = fresh.db.tx(async (tx) => {
      runs++
      await tx`do $$ begin raise exception 'lost' using errcode = '40001'; end $$`
    })
    await expect(lost).rejects.toMatchObject({ code: '40001' })
    expect(runs).toBe(2)
  })
})
