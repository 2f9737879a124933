import type { Context } from 'hono'
import { discoveryRefused, rateLimited, refuse, refuseFlat, refused, type Answer } from './answer.js'
import { parseObject } from './card-check.js'
import type { ApiName, FaultAction, FaultScripts } from './faults.js'
import { readMultipart } from './multipart.js'
import { no, type Call, type Handler, type Platform } from './platform.js'
import type { StatsBook } from './stats.js'
import { sleep, type Timers } from './timers.js'
import type { Tokens } from './tokens.js'
import type { UuidWindow } from './uuid-window.js'

export interface GateOptions {
  readonly platform: Platform
  readonly tokens: Tokens
  readonly faults: FaultScripts
  readonly stats: StatsBook
  readonly timers: Timers
  readonly uuids: UuidWindow
  /** Resolves when the sandbox closes, so that a call that never answers ends with it. */
  readonly closed: Promise<void>
  readonly reset: ((request: Request) => void) | undefined
}

/** Token and discovery carry their own proof; only they pass without a bearer token. */
export type Access = 'bearer' | 'open'

/**
 * The way of every REST call: read the body, let the fault scripts strike, check the token, then the app's rate,
 * then the call itself. A fault that says "accepted" runs the call and only then breaks the line.
 */
export function gate(options: GateOptions, api: ApiName, access: Access, handler: Handler) {
  const { platform, faults, stats, timers, uuids } = options

  const run = (call: Call): Answer => {
    if (access === 'bearer') {
      const wrong = options.tokens.check(call.request.headers.get('authorization'))
      if (wrong !== null) return no(platform, wrong)
      const full = platform.rates.api(api)
      if (full !== null) return rateLimited(full.limit, full.resetSeconds, platform.ids.logId())
    }
    return handler(platform, call)
  }

  return async (context: Context): Promise<Response> => {
    const call = await readCall(context)
    const uuid = api === 'message.create' || api === 'message.reply' ? call.json?.['uuid'] : undefined
    const body = call.form === null ? Buffer.from(call.bytes).toString('utf8') : ''
    const { delayMs, action } = faults.strike({ api, chatId: chatOf(platform, call), body })
    const held = typeof uuid === 'string' && uuid !== ''
    if (held && !uuids.enter(uuid)) return counted(no(platform, 230049))
    try {
      if (delayMs > 0) await Promise.race([sleep(timers, delayMs), options.closed])
      // A call that never answers is no longer being worked on: a retry must not find its uuid taken for ever.
      if (held && action?.kind === 'hang') uuids.leave(uuid)
      return await act(call, action)
    } finally {
      if (held) uuids.leave(uuid)
    }
  }

  async function act(call: Call, action: FaultAction | null): Promise<Response> {
    switch (action?.kind) {
      case undefined:
      case 'latency':
        return counted(run(call))
      case 'rate-limit':
        return counted(rateLimited(50, action.resetSeconds, platform.ids.logId()))
      case 'code': {
        if (action.stored === true) run(call)
        if (action.httpStatus === undefined && api === 'token') return counted(refuseFlat(action.code, action.msg))
        if (action.httpStatus === undefined && api === 'ws.endpoint')
          return counted(discoveryRefused(action.code, action.msg))
        return counted(refuse(refused(action.code, action.msg), platform.ids.logId(), action.httpStatus ?? 400))
      }
      case 'status':
        if (action.stored === true) run(call)
        stats.count(api, -1)
        return new Response('upstream failure', { status: action.status })
      case 'hang':
        if (action.stored === true) run(call)
        stats.count(api, -1)
        await options.closed
        return new Response(null, { status: 503 })
      case 'accept-then-reset':
        run(call)
        return cut(call)
      case 'reset-before':
        return cut(call)
      case 'arrive-late':
        timers.set(() => void run(call), action.ms)
        return cut(call)
    }
  }

  /** Without a server that can destroy the socket the call fails as a lost connection does in fetch. */
  function cut(call: Call): Response {
    stats.count(api, -1)
    if (options.reset === undefined) {
      const cause = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
      throw new TypeError('fetch failed', { cause })
    }
    options.reset(call.request)
    return new Response(null, { status: 502 })
  }

  function counted(answer: Answer): Response {
    stats.count(api, answer.code)
    return answer.response
  }
}

async function readCall(context: Context): Promise<Call> {
  const request = context.req.raw
  const bytes = new Uint8Array(await request.arrayBuffer())
  const type = request.headers.get('content-type') ?? ''
  const form = type.startsWith('multipart/form-data') ? readMultipart(bytes, type) : null
  const json = form === null ? parseObject(Buffer.from(bytes).toString('utf8')) : null
  return { request, url: new URL(request.url), params: context.req.param(), bytes, json, form }
}

/** The chat a call is about, for fault scripts that name one. */
function chatOf(platform: Platform, call: Call): string | undefined {
  const message = platform.state.messages.get(call.params['messageId'] ?? '')
  const named = call.json?.['receive_id'] ?? call.url.searchParams.get('container_id')
  const direct = [...platform.state.chats.values()].find(
    (chat) => chat.mode === 'p2p' && typeof named === 'string' && chat.members.has(named),
  )
  return message?.chatId ?? direct?.chatId ?? call.params['chatId'] ?? (typeof named === 'string' ? named : undefined)
}
