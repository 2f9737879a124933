import { GOES_ON, MESSAGE_OPEN } from '../../src/collab/project/prompt.js'
import { ownerMessage } from '../../src/runtime/rehearsal/parse.js'
import type { Brain, ModelRequest, Part } from './mock-responses.js'

/** What a scripted model can have done to the program that asks it. */
export interface Sabotage {
  /** Kills it, as a crash does. */
  kill(): void
  /** Writes a line among its own that is no message. */
  garble(): void
}

/**
 * A model that follows the `!` lines of the newest message: a function of the request, so a repeated request gets the
 * same answer. Everything that it does goes through tools that were offered to it.
 *
 * `!run command` `!leave command` (and not waited for) `!ask command` (outside the sandbox) `!patch file` `!tool name {json}` (of the gateway) `!attach name` `!reply text`
 * `!read path…` (the first that can be read) `!turn` `!think` `!delay 60s` `!fail how`. What tools gave is quoted in the answer.
 */
export function scriptedModel(sabotage: Sabotage): Brain {
  return (request) => {
    const message = request.messages.at(-1) ?? ''
    // What goes on after it was cut off is done as it was asked for, from its beginning.
    const asked = message.includes(GOES_ON) ? request.messages.findLast((one) => one.includes(MESSAGE_OPEN)) : message
    const script = ownerMessage(asked ?? '') || message
    const parts: Part[] = []
    const said: string[] = []
    let calls = 0
    const returned = message.includes('Came back from')
    for (const written of script.split('\n')) {
      const line = applying(filled(written, message), returned)
      const found = /^!([a-z-]+)(?: (.*))?$/u.exec(line)
      const [word, argument] = [found?.[1] ?? '', found?.[2] ?? '']
      const now = calls === request.outputs.length
      const call = callOf(word, argument)
      if (word === 'read') {
        const paths = argument.split(' ')
        let read = ''
        for (const path of paths) {
          const output = request.outputs[calls++]
          if (output === undefined) return [...parts, { call: 'exec_command', args: { cmd: `cat '${path}'` } }]
          read = output
          if (/exited with code 0/u.test(output)) break
        }
        said.push(read)
      } else if (call !== null) {
        const output = request.outputs[calls++]
        if (output === undefined) return [...parts, call]
        said.push(...tellOutput(word, argument, output))
      } else if (word === 'reply') said.push(argument)
      else if (word === 'turn') said.push(`This is turn ${turnsIn(request)} of this session.`)
      else if (word === 'think' && now) parts.push({ think: 'REASONING-CANARY' })
      else if (word === 'delay' && now) parts.push({ delayMs: Number.parseInt(argument, 10) * 1000 })
      else if (word === 'fail') return [...parts, ...fail(argument, sabotage)]
    }
    return said.length === 0 ? parts : [...parts, { say: said.join('\n') }]
  }
}

/** `!first directive` holds before work that was handed on comes back, `!back directive` from then on. */
function applying(line: string, returned: boolean): string {
  const found = /^!(first|back) (.*)$/u.exec(line)
  if (found === null) return line
  return (found[1] === 'back') === returned ? `!${found[2] ?? ''}` : ''
}

/** The ids that the prompt names: `$request`, `$running` of the one that it was put into, `"$asks"` for all of them. */
function filled(line: string, message: string): string {
  const request = /Request (\S+), revision/u.exec(message)?.[1] ?? ''
  const running = /work on request (\S+) \(now/u.exec(message)?.[1] ?? ''
  const asked = /Asked, by id[^\n]*\n((?:- [^\n]*\n?)+)/u.exec(message)?.[1] ?? ''
  const asks = [...asked.matchAll(/^- ([^:\s]+):/gmu)].map(([, id]) => id)
  return line
    .replaceAll('"$asks"', JSON.stringify(asks))
    .replaceAll('$request', request)
    .replaceAll('$running', running)
}

const turnsIn = (request: ModelRequest): number => request.messages.filter((text) => text.includes(MESSAGE_OPEN)).length

function callOf(word: string, argument: string): Part | null {
  switch (word) {
    case 'run':
      return { call: 'exec_command', args: { cmd: argument } }
    case 'look':
      return { call: 'view_image', args: { path: argument } }
    case 'leave':
      // The tool comes back while the command still runs.
      return { call: 'exec_command', args: { cmd: argument, yield_time_ms: 250 } }
    case 'patch': {
      const patch = `*** Begin Patch\n*** Add File: ${argument}\n+patched\n*** End Patch`
      return { call: 'exec_command', args: { cmd: `apply_patch <<'EOF'\n${patch}\nEOF` } }
    }
    case 'ask':
      return {
        call: 'exec_command',
        args: { cmd: argument, sandbox_permissions: 'require_escalated', justification: 'the script says so' },
      }
    case 'attach':
      return {
        call: 'exec_command',
        args: { cmd: `mkdir -p outbox && printf 'the text of %s\\n' '${argument}' > 'outbox/${argument}'` },
      }
    case 'tool': {
      const [name = '', ...json] = argument.split(' ')
      return { call: name, namespace: 'mcp__lark_manager', args: JSON.parse(json.join(' ') || '{}') as object as never }
    }
    default:
      return null
  }
}

function tellOutput(word: string, argument: string, output: string): readonly string[] {
  switch (word) {
    case 'ask':
      return [`${/reject/iu.test(output) ? 'Refused' : 'Allowed'}: ${argument}`]
    case 'attach':
      return [`[${argument}](outbox/${argument})`]
    default:
      return [output]
  }
}

function fail(how: string, sabotage: Sabotage): readonly Part[] {
  switch (how) {
    case 'exit':
      sabotage.kill()
      return [{ hang: true }]
    case 'garbage':
      sabotage.garble()
      return [{ hang: true }]
    case 'too-large':
      return [{ say: 'x'.repeat(5 * 1024 * 1024) }]
    case 'unavailable':
      return [{ status: 500 }]
    case 'hang':
      return [{ hang: true }]
    case 'drop':
      return [{ drop: true }]
    case 'silent':
      return []
    default:
      return [/^\d+$/u.test(how) ? { status: Number(how) } : { failed: how }]
  }
}
