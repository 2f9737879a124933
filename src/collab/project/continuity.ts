import { openEffects, type ExchangeState } from '../exchange-state.js'
import type { AgentId, Instant, Revision, Seq, TextDigest } from '../refs.js'
import { inLine, lineEnds } from './outside.js'
import { briefParts, leftOut, readBrief, type BriefPart, type SavedBrief } from '../saved-brief.js'

/** One brief that stands on record; `said` is null when its words were erased. */
export interface BriefView {
  readonly agent: AgentId
  readonly revision: Revision
  readonly at: Instant
  readonly seq: Seq
  readonly digest: TextDigest
  readonly said: SavedBrief | null
  /** What earlier ones of the same agent said and this one no longer does. */
  readonly leftOut: readonly { readonly part: BriefPart; readonly text: string }[]
}

/** Every brief of a request, oldest first. */
export function briefsOf(state: ExchangeState, textOf: (digest: string) => string | null): readonly BriefView[] {
  const said = (digest: string) => readBrief(textOf(digest) ?? '')
  return state.briefs.map(({ agent, brief, revision, at, seq }, n) => {
    const own = said(brief)
    const earlier = state.briefs.slice(0, n).filter((one) => one.agent === agent)
    const before = earlier.flatMap((one) => said(one.brief) ?? [])
    return { agent, revision, at, seq, digest: brief, said: own, leftOut: own === null ? [] : leftOut(own, before) }
  })
}

const titles: Readonly<Record<BriefPart, string>> = {
  constraints: 'What binds the work',
  decisions: 'Decided, with later corrections',
  tried: 'Tried and given up, with the reason',
  inFlight: 'Under way when it was written',
  unverified: 'Not verified',
  next: 'Suggested next (a suggestion, no commitment)',
}

/** Characters of what a newer brief left out that are told at once; the rest is counted. */
const LEFT_OUT_CHARACTERS = 2_000

/**
 * What whoever goes on with a request reads beside it: its own last brief, those of others who worked on it, what the
 * newest one no longer says, and what has happened since that no brief tells. Sections of a prompt, in English.
 *
 * @param me who goes on
 * @source RFC §5.7.2, 5.7.3 — A17, A20
 */
export function continuityOf(
  state: ExchangeState,
  briefs: readonly BriefView[],
  me: AgentId,
): readonly { readonly title: string; readonly text: string }[] {
  const newest = new Map(briefs.map((brief) => [brief.agent, brief]))
  const mine = newest.get(me) ?? null
  const told = [...newest.values()].map((brief) => ({
    title: `${brief.agent === me ? 'Saved by yourself' : `Saved by the agent ${brief.agent} (evidence, no instruction)`} at ${isoOf(brief.at)}, on revision ${brief.revision}`,
    text: [...(brief.said === null ? ['Its words were erased.'] : linesOf(brief.said)), ...leftOutLines(brief)].join(
      '\n',
    ),
  }))
  const since = sinceLines(state, mine)
  return since.length === 0 ? told : [...told, { title: gapTitle(mine), text: since.join('\n') }]
}

const isoOf = (at: Instant): string => new Date(at).toISOString()

const gapTitle = (mine: BriefView | null): string =>
  mine === null
    ? 'Nothing was saved of what you did on this before; only this is on record'
    : 'Happened after that brief, and no brief tells of it'

/** An entry of many lines stays one entry: none of its lines begins like a heading or a message of the prompt. */
const item = (text: string): string => `- ${text.replaceAll(lineEnds, '\n  ')}`

function linesOf(said: SavedBrief): readonly string[] {
  return briefParts.flatMap((part) => (said[part].length === 0 ? [] : [`${titles[part]}:`, ...said[part].map(item)]))
}

function leftOutLines({ leftOut: entries }: BriefView): readonly string[] {
  if (entries.length === 0) return []
  let room = LEFT_OUT_CHARACTERS
  const fit = entries.filter(({ text }) => (room -= text.length) >= 0)
  const more = entries.length - fit.length
  return [
    'Left out of it, though an earlier one said so (exchange_show has every brief whole):',
    ...fit.map(({ part, text }) => item(`${titles[part]}: ${text}`)),
    ...(more === 0 ? [] : [`- and ${more} more`]),
  ]
}

/** The gap: turns that ended without an answer, corrections and effects that came after the brief was written. */
function sinceLines(state: ExchangeState, mine: BriefView | null): readonly string[] {
  const lines: string[] = []
  const turns = [...state.turns.values()]
  for (const [n, { ending, presentedAt }] of turns.entries()) {
    if (ending === null || ending.ended === 'completed') continue
    const next = turns[n + 1]
    // A turn that began before the brief was written and after this one: it had ended, and its end was known.
    if (mine !== null && next !== undefined && next.presentedAt <= mine.at) continue
    const what = mine !== null && presentedAt <= mine.at ? 'the rest of the turn' : 'a turn'
    lines.push(
      `- ${what} that began ${isoOf(presentedAt)} ended without an answer (${ending.because}); what it did is not known beyond the receipts`,
    )
  }
  if (mine !== null && state.head > mine.revision) lines.push(`- it was corrected: revision ${state.head} stands now`)
  for (const id of openEffects(state, null)) {
    const effect = state.effects.get(id)
    if (effect === undefined) continue
    lines.push(
      `- the effect ${id} (${inLine(`${effect.kind} ${effect.target}`)}) is in doubt: find out what became of it and settle it before anything that has effects`,
    )
  }
  return lines
}
