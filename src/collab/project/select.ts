import { DAY, HOUR } from '../../lib/time.js'
import type { Discovered } from '../agent-tools.js'
import type { Candidate } from '../observation.js'
import type { RegisteredAgent } from '../ports.js'
import type { AgentId } from '../refs.js'
import { overlap, weightsOf, wordsOf, type Words } from './words.js'

export interface Selection {
  readonly agents: readonly RegisteredAgent[]
  readonly caller: AgentId
  /** Agents that wait, over any number of requests, for the caller. */
  readonly waiting: ReadonlySet<AgentId>
  readonly need: string
  readonly named: AgentId | null
  readonly includeStopped: boolean
  /** Running turns and waiting inputs; an agent that is missing has neither. */
  readonly load: ReadonlyMap<string, { readonly running: number; readonly waiting: number }>
  /** Goals whose state the caller may read. */
  readonly reads: 'all' | ReadonlySet<string>
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Evidence younger than this is fresh, older than `STALE_MS` is stale. */
const FRESH_MS = DAY
const STALE_MS = 7 * DAY

/** A grade from known-bad (-1) over unknown (0) to known-good (1), with its sentence. */
interface Grade {
  readonly grade: number
  readonly says: string
}

/**
 * What each reason weighs. Responsibility decides most, and words in common are only a weak sign of it: a good match
 * that is stale or cannot be reached falls behind a fair one that is there.
 */
const weights = { match: 4, reachable: 2, fresh: 2, capacity: 1, abilities: 1 } as const

/**
 * Every registered agent with what is known of it, in two passes: who may be asked at all, then in which order. The
 * named receiver comes first, or the list says why it cannot be. Nothing is chosen here; what is unknown stays unknown
 * and stands between good and bad.
 *
 * Discoverable, readable, deliverable and executable are four facts, and none is derived from another one alone.
 *
 * @source RFC §5.5 — A4, A24
 */
export function select(selection: Selection): readonly Discovered[] {
  const seen = selection.agents.filter(
    (one) => one.goalState === 'active' || selection.includeStopped || one.agent === selection.named,
  )
  const need = wordsOf([selection.need])
  const known = seen.map((one) => wordsOf([one.responsibility, one.role, one.goal, ...one.abilities]))
  const weights = weightsOf(need, known)
  const missing = namedMissing(selection)
  const judged = seen.map((registered, n) => {
    const against = againstAsking(registered, selection.caller, selection.waiting)
    const grades = gradesOf(registered, selection, overlap(weights, known[n] ?? new Set()), need)
    const named = registered.agent === selection.named
    const admitted = against.length === 0
    return {
      registered,
      admitted,
      score: grades.reduce((sum, one) => sum + one.grade * one.weight, 0),
      first: named && admitted ? 1 : 0,
      reasons: [
        ...(named ? ['named by the caller'] : missing),
        ...against,
        ...grades.map((one) => one.says).filter((says) => says !== ''),
      ],
    }
  })
  const ordered = judged.toSorted(
    (a, b) =>
      Number(b.admitted) - Number(a.admitted) ||
      b.first - a.first ||
      b.score - a.score ||
      (a.registered.agent < b.registered.agent ? -1 : 1),
  )
  return ordered.map(({ registered, admitted, reasons }, n) => ({
    agent: registered.agent,
    admitted,
    reasons,
    registered,
    ...factsOf(registered, selection),
    rank: admitted ? n + 1 : null,
  }))
}

/**
 * Why an agent may not be asked, in sentences; empty: it may. Unknown capacity is no reason, and one that cannot be
 * reached now is waited for.
 */
export function againstAsking(
  registered: RegisteredAgent,
  caller: AgentId,
  waiting: ReadonlySet<AgentId>,
): readonly string[] {
  return [
    ...(registered.goalState === 'stopped'
      ? [`its goal ${registered.goal} is stopped: it can be searched, not asked`]
      : []),
    ...(registered.agent === caller ? ['it is the caller itself'] : []),
    ...(registered.agent !== caller && waiting.has(registered.agent) ? ['it waits for the caller already'] : []),
  ]
}

/** At most so many as a choice is recorded with, the chosen one among them. */
export function candidatesOf(found: readonly Discovered[], chosen: AgentId, most = 12): readonly Candidate[] {
  const kept = found.filter((one, n) => n < most || one.agent === chosen)
  return kept.map(({ agent, admitted, reasons }) => ({ agent, admitted, reasons }))
}

function namedMissing({ named, agents, caller, waiting }: Selection): readonly string[] {
  if (named === null) return []
  const found = agents.find((one) => one.agent === named)
  if (found === undefined) return [`not the named ${named}, which is not registered`]
  const against = againstAsking(found, caller, waiting)
  return against.length === 0 ? [] : [`not the named ${named}: ${against.join('; ')}`]
}

/** Whether context can be given to it, and whether it may execute: told apart, null where nobody knows. */
function factsOf(one: RegisteredAgent, { reads, includeStopped }: Selection) {
  const active = one.goalState === 'active'
  return {
    discoverable: active || includeStopped,
    readable: reads === 'all' || reads.has(one.goal),
    deliverable: one.reachable,
    // A managed one is run here, so it executes when it is reached; what another host can do is only known there.
    executable: !active || one.reachable === false ? false : one.endpoint.kind === 'managed' ? one.reachable : null,
  }
}

function gradesOf(
  one: RegisteredAgent,
  selection: Selection,
  match: number | null,
  need: Words,
): readonly (Grade & { readonly weight: number })[] {
  return [
    { ...matchOf(match), weight: weights.match },
    { ...reachOf(one), weight: weights.reachable },
    { ...freshnessOf(one, selection.now), weight: weights.fresh },
    { ...capacityOf(one, selection), weight: weights.capacity },
    { ...abilitiesOf(one, need), weight: weights.abilities },
  ]
}

function matchOf(match: number | null): Grade {
  if (match === null) return { grade: 0, says: '' }
  if (match === 0) return { grade: -0.5, says: 'nothing it is registered for shares a word with the need' }
  return { grade: match, says: `shares words with the need (${Math.round(match * 100)} %, a weak sign)` }
}

function reachOf(one: RegisteredAgent): Grade {
  if (one.reachable === null) return { grade: 0, says: 'reachable: unknown, nobody has tried' }
  return one.reachable
    ? { grade: 1, says: 'reachable' }
    : { grade: -1, says: 'not reachable now: it would be waited for' }
}

function freshnessOf(one: RegisteredAgent, now: number): Grade {
  if (one.lastEvidenceAt === null) return { grade: 0, says: 'last evidence: unknown, only registered' }
  const age = Math.max(0, now - one.lastEvidenceAt)
  const told = age < DAY ? `${Math.floor(age / HOUR)} h` : `${Math.floor(age / DAY)} d`
  if (age > STALE_MS) return { grade: -1, says: `stale: last evidence ${told} ago` }
  return { grade: age <= FRESH_MS ? 1 : 0.25, says: `last evidence ${told} ago` }
}

function capacityOf(one: RegisteredAgent, { load }: Selection): Grade {
  const { running, waiting } = load.get(one.agent) ?? { running: 0, waiting: 0 }
  const queued = waiting === 0 ? '' : `, ${waiting} waiting`
  // What an agent does outside our own turns is not seen from here.
  if (one.endpoint.kind === 'attached') return { grade: 0, says: `capacity left: unknown${queued}` }
  const left = one.capacity - running
  if (left <= 0) return { grade: -1, says: `busy: ${running} of ${one.capacity} turns run${queued}` }
  return { grade: waiting === 0 ? 1 : 0.5, says: `${left} of ${one.capacity} turns free${queued}` }
}

function abilitiesOf(one: RegisteredAgent, need: Words): Grade {
  if (one.abilities.length === 0) return { grade: 0, says: 'abilities: none declared' }
  const named = one.abilities.filter((ability) => [...wordsOf([ability])].some((word) => need.has(word)))
  if (named.length === 0) return { grade: -1, says: `declares ${one.abilities.join(', ')}: none is named in the need` }
  return { grade: 1, says: `declares ${named.join(', ')}` }
}
