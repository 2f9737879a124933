import { expect } from 'vitest'
import { deliveryOf } from '../../src/stores/deliveries/deliveries.js'
import { partsOf, type PartRow } from '../../src/stores/deliveries/parts.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { uuidsOf } from './uuids.js'
import type { Asked, World } from './world.js'

/** What came of one answer, said once so that a failure shows all of it. */
export interface Came {
  readonly outcome: string | null
  readonly parts: readonly { readonly row: PartRow; readonly shown: readonly WorldMessage[] }[]
}

export async function cameOf(world: World, asked: Asked): Promise<Came> {
  const delivery = await deliveryOf(world.db.sql, asked.id)
  const rows = await partsOf(world.db.sql, asked.id)
  const everywhere = world.sandbox.world.chats().flatMap((chat) => world.shown(chat.chatId))
  return {
    outcome: delivery?.outcome ?? null,
    parts: rows.map((row) => {
      // A part that only goes another way keeps its key: what is shown is its newest row.
      const heir = rows.some(
        (other) => other.replaces === row.subIndex && other.index === row.index && sameKey(row, other),
      )
      const uuids = heir ? new Set<string>() : uuidsOf(row)
      return { row, shown: everywhere.filter((message) => message.uuid !== null && uuids.has(message.uuid)) }
    }),
  }
}

const sameKey = (row: PartRow, heir: PartRow): boolean => [...uuidsOf(row)].includes(heir.key.slice(0, 40))

/**
 * What must hold of every answer whatever happened: each part once, in order, in its place, or stopped with a reason
 * that is told; nothing after a part that is not in the chat.
 */
export async function expectSound(world: World): Promise<void> {
  expect(world.errors).toEqual([])
  for (const asked of world.asked) {
    const came = await cameOf(world, asked)
    expectParts(world, asked, came)
    expectEnd(asked, came)
  }
  await expectNothingOwed(world)
}

/** Where nothing refuses, everything arrives; only what cannot be told apart in the chat may wait for an operator. */
export async function expectArrived(world: World): Promise<void> {
  for (const asked of world.asked) {
    const { outcome, parts } = await cameOf(world, asked)
    const why = parts.map(({ row }) => `${row.state} ${row.because ?? ''}`)
    if (parts.some(({ row }) => row.because === 'given-up')) continue
    const alike = asked.plan.parts.some((kind) => kind !== 'text')
    expect(
      alike ? ['verified', 'accepted', 'parked'] : ['verified', 'accepted'],
      `${asked.id}: ${why.join(', ')}`,
    ).toContain(outcome)
    for (const { row } of parts.filter((part) => part.row.state === 'parked')) {
      expect(row.because, asked.id).toBe('look-up-no-content-to-match')
    }
  }
}

function expectParts(world: World, asked: Asked, { parts }: Came): void {
  const order = world.shown(asked.route.chatId).map((message) => message.id)
  const seen: number[] = []
  for (const { row, shown } of parts) {
    const name = `${asked.id} part ${row.index}.${row.subIndex} (${row.state} ${row.because ?? ''})`
    expect(shown.length, `${name} is shown at most once`).toBeLessThanOrEqual(1)
    const [message] = shown
    if (row.state === 'verified' || row.state === 'accepted') expect(message, `${name} is shown`).toBeDefined()
    if (row.state === 'superseded') expect(message, `${name} is replaced, so it is not shown`).toBeUndefined()
    if (row.state === 'planned') expect(message, `${name} is not shown`).toBeUndefined()
    if (row.state === 'failed' && row.because !== 'given-up') expect(message, `${name} is not shown`).toBeUndefined()
    if (row.state === 'failed' || row.state === 'parked') expect(row.because, `${name} says why`).toBeTruthy()
    expect(['sending', 'ambiguous'], `${name} has come to rest`).not.toContain(row.state)
    expect(
      row.history.filter((call) => call.endedAt === null),
      `${name} has no open call`,
    ).toEqual([])
    if (message === undefined) continue
    expect(message.chatId, `${name} stands in its chat`).toBe(asked.route.chatId)
    if (asked.route.threadId !== null)
      expect(message.threadId, `${name} stands in its topic`).toBe(asked.route.threadId)
    if (row.state === 'verified') expect(message.id, `${name} is the message it names`).toBe(row.messageId)
    seen.push(order.indexOf(message.id))
  }
  expect(seen, `${asked.id}: parts in order`).toEqual([...seen].sort((a, b) => a - b))
  const standing = parts.filter(({ row }) => row.state !== 'superseded')
  const stop = standing.findIndex(({ row }) => row.state !== 'verified' && row.state !== 'accepted')
  const after = stop === -1 ? [] : standing.slice(stop + 1)
  expect(
    after.flatMap(({ shown }) => shown),
    `${asked.id}: nothing after a part that stopped`,
  ).toEqual([])
  if (asked.committed) expect(standing.length, `${asked.id} has its parts`).toBeGreaterThanOrEqual(1)
}

function expectEnd(asked: Asked, { outcome, parts }: Came): void {
  const standing = parts.filter(({ row }) => row.state !== 'superseded').map(({ row }) => row.state)
  const expected = standing.includes('failed')
    ? 'failed'
    : standing.includes('parked')
      ? 'parked'
      : standing.every((state) => state === 'verified')
        ? 'verified'
        : 'accepted'
  expect(outcome, `${asked.id} says what came of it: ${standing.join(' ')}`).toBe(expected)
}

/** No wake waits, nothing runs, and each failure was told to the owner or could not be. */
async function expectNothingOwed(world: World): Promise<void> {
  const { sql } = world.db
  const open = await sql`select kind, subject, state from collab.wakes 
    where state in ('pending', 'running') and kind in ('deliver', 'reaction')`
  expect([...open], 'nothing is owed any more').toEqual([])
  const unsettled = await sql`select id from collab.deliveries where settled_at is null`
  expect([...unsettled], 'every delivery has ended').toEqual([])
  const reactions = await sql`select id, state from collab.reactions where state in ('prepared', 'removing')`
  expect([...reactions], 'every reaction has ended').toEqual([])
}
