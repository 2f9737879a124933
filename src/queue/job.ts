import type { BulkJobOptions } from 'bullmq'
import { jobIdOf } from '../collab/jobs.js'
import type { WakeKind, WakeRef } from '../collab/ports.js'
import { queueOf } from '../collab/queues.js'
import { DAY, SECOND } from '../lib/time.js'

/** All that a job carries. The worker does not even read it: the subject comes from the job's id. */
export interface JobData {
  readonly id: string
}

export interface NewJob {
  readonly name: WakeKind
  readonly data: JobData
  readonly opts: BulkJobOptions
}

/** Tries inside one generation of a wake; after the last the row is `dead` and the job stays failed. */
export const ATTEMPTS = 5

export function jobFor(wake: WakeRef): NewJob {
  return {
    name: wake.kind,
    data: { id: wake.subject },
    opts: {
      jobId: jobIdOf(wake),
      attempts: ATTEMPTS,
      backoff: { type: 'exponential', delay: SECOND, jitter: 0.5 },
      removeOnComplete: { age: DAY / SECOND, count: 2_000 },
      removeOnFail: false,
    },
  }
}

const idForm = /^([a-z]+)-(.+)-g([1-9][0-9]{0,9})$/s

/** Reads a job's id back; null for one that this program did not make (a board can add jobs of its own). */
export function wakeOf(jobId: string | undefined): WakeRef | null {
  const parts = idForm.exec(jobId ?? '')
  if (parts === null) return null
  const [, kind = '', subject = '', generation = ''] = parts
  if (!isKind(kind)) return null
  return { kind, subject, generation: Number(generation) }
}

function isKind(kind: string): kind is WakeKind {
  return Object.hasOwn(queueOf, kind)
}
