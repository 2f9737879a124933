import type { PermissionOption, RequestPermissionOutcome, RequestPermissionRequest } from '@agentclientprotocol/sdk'
import type { Verdict } from '../../collab/ports.js'
import { canonicalJson } from '../../lib/digest.js'
import { readableOperation } from '../operation.js'
import { isObject } from './updates.js'

/** The exact operation, as far as the agent tells it: title, kind, places, and the raw command or input. */
export function operationOf(toolCall: RequestPermissionRequest['toolCall']): string {
  const title = (toolCall.title ?? toolCall.name ?? 'unnamed operation').replace(/\s+/gu, ' ')
  const lines = [toolCall.kind === undefined || toolCall.kind === null ? title : `${title} (${toolCall.kind})`]
  const input = rawInput(toolCall.rawInput)
  if (input !== null && input !== title) lines.push(input)
  const how = howItRuns(toolCall.rawInput)
  if (how !== null) lines.push(how)
  for (const { path } of toolCall.locations ?? []) if (!lines.some((line) => line.includes(path))) lines.push(path)
  return readableOperation(lines)
}

function rawInput(input: unknown): string | null {
  if (input === undefined || input === null) return null
  if (typeof input === 'string') return input
  const command = isObject(input) ? input['command'] : null
  if (typeof command === 'string') return command
  if (Array.isArray(command) && command.every((word) => typeof word === 'string')) return JSON.stringify(command)
  return canonicalJson(input)
}

/** What the model says of a command beside it; it changes nothing of what is done. */
const saidOnly: ReadonlySet<string> = new Set(['command', 'description'])

/** What else an input with a command says: where and how it runs is a part of the operation. */
function howItRuns(input: unknown): string | null {
  if (!isObject(input) || rawInput(input) === canonicalJson(input)) return null
  const rest = Object.entries(input).filter(([key, value]) => !saidOnly.has(key) && value !== undefined)
  return rest.length === 0 ? null : canonicalJson(Object.fromEntries(rest))
}

/** Answers with the option that means exactly the verdict; without such an option the request is cancelled. */
export function outcomeOf(verdict: Verdict, options: readonly PermissionOption[]): RequestPermissionOutcome {
  const kind = verdict === 'allow-once' ? 'allow_once' : 'reject_once'
  const option = options.find((candidate) => candidate.kind === kind)
  return option === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option.optionId }
}
