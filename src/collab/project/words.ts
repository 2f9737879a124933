/** Words of a text in lower case; Han is taken two characters at a time, since it has no spaces. */
export type Words = ReadonlySet<string>

export function wordsOf(texts: readonly string[]): Words {
  const words = new Set<string>()
  for (const text of texts) {
    for (const run of text.toLowerCase().match(/\p{Script=Han}+|[^\P{L}\p{Script=Han}]+|\p{N}+/gu) ?? []) {
      if (!/\p{Script=Han}/u.test(run)) words.add(run)
      else for (const pair of pairsOf([...run])) words.add(pair)
    }
  }
  return words
}

function pairsOf(characters: readonly string[]): readonly string[] {
  const [only] = characters
  if (characters.length === 1 && only !== undefined) return [only]
  return characters.slice(0, -1).map((character, n) => character + (characters[n + 1] ?? ''))
}

/**
 * How much each word of a need says about the candidates: one that all of them share says little, and one that none of
 * them has says nothing and is left out. Made once, however many candidates are graded by it.
 */
export function weightsOf(need: Words, all: readonly Words[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const word of need) {
    const having = all.filter((words) => words.has(word)).length
    if (having > 0) weights.set(word, 1 / having)
  }
  return weights
}

/**
 * How much of what distinguishes the candidates the own words hold, from 0 to 1. Null when the need has no word that
 * any of them has.
 */
export function overlap(weights: ReadonlyMap<string, number>, own: Words): number | null {
  let held = 0
  let whole = 0
  for (const [word, weight] of weights) {
    whole += weight
    if (own.has(word)) held += weight
  }
  return whole === 0 ? null : held / whole
}
