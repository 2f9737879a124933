import type { MarkdownIt as Parser, StateCore, Token } from 'markdown-it'

const definition = /^\[\^([^\]\s^[]{1,60})\]:[ \t]*/
const anyDefinition = /(?:^|\n)\[\^([^\]\s^[]{1,60})\]:/g
const reference = /\[\^([^\]\s^[]{1,60})\]/g

/**
 * Footnotes as `word¹` and, where the author wrote it, `¹ what it says`: nothing moves, nothing is left out, and the
 * sign needs no markup in any message type. They are numbered in the order in which they are first referred to.
 * `[^x]` without a note stays as it was typed.
 */
export function readFootnotes(parser: Parser): void {
  parser.core.ruler.after('inline', 'footnotes', numberFootnotes)
}

function numberFootnotes(state: StateCore): void {
  if (!state.src.includes('[^')) return
  const inline = state.tokens.filter((token) => token.type === 'inline' && token.content.includes('[^'))
  const noted = new Set(inline.flatMap(definitionsIn))
  if (noted.size === 0) return
  const numbers = new Map<string, number>()
  const number = (label: string): number => {
    const known = numbers.get(label) ?? numbers.size + 1
    numbers.set(label, known)
    return known
  }
  const texts = inline.flatMap((block) => textsOf(block))
  // A definition that stands before the first reference must not take its number.
  for (const { token, from } of texts) {
    for (const [, label = ''] of token.content.slice(from).matchAll(reference)) if (noted.has(label)) number(label)
  }
  for (const { token, from } of texts) {
    const [opening = '', label = ''] = from === 0 ? [] : (definition.exec(token.content) ?? [])
    const rest = token.content.slice(from)
    token.content =
      (opening === '' ? '' : `${raised(number(label))} `) +
      rest.replace(reference, (typed, name: string) => (noted.has(name) ? raised(number(name)) : typed))
  }
}

function definitionsIn(block: Token): string[] {
  return [...block.content.matchAll(anyDefinition)].map(([, label = '']) => label)
}

/** The texts of a paragraph; `from` is where the words begin, behind the label of a definition. */
function textsOf(block: Token): { token: Token; from: number }[] {
  let lineStart = true
  return (block.children ?? []).flatMap((token) => {
    const starts = lineStart
    lineStart = token.type === 'softbreak' || token.type === 'hardbreak'
    if (token.type !== 'text' || !token.content.includes('[^')) return []
    return [{ token, from: starts ? (definition.exec(token.content)?.[0].length ?? 0) : 0 }]
  })
}

function raised(number: number): string {
  return [...String(number)].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'.charAt(Number(digit))).join('')
}
