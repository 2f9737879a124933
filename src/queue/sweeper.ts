import type { JobLookup, Performer } from '../collab/jobs.js'
import type { Logger } from '../lib/log.js'
import { SECOND } from '../lib/time.js'
import { every, type Loop } from './loop.js'
import { logChanges } from './once.js'

/**
 * The safety poll: whatever lost its wake is put again. It runs whether or not the queue can be reached, because a
 * lookup that fails makes the round put nothing.
 */
export function startSweeper(options: {
  readonly performer: Performer
  readonly lookup: JobLookup
  readonly logger: Logger
  readonly everyMs?: number
}): Loop {
  const { performer, lookup, logger } = options
  const changes = logChanges(logger, 'the sweep fails; nothing is put again', 'the sweep works again')
  return every(options.everyMs ?? SECOND, changes, async () => {
    const count = await performer.sweep(lookup)
    if (count > 0) logger.info('the sweep put lost wakes again', { count })
  })
}
