import type { IncomingEvent } from '../collab/message.js'
import { errorLabel } from '../lib/log.js'
import { ingressRow } from '../stores/ingress/ingress.js'
import { claimWake, releaseWake, settleWake, type Claim } from '../stores/wakes/wakes.js'
import { acceptAtOnce, clickAtOnce } from './accept.js'
import type { Click, Clicked } from './click.js'
import { controlWordOf } from './control.js'
import type { Exchange } from './deps.js'
import { ingressIdOf } from './ids.js'
import { redrawCard } from './redraw.js'

/** Words and presses that the process which heard them carries out itself; their job is the safety net. */
export function isUrgent(event: IncomingEvent): boolean {
  if (event.kind === 'card-action') return true
  if (event.kind !== 'message') return false
  const { verdict } = event.turnAuthority
  return (verdict === 'addressed' || verdict === 'if-parent-ours') && controlWordOf(event.message.text) !== null
}

/**
 * Carries out a control word right after it was stored, under the same claim as its job would: it waits for no queue,
 * no turn and nothing else of its chat. Never throws; what does not go through is left to the job.
 *
 * @source contract "Queues": stop acts in process at once
 */
export async function actAtOnce(x: Exchange, ingress: string): Promise<void> {
  try {
    await underClaim(x, ingress, () => acceptAtOnce(x, ingress))
  } catch (error) {
    x.log.warn('a control word was left to its job', { reason: ingress, error: errorLabel(error) })
  }
}

/**
 * Carries out a press and says what its door answers. The answer draws the card anew only while its door still waits;
 * after that, and from a job, the card is patched.
 *
 * @param inTime false when the door has answered without it
 * @returns null for a button that is none of ours, or an event that is not stored
 */
export async function pressAtOnce(x: Exchange, event: Click, inTime: () => boolean): Promise<Clicked | null> {
  const row = await ingressRow(x.db.sql, ingressIdOf(event.bot, event.key))
  if (row === null) return null
  const clicked = await underClaim(x, row.id, () => clickAtOnce(x, event, row))
  if (clicked !== null && !inTime()) await redrawCard(x, event, clicked)
  return clicked
}

/** Also when another run has it: each step is repeatable, and whoever waits here needs the answer. */
async function underClaim<T>(x: Exchange, ingress: string, work: () => Promise<T>): Promise<T> {
  const { sql } = x.db
  const claim = await claimWake(sql, 'accept', ingress, x.holder, x.clock.now(), x.settings.holdMs)
  try {
    const done = await work()
    if (claim.claimed) await end(x, ingress, claim)
    return done
  } catch (error) {
    if (claim.claimed) {
      const now = x.clock.now()
      const next = await releaseWake(sql, 'accept', ingress, claim, now, errorLabel(error))
      x.wake.kick([next ?? { kind: 'accept', subject: ingress, generation: claim.generation }])
    }
    throw error
  }
}

async function end(x: Exchange, ingress: string, claim: Extract<Claim, { claimed: true }>): Promise<void> {
  const next = await settleWake(x.db.sql, 'accept', ingress, claim, x.clock.now())
  if (next !== null) x.wake.kick([next])
}
