import type { IncomingAttachment } from '../../../collab/message.js'
import type { Mentions } from '../mentions.js'

/** What one converter found in the content of a message. */
export interface Content {
  readonly text: string
  readonly attachments?: readonly IncomingAttachment[]
  readonly expand?: 'merge-forward' | 'read-back'
  readonly unknown?: readonly string[]
}

/** One group of message types. Pure; never throws, whatever the content holds. */
export type Converter = (content: Fields, mentions: Mentions) => Content

/** A parsed content object of which nothing is promised. */
export class Fields {
  constructor(private readonly value: unknown) {}

  get raw(): unknown {
    return this.value
  }

  private of(name: string): unknown {
    const value = this.value
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined
    // Own members only: content is written by strangers and may name `constructor`.
    return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
  }

  has(name: string): boolean {
    return this.of(name) !== undefined
  }

  string(name: string): string {
    const value = this.of(name)
    if (typeof value === 'number' || typeof value === 'boolean') return String(value)
    return typeof value === 'string' ? value : ''
  }

  number(name: string): number | null {
    const value = this.of(name)
    const number = typeof value === 'string' && value !== '' ? Number(value) : value
    return typeof number === 'number' && Number.isFinite(number) ? number : null
  }

  boolean(name: string): boolean {
    return this.of(name) === true
  }

  strings(name: string): readonly string[] {
    const value = this.of(name)
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
  }

  object(name: string): Fields {
    return new Fields(this.of(name))
  }

  list(name: string): readonly unknown[] {
    const value = this.of(name)
    return Array.isArray(value) ? value : []
  }
}

/** Milliseconds since the epoch as a reader's time, in UTC; empty when it is no time. */
export function timeText(ms: number | null): string {
  if (ms === null || ms < 0 || ms > 8.64e15) return ''
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** A fence that the code cannot close; its bytes stay as they are. */
export function fenced(code: string, language: string): string {
  let longest = 2
  for (const [run] of code.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(longest + 1)
  const tag = /^[\w+#.-]{1,30}$/.test(language) ? language.toLowerCase() : ''
  return `${fence}${tag}\n${code}${code.endsWith('\n') ? '' : '\n'}${fence}`
}
