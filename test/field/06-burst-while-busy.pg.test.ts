import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { textOf, until, type TestGateway } from '../kit/gateway.js'
import { heldRecordingEnv, recordedPrompts } from '../kit/recording.js'
import { redisMissing, startRedis, type TestRedis } from '../kit/redis.js'
import { caseEvents, caseGateway, caseIds, staged } from './replay.js'

const backends = [
  { backend: 'Postgres', missing: null },
  { backend: 'Redis', missing: redisMissing },
] as const
const lastWord = ['comes while the lane is being given up', 'comes just before the lane is given up'] as const

describe.each(backends.map((one) => [one.backend, one.missing] as const))('case 06 on %s', (backend, missing) => {
  let redis: TestRedis | null = null
  let g: TestGateway
  let folder: string
  beforeAll(async () => {
    if (missing !== null) return
    folder = mkdtempSync(join(tmpdir(), 'lark-manager-holds-'))
    redis = backend === 'Redis' ? await startRedis() : null
    g = await caseGateway({
      env: heldRecordingEnv(folder),
      ...(redis === null ? {} : { redisUrl: redis.url }),
    })
  })
  afterAll(async () => {
    if (missing !== null) return
    await g.stop()
    await redis?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const hold = (n: number) => writeFileSync(join(folder, `hold-${n}`), '')
  const letGo = (n: number) => rmSync(join(folder, `hold-${n}`))

  /** Pushes event `n` of the case; a picture has its own number of bytes, so that the prompt tells which one it is. */
  function push(n: number, bytes: number): string {
    const event = must(caseEvents('06-burst-while-busy')[n], 'an event')
    const { world } = g.served.sandbox
    const png = Buffer.concat([Buffer.from('iVBORw0KGgo=', 'base64'), Buffer.alloc(bytes)])
    const image = { from: caseIds.owner, fileName: 'a.png', bytes: png, kind: 'image' } as const
    const said = staged(g.served, event, {}, n === 3 ? undefined : JSON.stringify({ image_key: world.upload(image) }))
    world.pushEvent(said.envelope)
    return said.message.id
  }
  const stored = (n: number) => async () => (await g.db.sql`select 1 from collab.work_requests`).length === n
  const waitingFor = (statement: string) => async () =>
    (
      await g.db.sql`
        select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like ${`%${statement}%`}`
    ).length > 0
  const giveUp = 'update collab.wakes set%state = case'
  // The view shows the first kilobyte of a statement: the one that opens a request is known by its beginning.
  const takeUp = 'insert into collab.request_revisions'

  test.skipIf(missing !== null).each([0, 1] as const)('the fourth message, case %i', async (order) => {
    const before = order * 4
    // Three turns: the first message alone, the two that waited behind it together, and the fourth.
    const turns = order * 3
    hold(turns + 1)
    hold(turns + 2)
    const ids: string[] = []
    for (const n of [0, 1, 2]) {
      ids.push(push(n, before + n))
      await until(stored(before + n + 1), `message ${n + 1}`)
      // What comes before the turn has begun would still go into it.
      if (n === 0) await until(() => recordedPrompts(g.dataDir).length === turns + 1, 'the first turn')
    }
    letGo(turns + 1)
    await until(() => recordedPrompts(g.dataDir).length === turns + 2, 'the second turn')
    // The row of the lane is locked by the test, so that both ends of the race meet at it in the order of the test.
    await g.db.sql.begin(async (tx) => {
      await tx`select 1 from collab.wakes where kind = 'turn' for update`
      if (order === 0) {
        letGo(turns + 2)
        await until(waitingFor(giveUp), 'the end of the lane')
        ids.push(push(3, 0))
        await until(waitingFor(takeUp), 'the fourth message')
      } else {
        ids.push(push(3, 0))
        await until(waitingFor(takeUp), 'the fourth message')
        letGo(turns + 2)
        await until(waitingFor(giveUp), 'the end of the lane')
      }
    })
    const prompts = (
      await until(() => {
        const all = recordedPrompts(g.dataDir)
        return all.length >= turns + 3 && all
      }, `the last turn, whose message ${lastWord[order]}`)
    ).slice(turns)
    await g.quiet()
    // All four, in order, none twice; the fourth needed no fifth.
    expect(prompts.map((prompt) => prompt.files.map((file) => file.size))).toEqual([
      [8 + before],
      [9 + before, 10 + before],
      [],
    ])
    expect(must(prompts[2], 'the fourth').text).toContain('add them up')
    expect(recordedPrompts(g.dataDir)).toHaveLength(turns + 3)
    // Each is answered, and nobody was told that something still runs or was not taken.
    const answers = g.answers(caseIds.dm).slice(turns)
    expect(answers.map((answer) => answer.parentId)).toEqual([ids[0], ids[1], ids[3]])
    for (const [n, answer] of answers.entries()) expect(textOf(answer)).toContain(`Prompt ${turns + n + 1} was read.`)
    for (const id of ids) expect(g.receipts(caseIds.dm, id)).toEqual([])
    // Each had its own receipt within two seconds, while the lane was busy.
    const { reactions } = g.served.sandbox.stats()
    for (const id of ids) {
      const { saidAt, reactedAt } = must(reactions[id], 'a receipt')
      expect(reactedAt).toHaveLength(1)
      expect(must(reactedAt[0], 'its time') - saidAt).toBeLessThanOrEqual(2_000)
    }
  })
})
