import { rejected } from './answer.js'
import { bytesCall } from './artifact-http.js'
import { bodyLimitBytes, callerIn, comesFromElsewhere, json, textWithin } from './guard.js'
import { perform } from './perform.js'
import { doorWords, languageOf, problem, responseOf } from './problem.js'
import type { McpDeps } from './server.js'
import { toolNamed } from './tools.js'

export const agentPath = '/api/v1/agent/'

/**
 * The same tools for scripts and the command line: `POST /api/v1/agent/{tool}` with the arguments as JSON. The answer
 * is the receipt or what was shown; a refusal is a problem document (RFC 9457). Files may also go as plain bytes.
 */
export function createAgentHttp(deps: McpDeps): (request: Request) => Promise<Response> {
  return async (request) => {
    if (comesFromElsewhere(request, deps.origins))
      return problem(403, 'not-allowed-here', doorWords['not-allowed-here'].en, 'en')
    const caller = await callerIn(request, deps.caller)
    if ('because' in caller) {
      deps.log.info('a tool call was turned away', { reason: caller.because })
      return problem(401, 'not-signed-in', caller.said, 'en', { error: caller.said })
    }
    if (request.method !== 'POST') return json(405, { error: 'use POST' }, { allow: 'POST' })
    const language = languageOf(request)
    const tool = toolNamed(new URL(request.url).pathname.slice(agentPath.length))
    if (tool === null) return responseOf(rejected({ reason: 'unknown-tool' }), language)
    const asBytes = await bytesCall(deps, caller, tool.name, request, language)
    if (asBytes !== null) return asBytes
    const text = await textWithin(request, bodyLimitBytes)
    if (text === null) return problem(413, 'body-too-large', doorWords['body-too-large'][language], language)
    const read = argumentsIn(text, request.headers.get('idempotency-key'), tool.writes)
    if (!read.ok) return problem(400, read.because, doorWords[read.because][language], language)
    // Without a call id of a protocol nothing else could name a write.
    const absent = (): string => {
      throw new Error('a write came without its key')
    }
    return responseOf(await perform(deps, caller, tool, read.given, absent), language)
  }
}

type Read =
  | { readonly ok: true; readonly given: unknown }
  | { readonly ok: false; readonly because: 'body-unreadable' | 'idempotency-key-missing' }

function argumentsIn(text: string, header: string | null, writes: boolean): Read {
  let given: unknown
  try {
    given = text.trim() === '' ? {} : JSON.parse(text)
  } catch {
    return { ok: false, because: 'body-unreadable' }
  }
  if (!writes || typeof given !== 'object' || given === null || Array.isArray(given)) return { ok: true, given }
  const key = (given as Readonly<Record<string, unknown>>)['key'] ?? header ?? undefined
  return key === undefined ? { ok: false, because: 'idempotency-key-missing' } : { ok: true, given: { ...given, key } }
}
