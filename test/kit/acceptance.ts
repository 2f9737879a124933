import { test } from 'vitest'

type Row = `A${number}` | `S${number}`

/** A test that proves one pass condition of an acceptance row; its id stands in the title. */
export function acceptance(id: Row, title: string, run: () => void | Promise<void>): void {
  const number = Number(id.slice(1))
  const known = id.startsWith('A') ? number >= 1 && number <= 24 : number >= 1 && number <= 5
  if (!known) throw new Error(`no acceptance row ${id}`)
  test(`${id} ${title}`, run)
}
