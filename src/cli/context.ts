import type { Language } from '../collab/delivery.js'
import type { Answer, Client, Json } from './client.js'
import { exitCodes, type CliIo, type ExitCode } from './io.js'
import type { CliWords } from './words.js'

/** One command on its way. */
export interface Cx {
  readonly io: CliIo
  readonly language: Language
  readonly words: CliWords
  readonly client: Client
}

/** Prints what was asked for, or the reason why not; the only place that turns an answer into an exit code. */
export function finish(cx: Cx, answer: Answer, json: boolean, lines: (body: Json) => readonly string[]): ExitCode {
  switch (answer.got) {
    case 'answer':
      cx.io.stdout(
        json
          ? `${JSON.stringify(answer.body, null, 2)}\n`
          : lines(answer.body)
              .map((l) => `${l}\n`)
              .join(''),
      )
      return exitCodes.ok
    case 'problem':
      cx.io.stderr(`${answer.title}\n`)
      if (answer.status === 401) cx.io.stderr(`${cx.words.tokenHint}\n`)
      return answer.status === 503 ? exitCodes.unreachable : exitCodes.refused
    case 'unreachable':
      cx.io.stderr(`${cx.words.unreachable} (${answer.detail})\n`)
      return exitCodes.unreachable
  }
}

/** `?a=b&c=d` of the options that were given. */
export function queryOf(options: Readonly<Record<string, unknown>>, names: readonly string[]): string {
  const params = new URLSearchParams()
  for (const name of names) if (typeof options[name] === 'string') params.set(name, options[name])
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}

/** `2026-11-30 12:00:05Z`. */
export function timeText(at: unknown): string {
  return typeof at === 'number' ? new Date(at).toISOString().replace('T', ' ').replace(/\.\d+/, '') : '-'
}

/** What a terminal would obey is shown as a dot: texts come from other people. */
export function plain(text: unknown): string {
  return String(text ?? '').replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, '·')
}

export function firstLine(text: unknown, limit: number): string {
  const line = [...plain(text).split('\n', 1).join('')]
  return line.length <= limit ? line.join('') : `${line.slice(0, limit - 1).join('')}…`
}

export function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []
}

export function object(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}
