import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { JobOutcome, JobRun } from '../../src/collab/jobs.js'
import { done, fakePerformer, until } from '../queue/kit.js'
import { wake, type QueueRig } from '../queue/rig.js'

const worker = fileURLToPath(new URL('../queue/worker-process.ts', import.meta.url))

/** The part of the queue contract about workers that stop, die or hang. */
export function endingsContract(rig: QueueRig): void {
  describe('workers that end', () => {
    test('a stop tells the running jobs, waits for them and leaves the others for the next process', async () => {
      const performer = fakePerformer(
        (run) => new Promise((resolve) => run.signal.addEventListener('abort', () => resolve(done))),
      )
      const workers = rig.work(performer, { concurrency: { request: 2, delivery: 1, upkeep: 1 } })
      await rig.queues.lookup.put(Array.from({ length: 5 }, (_, at) => wake('turn', `t${at}`)))
      await until('two run', () => performer.runs.length === 2)
      expect(await workers.stop(5_000)).toEqual({ unfinished: 0 })
      expect(performer.runs).toHaveLength(2)
      expect((await rig.queues.counts()).request).toMatchObject({ completed: 2, waiting: 3, active: 0 })
    })

    test('a fault while the process stops costs no attempt', async () => {
      const performer = fakePerformer(
        (run) =>
          new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(new Error('interrupted')))),
      )
      const workers = rig.work(performer)
      const ref = wake('turn', 't1')
      await rig.queues.lookup.put([ref])
      await until('it runs', () => performer.runs.length === 1)
      expect(await workers.stop(5_000)).toEqual({ unfinished: 0 })
      expect((await rig.jobOf(ref)).attemptsMade).toBe(0)
      expect(['delayed', 'waiting']).toContain(await rig.stateOf(ref))
    })

    test('a stop has a hard limit, and what it left behind is run by another worker', async () => {
      const deaf = fakePerformer(() => new Promise<JobOutcome>(() => {}))
      const short = { lockDurationMs: 1_000, stalledIntervalMs: 500 }
      const workers = rig.work(deaf, short)
      const ref = wake('turn', 't1')
      await rig.queues.lookup.put([ref])
      await until('it runs', () => deaf.runs.length === 1)
      const from = performance.now()
      expect(await workers.stop(300)).toEqual({ unfinished: 1 })
      expect(performance.now() - from).toBeLessThan(3_000)
      const performer = fakePerformer(() => done)
      rig.work(performer, short)
      await rig.reaches(ref, 'completed')
      expect(performer.started()).toEqual(['turn-t1-g1'])
    })

    test('the jobs of a killed process are run by another', async () => {
      const args = ['--import', 'tsx', worker, rig.server.backend.kind, rig.server.backend.url, '1000', '500']
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      const taken: string[] = []
      createInterface({ input: child.stdout }).on('line', (line) => taken.push(line))
      const ended = once(child, 'exit')
      try {
        await rig.queues.lookup.put([wake('turn', 't1'), wake('deliver', 'd1')])
        await until('the process took both', () => taken.length === 2)
      } finally {
        child.kill('SIGKILL')
        await ended
      }
      const performer = fakePerformer(() => done)
      rig.work(performer, { lockDurationMs: 1_000, stalledIntervalMs: 500 })
      await rig.reaches(wake('turn', 't1'), 'completed')
      await rig.reaches(wake('deliver', 'd1'), 'completed')
      expect(performer.started().sort()).toEqual(['deliver-d1-g1', 'turn-t1-g1'])
      expect(performer.runs.map((run: JobRun) => run.lastAttempt)).toEqual([false, false])
      expect(await rig.jobOf(wake('turn', 't1'))).toMatchObject({ stalledCounter: 1, attemptsMade: 1 })
    })

    test('a worker that is connected but idle before waiting jobs is replaced', async () => {
      const performer = fakePerformer(() => done)
      let paused = 0
      rig.work(performer, {
        idleLimitMs: 300,
        livenessEveryMs: 50,
        onWorker: (queue, made) => {
          // The first one stands for a client that hangs: connected, and never taking a job.
          if (queue === 'delivery' && paused++ === 0) void made.pause(true)
        },
      })
      await rig.queues.lookup.put([wake('deliver', 'd1')])
      await rig.reaches(wake('deliver', 'd1'), 'completed')
      expect(paused).toBe(2)
      expect(rig.log.lines.filter((line) => line.message.includes('is replaced'))).toHaveLength(1)
    })
  })
}
