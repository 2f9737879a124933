import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jobIdOf } from '../../src/collab/jobs.js'
import type { WakeKind } from '../../src/collab/ports.js'
import { queueOf } from '../../src/collab/queues.js'
import { ATTEMPTS, jobFor, wakeOf } from '../../src/queue/job.js'

const kinds = Object.keys(queueOf) as WakeKind[]

describe('jobs', () => {
  test('an id is read back to the wake it was made from', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/),
        fc.integer({ min: 1, max: 1_000_000 }),
        (kind, subject, generation) => {
          const wake = { kind, subject, generation }
          expect(wakeOf(jobIdOf(wake))).toEqual(wake)
        },
      ),
    )
  })

  test.each([
    '',
    '17',
    'turn',
    'turn-x',
    'turn-x-g0',
    'turn-x-g',
    'turn--g1',
    'unknown-x-g1',
    'constructor-x-g1',
    undefined,
  ])('an id that no wake made is refused: %s', (id) => {
    expect(wakeOf(id)).toBeNull()
  })

  test('a job carries the id of its subject and nothing else', () => {
    const job = jobFor({ kind: 'deliver', subject: 'd1', generation: 2 })
    expect(job.data).toEqual({ id: 'd1' })
    expect(job.opts).toMatchObject({ jobId: 'deliver-d1-g2', attempts: ATTEMPTS, removeOnFail: false })
  })
})
