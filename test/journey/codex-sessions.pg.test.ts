import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { groupIsGone } from '../../src/runtime/process-group.js'
import type { SessionView } from '../../src/stores/views/sessions.js'
import { follow, type Told } from '../acceptance/follow.js'
import { office } from '../acceptance/kit.js'
import { acceptance } from '../kit/acceptance.js'
import { codexBench, type CodexBench, hasCodex } from '../kit/codex-bench.js'
import { openPlatform, until, type Platform } from '../kit/platform.js'
import { startProcess, type GatewayProcess } from '../kit/process.js'

describe.skipIf(!hasCodex)('sessions of the real codex, seen and replaced from outside', { timeout: 150_000 }, () => {
  let bench: CodexBench
  let p: Platform
  let gateway: GatewayProcess
  const o = office(() => ({ ...p, url: gateway.url }))
  beforeAll(async () => {
    bench = await codexBench()
    p = await openPlatform({ env: { ...bench.gatewayEnv, TURN_TRIES: '1', PROGRESS_AFTER_MS: '0' } })
    gateway = await startProcess(p)
  }, 120_000)
  afterAll(async () => {
    await gateway?.stop()
    await p?.close()
    await bench?.close()
  })

  const live = async (): Promise<SessionView> => {
    const { items } = (await o.get('/api/v1/sessions?live=true')) as { items: readonly SessionView[] }
    return must(items[0], 'a session')
  }

  acceptance(
    'A22',
    'what codex does is told as it happens; whoever comes back after a crash is told the rest once, with its late end',
    async () => {
      const go = join(bench.root, 'go')
      const said = o.say(`!think\n!run until [ -e ${go} ]; do sleep 0.1; done\n!reply done late`)
      const opened = await o.opened(said)
      const door = () => ({ url: gateway.url, token: p.token })
      const first = await follow(door(), opened.id, null, ({ what, kind }) => what === 'activity' && kind === 'tool')
      writeFileSync(go, '')
      const root = await o.when(opened.id, ({ state }) => state === 'closed', 'the end', 60_000)
      await p.quiet(40_000)
      await gateway.kill()
      await gateway.start()
      const done = (told: Told) => told.kind === 'fence-released'
      const second = await follow(door(), opened.id, first.place, done)
      expect((await follow(door(), opened.id, first.place, done)).told).toEqual(second.told)
      const all = [...first.told, ...second.told]
      expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
      const seqs = all.flatMap(({ seq }) => (seq === null ? [] : [seq]))
      const missed = Math.min(...seqs)
      expect(root.observations.map(({ kind }) => kind).slice(missed - 1)).toEqual(
        all.filter(({ what }) => what === 'fact').map(({ kind }) => kind),
      )
      const activities = all.filter(({ what }) => what === 'activity').map(({ kind }) => kind)
      expect(activities).toEqual(expect.arrayContaining(['thinking', 'tool', 'answering']))
      // Only the kind of it: neither the command nor what was thought.
      expect(JSON.stringify(all)).not.toMatch(/sleep|REASONING-CANARY/u)
      expect(await p.db.sql`select 1 from collab.turns where request = ${root.id}`).toHaveLength(1)
      expect(o.answers(said)).toHaveLength(1)
    },
  )

  acceptance(
    'A18',
    'a replaced session: its codex is gone before the next one acts, and a late correction goes to a thread of its own',
    async () => {
      const opened = await o.opened(o.say('!turn\n!reply the first'))
      await o.when(opened.id, ({ state }) => state === 'closed', 'the first answer', 60_000)
      await p.quiet(40_000)
      const before = await live()
      const old = must(bench.pids().at(-1), 'codex')
      const replaced = await fetch(`${gateway.url}/api/v1/sessions/${before.id}/replace`, {
        method: 'POST',
        headers: { authorization: `Bearer ${p.token}`, 'idempotency-key': 'r1' },
      })
      expect(replaced.status).toBe(200)
      const corrected = await fetch(`${gateway.url}/api/v1/requests/${opened.id}/revisions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${p.token}`,
          'content-type': 'application/json',
          'idempotency-key': 'late',
          'if-match': '"1"',
        },
        body: JSON.stringify({ kind: 'correction', text: '!turn\n!reply the second' }),
      })
      expect(corrected.status).toBe(200)
      const root = await o.when(
        opened.id,
        ({ state, revision }) => state === 'closed' && revision === 2,
        'the second',
        60_000,
      )
      expect(await groupIsGone(old)).toBe(true)
      const after = await live()
      expect(after.session).not.toBe(before.session)
      expect(root.results.map(({ text }) => text).join('\n')).toContain('This is turn 1 of this session.')
      await until(async () => ((await o.show(opened.id)).results.length === 2 ? true : null), 'both answers')
    },
  )
})
