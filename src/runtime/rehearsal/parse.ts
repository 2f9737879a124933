import type { Language } from '../../collab/delivery.js'
import { MESSAGE_CLOSE, MESSAGE_OPEN } from '../../collab/project/prompt.js'
import { MINUTE, SECOND } from '../../lib/time.js'
import { type DirectiveName, directives, failures, type RehearsedFailure } from './directives.js'

/** One directive, understood. Sizes in bytes, times in milliseconds. */
export type Step =
  | { readonly do: 'reply'; readonly text: string }
  | { readonly do: 'conclusion'; readonly text: string }
  | { readonly do: 'long'; readonly bytes: number }
  | { readonly do: 'parts'; readonly count: number }
  | { readonly do: 'table'; readonly count: number }
  | { readonly do: 'attach'; readonly fileName: string }
  | { readonly do: 'ask'; readonly operation: string }
  | { readonly do: 'delay'; readonly ms: number }
  | { readonly do: 'think' }
  | { readonly do: 'turn' }
  | { readonly do: 'fail'; readonly how: RehearsedFailure }
  /** Known by name, but with an argument that it cannot use. */
  | { readonly do: 'explain'; readonly name: DirectiveName }

/** The owner's own words out of the composed prompt; whatever stands outside the marker lines is never followed. */
export function ownerMessage(prompt: string): string {
  const blocks: string[] = []
  let block: string[] | null = null
  for (const line of prompt.split('\n')) {
    if (block === null) {
      if (line.trimEnd() === MESSAGE_OPEN) block = []
    } else if (line.trimEnd() === MESSAGE_CLOSE) {
      blocks.push(block.join('\n'))
      block = null
    } else block.push(line)
  }
  return blocks.join('\n')
}

/** Chinese when the message has a Han character, else English. */
export function languageOf(message: string): Language {
  return /\p{Script=Han}/u.test(message) ? 'zh' : 'en'
}

/** The directives of a message in their order; empty when it has none. */
export function parseSteps(message: string): readonly Step[] {
  const steps: Step[] = []
  const lines = message.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const found = /^!([a-z]+)(?:\s+(.*?))?\s*$/u.exec(lines[at] ?? '')
    const name = directives.find((directive) => directive.name === found?.[1])?.name
    if (name === undefined) continue
    const argument = found?.[2] ?? ''
    if (name === 'reply' || name === 'say') {
      const block = readBlock(lines, at)
      at = block.last
      steps.push(block.text.trim() === '' ? { do: 'explain', name } : { do: 'reply', text: block.text })
    } else steps.push(understand(name, argument))
  }
  return steps
}

function readBlock(lines: readonly string[], from: number): { readonly text: string; readonly last: number } {
  const first = (lines[from] ?? '').replace(/^![a-z]+[ \t]?/u, '')
  const text = first === '' ? [] : [first]
  for (let at = from + 1; at < lines.length; at++) {
    if (lines[at]?.trimEnd() === '!end') return { text: text.join('\n'), last: at }
    text.push(lines[at] ?? '')
  }
  return { text: text.join('\n'), last: lines.length }
}

function understand(name: Exclude<DirectiveName, 'reply' | 'say'>, argument: string): Step {
  const unusable: Step = { do: 'explain', name }
  switch (name) {
    case 'think':
    case 'turn':
      return { do: name }
    case 'conclusion':
      return argument === '' ? unusable : { do: 'conclusion', text: argument }
    case 'ask':
      return argument === '' ? unusable : { do: 'ask', operation: argument }
    case 'attach':
      return /^[^/\\\p{Cc}]{1,120}$/u.test(argument) ? { do: 'attach', fileName: argument } : unusable
    case 'long': {
      const kilobytes = wholeNumber(argument.replace(/\s*kb?$/iu, ''), 1024)
      return kilobytes === null ? unusable : { do: 'long', bytes: kilobytes * 1000 }
    }
    case 'parts':
    case 'table': {
      const count = wholeNumber(argument, name === 'parts' ? 20 : 50)
      return count === null ? unusable : { do: name, count }
    }
    case 'delay': {
      const ms = duration(argument)
      return ms === null ? unusable : { do: 'delay', ms }
    }
    case 'fail': {
      const how = failures.find((failure) => failure === argument)
      return how === undefined ? unusable : { do: 'fail', how }
    }
  }
}

function wholeNumber(text: string, most: number): number | null {
  if (!/^\d{1,6}$/u.test(text)) return null
  const value = Number(text)
  return value >= 1 && value <= most ? value : null
}

function duration(text: string): number | null {
  const found = /^(\d{1,7})\s*(ms|s|m)$/u.exec(text)
  if (found === null) return null
  const unit = found[2] === 'ms' ? 1 : found[2] === 's' ? SECOND : MINUTE
  const ms = Number(found[1]) * unit
  return ms <= 10 * MINUTE ? ms : null
}
