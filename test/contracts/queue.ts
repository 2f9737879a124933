import { describe, expect, test } from 'vitest'
import type { JobOutcome } from '../../src/collab/jobs.js'
import { jobIdOf } from '../../src/collab/jobs.js'
import type { Instant } from '../../src/collab/refs.js'
import { done, fakePerformer, gate, until } from '../queue/kit.js'
import { clock, queueRig, wake, type QueueUnderTest } from '../queue/rig.js'
import { endingsContract } from './queue-endings.js'

/** What the rest of the house relies on, whichever backend carries the jobs. */
export function queueContract(name: string, open: () => Promise<QueueUnderTest>): void {
  describe(`queue contract — ${name}`, () => {
    const rig = queueRig(open)
    endingsContract(rig)

    test('a kicked wake is run with its kind, subject and generation, on the queue of its kind', async () => {
      const performer = fakePerformer(() => done)
      rig.work(performer)
      const kinds = ['accept', 'turn', 'deliver', 'reaction', 'upkeep'] as const
      rig.queues.wake.kick(kinds.map((kind, at) => wake(kind, `0190-${kind}`, at + 1)))
      await until('all ran', () => performer.runs.length === 5)
      expect(performer.started().sort()).toEqual([
        'accept-0190-accept-g1',
        'deliver-0190-deliver-g3',
        'reaction-0190-reaction-g4',
        'turn-0190-turn-g2',
        'upkeep-0190-upkeep-g5',
      ])
      expect((await rig.queues.queue('request').getJob('turn-0190-turn-g2'))?.name).toBe('turn')
      expect(await rig.queues.queue('upkeep').getJob('turn-0190-turn-g2')).toBeUndefined()
    })

    test('the server holds ids and no content', async () => {
      await rig.queues.lookup.put([wake('turn', 'subject-1')])
      const job = await rig.jobOf(wake('turn', 'subject-1'))
      expect(job.data).toEqual({ id: 'subject-1' })
      rig.work(fakePerformer(() => Promise.reject(Object.assign(new Error('refused'), { body: 'the private words' }))))
      await until('it failed once', async () => (await rig.jobOf(wake('turn', 'subject-1'))).attemptsMade > 0)
      const held = await rig.server.dump()
      expect(held).toContain('refused')
      expect(held).not.toContain('the private words')
      expect(held).not.toContain(process.cwd())
    })

    test('the same wake put twice is one job and one run', async () => {
      const ref = wake('deliver', 'd1')
      await rig.queues.lookup.put([ref, ref])
      await rig.queues.lookup.put([ref])
      rig.queues.wake.kick([ref, ref])
      const performer = fakePerformer(() => done)
      rig.work(performer)
      await rig.reaches(ref, 'completed')
      await rig.queues.lookup.put([ref, wake('deliver', 'd2')])
      await rig.reaches(wake('deliver', 'd2'), 'completed')
      expect(performer.started()).toEqual(['deliver-d1-g1', 'deliver-d2-g1'])
    })

    test('a raised generation runs after the one that is held', async () => {
      const held = gate()
      const performer = fakePerformer(async (run) => {
        if (run.generation === 1) await held.opened
        return done
      })
      rig.work(performer, { concurrency: { request: 1, delivery: 1, upkeep: 1 } })
      rig.queues.wake.kick([wake('turn', 'lane')])
      await until('the first runs', () => performer.runs.length === 1)
      await rig.queues.lookup.put([wake('turn', 'lane', 1), wake('turn', 'lane', 2)])
      expect(performer.runs).toHaveLength(1)
      held.open()
      await rig.reaches(wake('turn', 'lane', 2), 'completed')
      expect(performer.started()).toEqual(['turn-lane-g1', 'turn-lane-g2'])
    })

    test('a fault is tried again with growing waits, then the job stays failed and shows why', async () => {
      const performer = fakePerformer(() => Promise.reject(new TypeError('the line broke')))
      const ref = wake('deliver', 'd1')
      rig.work(performer)
      await rig.queues.lookup.put([ref])
      await rig.reaches(ref, 'delayed')
      const delay = (await rig.jobOf(ref)).delay
      expect(delay).toBeGreaterThanOrEqual(500)
      expect(delay).toBeLessThanOrEqual(1_000)
      await rig.hurryUntil(ref, 'failed')
      expect(performer.runs.map((run) => run.lastAttempt)).toEqual([false, false, false, false, true])
      const job = await rig.jobOf(ref)
      expect(job.failedReason).toBe('TypeError: the line broke')
      expect((await rig.queues.counts()).delivery.failed).toBe(1)
      // A row whose tries are used up is not asked about; one that is asked about must run again.
      expect(await rig.queues.lookup.known([ref])).toEqual(new Set())
    })

    test('a failed job that is replayed by hand really runs once more', async () => {
      const performer = fakePerformer((_, nth) => {
        if (nth <= 6) throw new Error('not yet')
        return done
      })
      const ref = wake('deliver', 'd1')
      rig.work(performer)
      await rig.queues.lookup.put([ref])
      await rig.hurryUntil(ref, 'failed')
      await (await rig.jobOf(ref)).retry()
      await until('it ran again', () => performer.runs.length === 6)
      expect(performer.runs.at(-1)?.lastAttempt).toBe(true)
      await rig.reaches(ref, 'failed')
      await (await rig.jobOf(ref)).retry()
      await rig.reaches(ref, 'completed')
      expect(performer.runs).toHaveLength(7)
    })

    test('an end for good is not tried again, stays visible with its reason, and a replay runs it', async () => {
      const performer = fakePerformer((_, nth): JobOutcome =>
        nth === 1 ? { outcome: 'failed', because: 'target-gone' } : done,
      )
      const ref = wake('deliver', 'd1')
      rig.work(performer)
      await rig.queues.lookup.put([ref])
      await rig.reaches(ref, 'failed')
      expect((await rig.jobOf(ref)).failedReason).toBe('target-gone')
      expect(performer.runs).toHaveLength(1)
      await (await rig.jobOf(ref)).retry()
      await rig.reaches(ref, 'completed')
      expect(performer.runs).toHaveLength(2)
    })

    test('a completed job that is replayed by hand runs again and shows what it said', async () => {
      const performer = fakePerformer((_, nth): JobOutcome => ({
        outcome: 'done',
        note: nth === 1 ? 'sent' : 'already delivered',
      }))
      const ref = wake('deliver', 'd1')
      rig.work(performer)
      await rig.queues.lookup.put([ref])
      await rig.reaches(ref, 'completed')
      await (await rig.jobOf(ref)).retry('completed')
      await until('it ran again', async () => (await rig.jobOf(ref)).returnvalue === 'already delivered')
      expect(performer.started()).toEqual(['deliver-d1-g1', 'deliver-d1-g1'])
    })

    test('edited data are ignored: the subject comes from the id of the job', async () => {
      const ref = wake('deliver', 'd1')
      await rig.queues.lookup.put([ref])
      await (await rig.jobOf(ref)).updateData({ id: 'somebody-else' })
      const performer = fakePerformer(() => done)
      rig.work(performer)
      await rig.reaches(ref, 'completed')
      expect(performer.started()).toEqual(['deliver-d1-g1'])
      expect(rig.log.lines.filter((line) => line.message.includes('were changed'))).toHaveLength(1)
    })

    test('a job that was not made from a wake fails at once and is never performed', async () => {
      const foreign = await rig.queues.queue('delivery').add('deliver', { id: 'd1' }, { attempts: 5 })
      const performer = fakePerformer(() => done)
      rig.work(performer)
      await until('it failed', async () => (await foreign.getState()) === 'failed')
      expect(performer.runs).toEqual([])
    })

    test('a wait delays the job, never below the floor, and costs no attempt', async () => {
      const performer = fakePerformer((_, nth): JobOutcome => {
        if (nth <= 8) return { outcome: 'later', at: (clock.now() - 1_000) as Instant, because: 'rate limit' }
        throw new Error('a fault after many waits')
      })
      const ref = wake('deliver', 'd1')
      rig.work(performer)
      await rig.queues.lookup.put([ref])
      await until('it waited eight times', () => performer.runs.length === 9)
      expect(performer.runs.map((run) => run.lastAttempt)).not.toContain(true)
      await rig.reaches(ref, 'delayed')
      expect((await rig.jobOf(ref)).attemptsMade).toBe(1)
    })

    test('a wait until a time holds the job until that time', async () => {
      let at = 0
      const performer = fakePerformer((_, nth): JobOutcome => {
        if (nth > 1) return done
        at = clock.now() + 800
        return { outcome: 'later', at: at as Instant, because: 'channel down' }
      })
      const ref = wake('deliver', 'd1')
      rig.work(performer)
      await rig.queues.lookup.put([ref])
      await rig.reaches(ref, 'delayed')
      expect(await rig.queues.lookup.known([ref])).toEqual(new Set([jobIdOf(ref)]))
      await rig.reaches(ref, 'completed')
      expect(clock.now()).toBeGreaterThanOrEqual(at)
    })

    test('known tells the living from the finished and the lost', async () => {
      const waiting = wake('turn', 't1')
      const finished = wake('upkeep', 'u1')
      const lost = wake('accept', 'a1')
      rig.work(fakePerformer((run) => (run.kind === 'turn' ? new Promise(() => {}) : done)))
      await rig.queues.lookup.put([waiting, finished])
      await rig.reaches(finished, 'completed')
      expect(await rig.queues.lookup.known([waiting, finished, lost])).toEqual(new Set([jobIdOf(waiting)]))
    })

    test('after the queue lost everything its jobs are unknown and can be put again', async () => {
      const refs = Array.from({ length: 250 }, (_, at) => wake('upkeep', `u${at}`))
      await rig.queues.lookup.put(refs)
      expect((await rig.queues.lookup.known(refs)).size).toBe(250)
      await rig.server.wipe()
      expect((await rig.queues.lookup.known(refs)).size).toBe(0)
      const performer = fakePerformer(() => done)
      rig.work(performer)
      await rig.queues.lookup.put(refs)
      await until('all ran', () => performer.runs.length === 250)
      expect(new Set(performer.started()).size).toBe(250)
    })

    test('no more jobs of a queue run at the same time than allowed, and all of those', async () => {
      let running = 0
      let most = 0
      const hold = gate()
      const performer = fakePerformer(async () => {
        running += 1
        most = Math.max(most, running)
        await hold.opened
        running -= 1
        return done
      })
      rig.work(performer, { concurrency: { request: 3, delivery: 1, upkeep: 1 } })
      rig.queues.wake.kick(Array.from({ length: 12 }, (_, at) => wake('turn', `t${at}`)))
      await until('three run', () => running === 3)
      await until('the rest waits', async () => (await rig.queues.counts()).request.waiting === 9)
      hold.open()
      await until('all ran', async () => (await rig.queues.counts()).request.completed === 12)
      expect(most).toBe(3)
    })

    test('counts include the waiting jobs of a paused queue', async () => {
      await rig.queues.queue('request').pause()
      try {
        await rig.queues.lookup.put([wake('turn', 't1'), wake('turn', 't2')])
        expect((await rig.queues.counts()).request).toMatchObject({ waiting: 2, active: 0 })
      } finally {
        await rig.queues.queue('request').resume()
      }
    })

    test('the board sees ids only, and can retry', async () => {
      const adapters = rig.queues.adapters()
      expect(adapters.map((adapter) => [adapter.getName(), adapter.readOnlyMode, adapter.allowRetries])).toEqual([
        ['request', false, true],
        ['delivery', false, true],
        ['upkeep', false, true],
      ])
      expect(adapters[0]?.format('data', { id: 't1', extra: 'words' })).toEqual({ id: 't1' })
    })

    test('a ping says that the server is there', async () => {
      expect(await rig.queues.ping()).toEqual({ reachable: true })
    })
  })
}
