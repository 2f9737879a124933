import type { HostRefusal } from '../../collab/host-refusal.js'
import { readableOperation } from '../operation.js'
import { fields, text, type Fields } from './read.js'
import type { SandboxMode } from './options.js'

/** Calls that codex announces as an item of their own when it lets them run. */
const shells: ReadonlySet<string> = new Set(['exec_command', 'shell', 'shell_command', 'local_shell', 'apply_patch'])

/** How codex itself begins what a command gave that really ran; its code stands there once it has ended. */
const RAN = /^Chunk ID: [^\n]*\n(?:Wall time: [^\n]*\nProcess exited with code (?<code>\d+))?/u
/** The words of codex for a call that it did not let run. */
const KEPT_BACK = /\breject|approval (?:policy|required)/iu
/** What the operating system says inside the sandbox of codex where a file or a socket is not to be had. */
const DENIED = /Read-only file system|Operation not permitted/u

interface Call {
  readonly tool: string
  readonly operation: string
}

/**
 * What codex or its sandbox refused in one turn without asking anybody. Each rests on how codex handled the call, and
 * none on what the model says of it:
 *
 * - a call without an item that did not run: a rule of codex kept it back;
 * - a call without an item that ran: codex itself took its failure for a denial of the sandbox, and reports no item;
 * - an item that failed with an exit code while a sandbox was in force, with the system's own error of a place that may
 *   not be written or a socket that may not be opened.
 *
 * What a person declined has an item, and is none of these.
 *
 * @param lines what codex wrote down of the turn
 * @param reported the items of the turn as codex reported them, by their ids
 * @source docs/runtimes.md: measured on the real binary
 */
export function refusalsIn(
  lines: readonly Fields[],
  reported: ReadonlyMap<string, Fields>,
  sandbox: SandboxMode,
): readonly HostRefusal[] {
  // One that was declined is reported and not written down; one that is too long is written down only.
  const items = new Map(reported)
  const outputs = new Map<string, string>()
  const calls = new Map<string, Call>()
  for (const line of lines) {
    const payload = fields(line['payload'])
    const type = text(payload['type'])
    const item = type === 'item_completed' ? fields(payload['item']) : null
    const id = text(item === null ? payload['call_id'] : item['id'])
    if (id === null) continue
    if (item !== null && !items.has(id)) items.set(id, written(item))
    else if (item !== null) continue
    else if (/^(?:function|custom_tool)_call_output$/u.test(type ?? '')) outputs.set(id, outputOf(payload['output']))
    else if (/^(?:function|custom_tool)_call$/u.test(type ?? '')) {
      const call = callOf(payload)
      if (call !== null) calls.set(id, call)
    }
  }
  return [...calls].flatMap(([id, call]) => {
    const output = outputs.get(id)
    const found = output === undefined ? null : judge(items.get(id), output, sandbox)
    return found === null ? [] : [{ ...found, ...call }]
  })
}

/** An item as it is written down, in the words of a report. */
function written(item: Fields): Fields {
  return { ...item, exitCode: item['exit_code'], aggregatedOutput: item['aggregated_output'] }
}

function judge(
  item: Fields | undefined,
  output: string,
  sandbox: SandboxMode,
): Pick<HostRefusal, 'by' | 'rule'> | null {
  const ran = RAN.exec(output)
  const bySandbox = sandbox === 'danger-full-access' ? null : ({ by: 'sandbox', rule: sandbox } as const)
  if (item === undefined) {
    const code = ran?.groups?.['code']
    if (ran !== null) return code === undefined || code === '0' ? null : bySandbox
    return KEPT_BACK.test(output) ? { by: 'policy', rule: ruleOf(output) } : null
  }
  const exit = item['exitCode']
  if (item['status'] !== 'failed' || typeof exit !== 'number' || exit === 0) return null
  return DENIED.test(text(item['aggregatedOutput']) ?? '') ? bySandbox : null
}

/** Which of codex's rules it was. */
function ruleOf(output: string): string {
  if (/approval policy|AskForApproval|approval settings/iu.test(output)) return 'approval policy'
  return output.startsWith('patch') ? 'writable folders' : 'command rule'
}

/** Null for a call that is none of a shell, or that codex could not have read. */
function callOf(payload: Fields): Call | null {
  const tool = text(payload['name'])
  if (tool === null || !shells.has(tool)) return null
  const given = text(payload['input']) ?? commandIn(text(payload['arguments']) ?? '')
  return given === null ? null : { tool, operation: readableOperation([given]) }
}

function commandIn(json: string): string | null {
  try {
    const args = fields(JSON.parse(json))
    const command = args['cmd'] ?? args['command'] ?? args['input']
    return Array.isArray(command) ? command.join(' ') : text(command)
  } catch {
    return null
  }
}

function outputOf(output: unknown): string {
  return text(output) ?? text(fields(output)['content']) ?? ''
}
