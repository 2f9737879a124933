/** The parts of what an agent saves of its work for whoever goes on with it, in the order in which they are told. */
export const briefParts = ['constraints', 'decisions', 'tried', 'inFlight', 'unverified', 'next'] as const
export type BriefPart = (typeof briefParts)[number]

/**
 * What an agent says of its own work on a request: what binds it, what was decided, what was tried and why it was given
 * up, what is under way, what nobody has checked, and what it would do next. A suggestion is no commitment.
 *
 * @source RFC §5.7.2
 */
export type SavedBrief = Readonly<Record<BriefPart, readonly string[]>>

/** Parts whose entries stay true when a later brief no longer says them: losing one silently misleads. */
const lasting: readonly BriefPart[] = ['constraints', 'decisions', 'tried', 'unverified']

/** The text that is kept and digested: the same brief is the same text. */
export function writeBrief(brief: SavedBrief): string {
  return JSON.stringify(Object.fromEntries(briefParts.map((part) => [part, [...brief[part]]])))
}

/** Null for a text that is no brief. */
export function readBrief(text: string): SavedBrief | null {
  try {
    const said = JSON.parse(text) as Partial<Record<BriefPart, unknown>> | null
    if (typeof said !== 'object' || said === null) return null
    const entries = briefParts.map((part) => [part, said[part] ?? []] as const)
    const sound = entries.every(([, list]) => Array.isArray(list) && list.every((one) => typeof one === 'string'))
    return sound ? (Object.fromEntries(entries) as unknown as SavedBrief) : null
  } catch {
    return null
  }
}

/** Entries of earlier briefs that the newest no longer says, oldest first, each once. */
export function leftOut(
  newest: SavedBrief,
  earlier: readonly SavedBrief[],
): readonly { readonly part: BriefPart; readonly text: string }[] {
  const found = new Map<string, { readonly part: BriefPart; readonly text: string }>()
  for (const brief of earlier) {
    for (const part of lasting) {
      for (const text of brief[part]) if (!newest[part].includes(text)) found.set(`${part} ${text}`, { part, text })
    }
  }
  return [...found.values()]
}
