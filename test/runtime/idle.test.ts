import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OWNER_PROFILE } from '../../src/collab/audience.js'
import type { RuntimeSession, SessionRef } from '../../src/collab/ports.js'
import type { LaneId } from '../../src/collab/refs.js'
import { must } from '../../src/lib/assert.js'
import { createAcpRuntime } from '../../src/runtime/acp/adapter.js'
import { createCodexRuntime } from '../../src/runtime/codex/adapter.js'
import { descendantsOf } from '../../src/runtime/codex/descendants.js'
import type { HostedRuntime } from '../../src/runtime/hosted.js'
import { groupIsGone } from '../../src/runtime/process-group.js'
import { codexBench, type CodexBench, hasCodex } from '../kit/codex-bench.js'
import { acpOptions, collect, eventually, inputOf, never, temporaryFolder } from '../kit/runtime-bench.js'
import { scriptedAgent } from '../kit/scripted-command.js'

const SESSIONS = 50
/** Some of them; each costs a start of its agent. */
const GO_ON = [0, 17, 33, 49]
const AT_ONCE = 4
const IDLE_MS = 50
/** Fifty real agents take their time on a busy machine. */
const LIMIT_MS = 600_000
/** From the last turn until nothing is left. */
const GONE_WITHIN_MS = 60_000

/** Sessions of lanes of their own, as conversations have them, below one folder. */
class Conversations {
  constructor(
    private readonly runtime: HostedRuntime,
    private readonly folder: string,
  ) {}

  async open(nth: number, resume: SessionRef | null): Promise<RuntimeSession> {
    const workspace = join(this.folder, `conversation-${nth}`)
    mkdirSync(workspace, { recursive: true })
    const spec = { lane: `conversation-${nth}` as LaneId, profile: OWNER_PROFILE, workspace, resume }
    const opening = await this.runtime.open(spec, never)
    if (opening.outcome !== 'opened') throw new Error(`not opened: ${opening.outcome}: ${opening.detail}`)
    return opening.session
  }

  /** Each has one turn, a few at the same time; how the runtime names them. */
  async begin(): Promise<readonly SessionRef[]> {
    const refs: SessionRef[] = []
    let next = 0
    const one = async (): Promise<void> => {
      while (next < SESSIONS) {
        const nth = next++
        const session = await this.open(nth, null)
        expect(await said(session, `!reply I am heron ${nth}.`)).toBe(`I am heron ${nth}.`)
        refs[nth] = session.ref
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, one))
    return refs
  }
}

async function said(session: RuntimeSession, message: string): Promise<string> {
  const { ended } = await collect(session.turn(inputOf(message), never))
  return ended.ended === 'completed' ? ended.final : JSON.stringify(ended)
}

/** What runs below this process that did not run before. */
async function begunSince(before: readonly number[]): Promise<readonly number[]> {
  return (await descendantsOf(process.pid)).filter((pid) => !before.includes(pid))
}

describe('fifty idle sessions', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  beforeAll(async () => {
    folder = await temporaryFolder()
  })
  afterAll(() => folder.remove())

  test(
    'of an ACP agent hold no process, and each goes on where it was',
    async () => {
      const command = (await scriptedAgent())()
      const runtime = createAcpRuntime(acpOptions(command, { idleMs: IDLE_MS }))
      const before = await descendantsOf(process.pid)
      try {
        const conversations = new Conversations(runtime, join(folder.path, 'acp'))
        const refs = await conversations.begin()
        const pids = refs.map(({ id }) => Number(/^s(\d+)-/u.exec(id)?.[1]))
        expect(new Set(pids).size).toBe(SESSIONS)
        for (const pid of pids) await eventually(() => groupIsGone(pid), GONE_WITHIN_MS)
        await eventually(async () => (await begunSince(before)).length === 0, GONE_WITHIN_MS)
        for (const nth of GO_ON) {
          const session = await conversations.open(nth, must(refs[nth], 'a session'))
          expect(session).toMatchObject({ opened: 'resumed', ref: refs[nth] })
          expect(await said(session, '!turn')).toBe('This is turn 2 of this session.')
        }
      } finally {
        expect(await runtime.end()).toEqual({ executor: 'gone' })
      }
    },
    LIMIT_MS,
  )

  describe.skipIf(!hasCodex)('of the real codex', () => {
    let bench: CodexBench
    beforeAll(async () => {
      bench = await codexBench()
    })
    afterAll(() => bench.close())

    test(
      'hold no process, and each goes on where it was',
      async () => {
        const runtime = createCodexRuntime(bench.options({ idleMs: IDLE_MS }))
        const before = await descendantsOf(process.pid)
        try {
          const conversations = new Conversations(runtime, join(folder.path, 'codex'))
          const refs = await conversations.begin()
          expect(new Set(refs.map(({ id }) => id)).size).toBe(SESSIONS)
          expect(bench.pids()).toHaveLength(SESSIONS)
          for (const pid of bench.pids()) await eventually(() => groupIsGone(pid), GONE_WITHIN_MS)
          await eventually(async () => (await begunSince(before)).length === 0, GONE_WITHIN_MS)
          for (const nth of GO_ON) {
            const session = await conversations.open(nth, must(refs[nth], 'a session'))
            expect(session).toMatchObject({ opened: 'resumed', ref: refs[nth] })
            expect(await said(session, '!turn')).toBe('This is turn 2 of this session.')
            const heard = must(bench.mock.requests.at(-1), 'a request').messages.join('\n')
            expect(heard.match(/heron \d+/gu)).toEqual([`heron ${nth}`])
          }
        } finally {
          expect(await runtime.end()).toEqual({ executor: 'gone' })
        }
      },
      LIMIT_MS,
    )
  })
})
