import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MESSAGE_CLOSE, MESSAGE_OPEN } from '../../src/collab/project/prompt.js'
import { until, testGateway, type TestGateway } from '../kit/gateway.js'
import { heldRecordingEnv, recordedPrompts } from '../kit/recording.js'
import { redisMissing, startRedis, type TestRedis } from '../kit/redis.js'

const CHATS = 6
let redis: TestRedis
let g: TestGateway
const folder = mkdtempSync(join(tmpdir(), 'lark-manager-holds-'))
const chats = Array.from({ length: CHATS }, (_, n) => `oc_${String(n).padStart(32, '0')}`)
beforeAll(async () => {
  if (redisMissing !== null) return
  redis = await startRedis()
  g = await testGateway({
    redisUrl: redis.url,
    env: heldRecordingEnv(folder),
    before: ({ sandbox: { world } }) => {
      const alice = 'ou_365dd77a24668d45e4ef2913f80b51bf'
      for (const chatId of chats) world.addChat({ mode: 'group', name: chatId, members: [alice], chatId })
    },
  })
})
afterAll(async () => {
  if (redisMissing !== null) return
  await g.stop()
  await redis.stop()
  rmSync(folder, { recursive: true, force: true })
})

test.skipIf(redisMissing !== null)(
  'the queue is wiped while turns run, wait and are being delivered: each message is answered, none twice',
  async () => {
    const { world, faults } = g.served.sandbox
    // Every agent keeps its first prompt open, so that two messages wait behind it in each lane.
    writeFileSync(join(folder, 'hold-1'), '')
    // One more is told to wait by the platform: its job is a delayed one.
    const waiting = world.say({ chatId: g.ids.dm, from: g.ids.alice, text: 'the one that waits' })
    const now = Date.now()
    const said = chats.flatMap((chatId) =>
      ['one', 'two', 'three'].map((text, n) =>
        world.say({ chatId, from: g.ids.alice, text, mentionBot: true, createTime: now + n }),
      ),
    )
    await until(() => recordedPrompts(g.dataDir).length >= 4, 'turns that run')
    await until(
      async () => (await g.db.sql`select 1 from collab.work_requests`).length === said.length + 1,
      'all stored',
    )
    await redis.wipe()
    faults.add({ api: 'message.reply', times: 3, do: { kind: 'rate-limit', resetSeconds: 2 } })
    rmSync(join(folder, 'hold-1'))
    await until(() => g.answers(chats[0] ?? '').length > 0 || g.answers(chats[1] ?? '').length > 0, 'a first answer')
    await redis.wipe()
    const all = [...said, waiting]
    const answersTo = (message: (typeof all)[number]) =>
      g.answers(message.chatId).filter((answer) => answer.parentId === message.id)
    // A message that waited behind another of its chat went into the same turn: it is answered there.
    const joined = async () =>
      new Set(
        (
          await g.db.sql<{ origin: string }[]>`
            select w.origin_message as origin from collab.work_requests w join collab.observations o on o.request = w.id
            where o.kind = 'request-continued'`
        ).map((row) => row.origin),
      )
    await until(
      async () => {
        const together = await joined()
        return all.every((message) => together.has(message.id) || answersTo(message).length > 0)
      },
      'all answers',
      45_000,
    )
    await redis.wipe()
    await g.quiet(30_000)
    const together = await joined()
    for (const message of all) {
      expect(answersTo(message)).toHaveLength(together.has(message.id) ? 0 : 1)
      expect(g.receipts(message.chatId, message.id)).toEqual([])
    }
    // Nothing ran twice, nothing was left out, and each chat kept its order.
    const prompts = recordedPrompts(g.dataDir)
    expect(prompts).toHaveLength(all.length - together.size)
    for (const word of ['one', 'two', 'three']) {
      const shown = prompts.filter((prompt) => prompt.text.includes(`${MESSAGE_OPEN}\n${word}\n${MESSAGE_CLOSE}`))
      expect(shown).toHaveLength(CHATS)
    }
  },
)
