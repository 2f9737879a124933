import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { textOf, testGateway, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'

let g: TestGateway
beforeAll(async () => {
  const command = await scriptedAgent()
  g = await testGateway({
    // The bound of the case is minutes; the tries are one, so that the first hang is told.
    env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command(), TURN_SILENCE_MS: '1500', TURN_TRIES: '1' },
  })
})
afterAll(() => g.stop())

const say = (text: string) => g.served.sandbox.world.say({ chatId: g.ids.dm, from: g.ids.alice, text }).id
const answersTo = (id: string) => g.answers(g.ids.dm).filter((one) => one.parentId === id)

/** Alive as the kernel tells it; one that has ended and was not collected is not. */
function alive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX] /su.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

describe('case 34, an agent that lives and says nothing', () => {
  test('the owner is told after the bound, the whole process tree ends, and the follow-up starts by itself', async () => {
    const first = say('!reply warm')
    await until(() => answersTo(first)[0], 'a first answer')
    const hung = say('!fail hang')
    await until(
      async () => (await g.db.sql`select 1 from collab.turns where ended_at is null`).length === 1,
      'the turn',
    )
    const queued = say('!reply after the hang')
    await until(() => g.receipts(g.ids.dm, queued).includes('Get'), 'the receipt of the follow-up')
    const notice = await until(() => answersTo(hung)[0], 'the notice')
    expect(textOf(notice)).toContain('The agent stopped responding and was ended.')
    await until(() => g.receipts(g.ids.dm, hung).join() === 'CrossMark', 'the mark')
    expect(textOf(await until(() => answersTo(queued)[0], 'the follow-up'))).toContain('after the hang')
    await until(() => g.receipts(g.ids.dm, queued).length === 0, 'the end of its receipt')
    const ended = () => g.db.sql<{ because: string | null }[]>`
      select t.because from collab.turns t join collab.work_requests r on r.id = t.request
      where r.origin_message = ${hung} and t.ended_at is not null`
    await until(async () => (await ended()).length === 1, 'the end of the turn')
    expect((await ended()).map((row) => row.because)).toEqual(['hung'])
  })

  test('the command that the agent had started is gone with it', async () => {
    const hung = say('!fail hang')
    const pid = await until(deafChild, 'the command')
    expect(alive(pid)).toBe(true)
    await until(() => answersTo(hung)[0], 'the notice')
    await until(() => !alive(pid), 'its end')
  })

  test('one message said at a time: no two sentences of ours contradict each other', () => {
    const texts = g.answers(g.ids.dm).map(textOf)
    expect(texts.some((text) => text.includes('Nothing is waiting here'))).toBe(false)
    expect(must(texts.at(-1), 'the last')).toContain('was ended')
  })
})

/** The process in our own workspaces that ignores SIGTERM, found by its command line. */
function deafChild(): number | null {
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/u.test(entry)) continue
    try {
      if (!readlinkSync(`/proc/${entry}/cwd`).startsWith(g.dataDir)) continue
      const line = readFileSync(`/proc/${entry}/cmdline`, 'utf8')
      if (line.includes('setInterval(() => {}, 1000)') && alive(Number(entry))) return Number(entry)
    } catch {
      // It ended meanwhile.
    }
  }
  return null
}
