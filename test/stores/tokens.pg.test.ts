import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AgentId, LaneId } from '../../src/collab/refs.js'
import { sha256 } from '../../src/lib/digest.js'
import { callerOf, standingToken, toolAccess } from '../../src/exchange/tokens.js'
import type { Exchange } from '../../src/exchange/deps.js'
import { findToken, issueToken, listTokens, revokeToken } from '../../src/stores/tokens/tokens.js'
import { endTurnRow, startTurn } from '../../src/stores/turns/turns.js'
import { freshDb, type FreshDb } from '../kit/pg.js'

let fresh: FreshDb
beforeAll(async () => {
  fresh = await freshDb()
})
afterAll(() => fresh.drop())

const sql = () => fresh.db.sql
let now = 1_796_000_000_000
let count = 0
const token = (seat: string, more: { readonly lane?: string; readonly expiresAt?: number } = {}) => ({
  agent: 'builder',
  seat,
  session: 's1',
  lane: more.lane ?? null,
  digest: sha256(`digest ${++count}`),
  now,
  expiresAt: more.expiresAt ?? null,
})
const issue = async (given: ReturnType<typeof token>) => ({ ...given, epoch: await issueToken(sql(), given) })
const exchange = (): Exchange =>
  ({
    db: fresh.db,
    clock: { now: () => now },
    newSecret: () => sha256(`secret ${++count}`).slice(0, 43),
    toolsUrl: 'http://127.0.0.1:3000/mcp',
  }) as Exchange

describe('tokens', () => {
  test('each new token of a seat begins the next epoch and makes the older ones stale at once', async () => {
    const [first, other, second] = [await issue(token('a')), await issue(token('b')), await issue(token('a'))]
    expect([first.epoch, other.epoch, second.epoch]).toEqual([1, 1, 2])
    expect(await findToken(sql(), first.digest, now)).toMatchObject({ current: false, revoked: false, epoch: 1 })
    expect(await findToken(sql(), second.digest, now)).toEqual({
      agent: 'builder',
      seat: 'a',
      session: 's1',
      epoch: 2,
      lane: null,
      current: true,
      revoked: false,
      expired: false,
    })
    expect(await findToken(sql(), other.digest, now)).toMatchObject({ current: true })
  })

  test('many issuers at once get many epochs, and exactly one token is current', async () => {
    const issued = await Promise.all(Array.from({ length: 20 }, () => issue(token('crowd'))))
    expect(issued.map(({ epoch }) => epoch).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1))
    const found = await Promise.all(issued.map(({ digest }) => findToken(sql(), digest, now)))
    expect(found.filter((one) => one?.current === true).map((one) => one?.epoch)).toEqual([20])
  })

  test('a revoked token stays revoked, and does not bring an older one back', async () => {
    const [older, newer] = [await issue(token('r')), await issue(token('r'))]
    expect(await revokeToken(sql(), 'r', newer.epoch, now)).toBe(true)
    expect(await revokeToken(sql(), 'r', newer.epoch, now)).toBe(false)
    expect(await revokeToken(sql(), 'nothing', 1, now)).toBe(false)
    expect(await findToken(sql(), newer.digest, now)).toMatchObject({ current: true, revoked: true })
    expect(await findToken(sql(), older.digest, now)).toMatchObject({ current: false })
  })

  test('a token has expired from its time on', async () => {
    const { digest } = await issue(token('e', { expiresAt: now + 10 }))
    expect(await findToken(sql(), digest, now + 9)).toMatchObject({ expired: false })
    expect(await findToken(sql(), digest, now + 10)).toMatchObject({ expired: true })
  })

  test('the list shows no digest', async () => {
    const listed = await listTokens(sql(), 'builder')
    expect(listed.length).toBeGreaterThan(20)
    expect(JSON.stringify(listed)).not.toContain(sha256('digest 1'))
    expect(await listTokens(sql(), 'nobody')).toEqual([])
    expect(await listTokens(sql(), null)).toEqual(listed)
  })
})

describe('who calls', () => {
  const agent = 'builder' as AgentId
  const lane = 'lane-7' as LaneId

  test('a managed agent calls from its lane, in the turn that runs there now', async () => {
    const x = exchange()
    const { url, token: bearer } = await toolAccess(x, { agent, lane })
    expect(url).toBe('http://127.0.0.1:3000/mcp')
    const caller = { agent, session: lane, epoch: 1, lane, turn: null }
    expect(await callerOf(x, bearer)).toEqual(caller)
    await startTurn(sql(), {
      id: 'turn-1',
      lane,
      request: 'r',
      attempt: 'a',
      revision: 1,
      runtime: 'acp',
      holder: 'h',
      fence: 1,
      startedAt: now,
    })
    expect(await callerOf(x, bearer)).toEqual({ ...caller, turn: 'turn-1' })
    await endTurnRow(sql(), 'turn-1', 'completed', null, now)
    expect(await callerOf(x, bearer)).toEqual(caller)
  })

  test('a token is refused once a newer executor has begun, when it is revoked, and when nobody gave it', async () => {
    const x = exchange()
    const { token: old } = await toolAccess(x, { agent, lane })
    const { token: fresh } = await toolAccess(x, { agent, lane })
    expect(await callerOf(x, old)).toEqual({ refused: 'stale-epoch' })
    expect(await callerOf(x, fresh)).toMatchObject({ agent, epoch: 3 })
    await revokeToken(sql(), `lane ${lane}`, 3, now)
    expect(await callerOf(x, fresh)).toEqual({ refused: 'revoked' })
    expect(await callerOf(x, 'lma_made-up')).toEqual({ refused: 'unknown' })
  })

  test('an attached agent has a seat for each session', async () => {
    const x = exchange()
    const one = await standingToken(x, { agent, session: 'laptop' })
    const two = await standingToken(x, { agent, session: 'server' })
    const again = await standingToken(x, { agent, session: 'laptop' })
    expect([one.epoch, two.epoch, again.epoch]).toEqual([1, 1, 2])
    expect(await callerOf(x, one.token)).toEqual({ refused: 'stale-epoch' })
    expect(await callerOf(x, two.token)).toEqual({ agent, session: 'server', epoch: 1, lane: null, turn: null })
    expect(await callerOf(x, again.token)).toMatchObject({ session: 'laptop', epoch: 2 })
  })

  test('only digests are at rest', async () => {
    const { token: bearer } = await standingToken(exchange(), { agent, session: 'at-rest' })
    const rows = await sql()`select t::text as row from collab.tokens t`
    expect(rows.length).toBeGreaterThan(0)
    for (const { row } of rows) expect(String(row)).not.toContain(bearer.slice(4))
  })
})
