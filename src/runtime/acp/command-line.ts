import { accessSync, constants, statSync } from 'node:fs'
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path'

/** Splits a command line into words without a shell: quotes and backslashes work, nothing is expanded. Null when a quote is open. */
export function splitCommandLine(line: string): readonly string[] | null {
  const words: string[] = []
  let word: string | null = null
  let quote: '"' | "'" | null = null
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at)
    if (quote !== null) {
      if (character === quote) quote = null
      else if (character === '\\' && quote === '"' && /["\\]/u.test(line.charAt(at + 1))) word += line.charAt(++at)
      else word += character
    } else if (character === '"' || character === "'") {
      quote = character
      word ??= ''
    } else if (/\s/u.test(character)) {
      if (word !== null) words.push(word)
      word = null
    } else if (character === '\\') {
      if (at + 1 === line.length) return null
      word = (word ?? '') + line.charAt(++at)
    } else word = (word ?? '') + character
  }
  if (quote !== null) return null
  if (word !== null) words.push(word)
  return words
}

export type FoundCommand =
  | { readonly found: true; readonly file: string; readonly args: readonly string[] }
  | { readonly found: false; readonly detail: string }

/**
 * Finds the program of a command line. `detail` names it by its base name only: a path may be private.
 *
 * @param name what the operator calls the place where the command line stands
 */
export function findCommand(commandLine: string, path: string | undefined, name = 'MANAGER_COMMAND'): FoundCommand {
  const words = splitCommandLine(commandLine)
  if (words === null) return { found: false, detail: `${name} has an open quote or ends in a backslash` }
  const [program, ...args] = words
  if (program === undefined || program === '') {
    return { found: false, detail: `${name} is empty; set it to the command line of an ACP agent` }
  }
  const candidates = /[/\\]/u.test(program)
    ? [isAbsolute(program) ? program : resolve(program)]
    : (path ?? '')
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, program))
  const file = candidates.find(isExecutable)
  if (file !== undefined) return { found: true, file, args }
  return {
    found: false,
    detail: `the program of ${name} (${basename(program)}) cannot be found or run; install it or give its full path`,
  }
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
