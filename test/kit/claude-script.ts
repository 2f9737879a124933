import { readdirSync, readFileSync } from 'node:fs'
import { MESSAGE_OPEN } from '../../src/collab/project/prompt.js'
import { ownerMessage } from '../../src/runtime/rehearsal/parse.js'
import { type Answer, type MessagesRequest, type Part, textsOf, toolResultsOf } from './mock-messages.js'

/**
 * A model that follows the `!` lines of the owner's last message, as the scripted ACP agent does.
 *
 * `!run command` calls the shell; `!use name {json}` calls one of its tools, `!call name {json}` one of the gateway's; `!error status type message` is what
 * the endpoint answers; `!prompt` says what the system prompt holds between its marker words.
 *
 * @param killed called by `!fail exit`
 */
export function scriptedModel(killed: () => void): (request: MessagesRequest) => Answer {
  return (request) => {
    const texts = request.messages.map(({ content }) => textsOf(content).join('\n'))
    const at = texts.findLastIndex((text) => text.includes(MESSAGE_OPEN))
    // A side question of the program, such as a title.
    if (at === -1) return [{ text: 'fine' }]
    const results = request.messages.slice(at).flatMap(({ content }) => toolResultsOf(content))
    const turn = texts.join('\n').split(MESSAGE_OPEN).length - 1
    const parts: Part[] = []
    let calls = 0
    for (const line of lastMessage(texts[at] ?? '').split('\n')) {
      const found = /^!([a-z-]+)(?: (.*))?$/u.exec(line)
      const argument = found?.[2] ?? ''
      switch (found?.[1]) {
        case 'reply':
          parts.push({ text: argument })
          break
        case 'think':
          if (results.length === 0) parts.push({ think: 'REASONING-CANARY' })
          break
        case 'turn':
          parts.push({ text: `This is turn ${turn} of this session.` })
          break
        case 'delay':
          return [...parts, { hang: true }]
        case 'run':
        case 'ask': {
          const result = results[calls++]
          if (result === undefined) {
            // In a shell of its own, so that no rule of the program takes it for a harmless one.
            const command = found[1] === 'run' ? argument : `sh -c '${argument}'`
            return [...parts, { tool: 'Bash', input: { command, description: 'as the script says' } }]
          }
          if (found[1] === 'run') parts.push({ text: `ran: ${result.text}` })
          else parts.push({ text: `${/not permitted/u.test(result.text) ? 'Refused' : 'Allowed'}: ${argument}` })
          break
        }
        case 'attach': {
          if (results[calls++] === undefined) {
            const input = { file_path: `outbox/${argument}`, content: `the text of ${argument}\n` }
            return [...parts, { tool: 'Write', input }]
          }
          parts.push({ text: `[${argument}](outbox/${argument})` })
          break
        }
        case 'use':
        case 'call': {
          const result = results[calls++]
          const [name = '', ...json] = argument.split(' ')
          if (result === undefined) {
            const tool = found[1] === 'use' ? name : `mcp__lark-manager__${name}`
            return [...parts, { tool, input: JSON.parse(json.join(' ') || '{}') as {} }]
          }
          parts.push({ text: `called: ${result.text}` })
          break
        }
        case 'error': {
          const [status = '', type = '', ...message] = argument.split(' ')
          return { status: Number(status), type, message: message.join(' ') }
        }
        case 'heard':
          // What came into the running turn stands in later messages.
          parts.push({ text: texts.slice(at + 1).some((text) => text.includes(argument)) ? 'heard' : 'not heard' })
          break
        case 'prompt':
          parts.push({ text: JSON.stringify(request.system).includes(argument) ? 'it is there' : 'it is not there' })
          break
        case 'tools':
          parts.push({ text: request.tools.map(({ name }) => name).join(' ') })
          break
        case 'fail':
          switch (argument) {
            case 'exit':
              return [{ act: killed }, { hang: true }]
            case 'hang':
              return [...parts, { hang: true }]
            case 'too-large':
              return [{ text: 'x'.repeat(5 * 1024 * 1024) }]
            case 'unavailable':
              return { status: 500, type: 'api_error', message: 'down' }
            default:
              return []
          }
      }
    }
    return parts
  }
}

/** Messages whose turn failed stand together with the next one. */
function lastMessage(text: string): string {
  return ownerMessage(text.slice(text.lastIndexOf(MESSAGE_OPEN)))
}

/** The processes whose environment holds these words, found through /proc. */
export function processesWith(words: string): readonly number[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/u.test(entry)) return []
    try {
      return readFileSync(`/proc/${entry}/environ`, 'utf8').includes(words) ? [Number(entry)] : []
    } catch {
      return []
    }
  })
}
