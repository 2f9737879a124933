/**
 * An ACP agent without a model: it follows `!` lines of the owner's message, as a real agent would answer them on the
 * wire. A process of its own, started through MANAGER_COMMAND; its flags choose what it advertises and how it starts.
 *
 * Flags: `--no-resume` `--load` `--banner` `--garbage-at-start` `--exit-at-start` `--mute` `--auth` `--steps-aside`
 * `--stdio-tools` (it does not say that it can reach tools over HTTP) `--record` (each prompt is written down in its
 * workspace, as recording.ts reads it)
 *
 * `!run command` runs it in a shell and answers with what it printed.
 * `!tool name {json}` calls a tool of the gateway and answers with what it said; `!unannounced` does so
 * without a word to the client before. `!assess judgment reason` and
 * `!report text` do so for every ask that it knows. See scripted-tools.ts for the names that may stand in the JSON.
 * `!if condition directive` and `!unless condition directive` follow a directive by what the prompt says: `returned`
 * (work that was handed on came back), `continued` (it tells of work that began before), or `revision=N`. `!mark path` makes a file and
 * `!await path` works on until one is there; `!haunt path name {json}` calls a tool when one is, long after its
 * turn.
 */
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import {
  agent,
  type AgentContext,
  type McpServer,
  ndJsonStream,
  type PromptResponse,
  RequestError,
} from '@agentclientprotocol/sdk'
import { ownerMessage } from '../../src/runtime/rehearsal/parse.js'
import { ScriptedTools } from './scripted-tools.js'

const flags = new Set(process.argv.slice(2))
const cancelled = new Map<string, AbortController>()
const folders = new Map<string, string>()
const tools = new Map<string, ScriptedTools>()
let sessions = 0

if (flags.has('--exit-at-start')) {
  process.stderr.write(`not signed in: ${process.env['AGENT_API_KEY'] ?? 'no key'} in /srv/private/agent/home\n`)
  process.exit(3)
}
if (flags.has('--banner')) process.stdout.write('Scripted agent 1.0\nwarning: nothing to warn of\n')
if (flags.has('--garbage-at-start')) {
  process.stdout.write('<html>this is not the agent you are looking for</html>\n'.repeat(60))
  setInterval(() => {}, 1000)
}
if (flags.has('--mute')) {
  process.stdin.resume()
  setInterval(() => {}, 1000)
} else if (!flags.has('--garbage-at-start')) serve()

function statePath(session: string, cwd: string): string {
  return join(cwd, '.scripted', `${session}.json`)
}

function readTurns(session: string, cwd: string): number | null {
  try {
    return (JSON.parse(readFileSync(statePath(session, cwd), 'utf8')) as { turns: number }).turns
  } catch {
    return null
  }
}

function writeTurns(session: string, cwd: string, turns: number): void {
  mkdirSync(join(cwd, '.scripted'), { recursive: true })
  writeFileSync(statePath(session, cwd), JSON.stringify({ turns }))
}

function takeUp(session: string, cwd: string, servers: readonly McpServer[]): void {
  if (readTurns(session, cwd) === null) throw RequestError.resourceNotFound(session)
  begin(session, cwd, servers)
}

function begin(session: string, cwd: string, servers: readonly McpServer[]): void {
  folders.set(session, cwd)
  tools.set(session, new ScriptedTools(servers))
}

function serve(): void {
  const model = { id: 'model', name: 'Model', category: 'model', type: 'select', currentValue: 'script-1' } as const
  const configOptions = [{ ...model, options: [{ value: 'script-1', name: 'Script 1' }] }]
  agent({ name: 'scripted' })
    .onRequest('initialize', () => ({
      protocolVersion: 1,
      agentInfo: { name: 'scripted-agent', version: '1.0.0' },
      agentCapabilities: {
        loadSession: flags.has('--load'),
        sessionCapabilities: flags.has('--no-resume') || flags.has('--load') ? {} : { resume: {} },
        promptCapabilities: { image: true },
        mcpCapabilities: { http: !flags.has('--stdio-tools') },
      },
    }))
    .onRequest('session/new', ({ params }) => {
      if (flags.has('--auth')) throw RequestError.authRequired()
      // Confined, its number is small and another one has it, too.
      const sessionId = `s${process.pid}-${++sessions}-${randomUUID().slice(0, 8)}`
      writeTurns(sessionId, params.cwd, 0)
      begin(sessionId, params.cwd, params.mcpServers)
      return { sessionId, configOptions }
    })
    .onRequest('session/resume', ({ params }) => {
      takeUp(params.sessionId, params.cwd, params.mcpServers ?? [])
      return { configOptions }
    })
    .onRequest('session/load', async ({ params, client }) => {
      takeUp(params.sessionId, params.cwd, params.mcpServers)
      await say(client, params.sessionId, 'an answer of an earlier turn that is repeated')
      return { configOptions }
    })
    .onNotification('session/cancel', ({ params }) => void cancelled.get(params.sessionId)?.abort())
    .onRequest('session/prompt', async ({ params, client }) => {
      const cwd = folders.get(params.sessionId) ?? process.cwd()
      const turn = (readTurns(params.sessionId, cwd) ?? 0) + 1
      writeTurns(params.sessionId, cwd, turn)
      const stop = new AbortController()
      cancelled.set(params.sessionId, stop)
      const kinds = params.prompt.map((block) => block.type).join(',')
      const text = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
      if (flags.has('--record')) {
        appendFileSync(join(cwd, 'prompts.jsonl'), `${JSON.stringify({ text, kinds: [], files: [] })}\n`)
      }
      return act({ client, session: params.sessionId, cwd, turn, kinds, signal: stop.signal }, text)
    })
    .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>))
}

interface Scene {
  readonly client: AgentContext
  readonly session: string
  readonly cwd: string
  readonly turn: number
  readonly kinds: string
  readonly signal: AbortSignal
}

function say(client: AgentContext, sessionId: string, text: string): Promise<void> {
  const content = { type: 'text', text } as const
  return client.notify('session/update', { sessionId, update: { sessionUpdate: 'agent_message_chunk', content } })
}

/** Agents show a call before they make it. */
function showCall({ client, session }: Scene): Promise<void> {
  return client.notify('session/update', {
    sessionId: session,
    update: { sessionUpdate: 'tool_call', toolCallId: 't1', title: 'Look', rawOutput: 'TOOL-OUTPUT' },
  })
}

/** The directive of a line whose conditions hold; nothing when one does not. */
function applying(line: string, own: ScriptedTools): string {
  const found = /^!(if|unless) (\S+) (.*)$/u.exec(line)
  if (found === null) return line
  const [, word, condition = '', rest = ''] = found
  return own.says(condition) === (word === 'if') ? applying(`!${rest}`, own) : ''
}

async function act(scene: Scene, prompt: string): Promise<PromptResponse> {
  const { client, session, signal } = scene
  const own = tools.get(session) ?? new ScriptedTools([])
  own.readPrompt(prompt)
  for (const line of ownerMessage(prompt).split('\n')) {
    if (signal.aborted) return { stopReason: 'cancelled' }
    const found = /^!([a-z-]+)(?: (.*))?$/u.exec(applying(line, own))
    const argument = found?.[2] ?? ''
    switch (found?.[1]) {
      case 'reply': {
        const half = Math.ceil(argument.length / 2)
        await say(client, session, argument.slice(0, half))
        await say(client, session, argument.slice(half))
        break
      }
      case 'nul':
        // What no database keeps and no message needs; agents print it all the same.
        await say(client, session, 'before \u0000\ud800 after')
        break
      case 'turn':
        await say(client, session, `This is turn ${scene.turn} of this session.`)
        break
      case 'env':
        await say(client, session, Object.keys(process.env).sort().join(' '))
        break
      case 'run': {
        // As the shell of a real agent does it, in its workspace.
        const { stdout, stderr } = spawnSync('/bin/sh', ['-c', argument], { cwd: scene.cwd, encoding: 'utf8' })
        await say(client, session, `${stdout}${stderr}`)
        break
      }
      case 'blocks':
        await say(client, session, scene.kinds)
        break
      case 'think':
        await client.notify('session/update', {
          sessionId: session,
          update: { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'REASONING-CANARY' } },
        })
        break
      case 'tool':
        await showCall(scene)
        if (argument !== '') {
          const [name = '', ...json] = argument.split(' ')
          await say(client, session, `${await own.call(name, json.join(' '))}\n`)
        }
        break
      case 'unannounced': {
        const [name = '', ...json] = argument.split(' ')
        await say(client, session, `${await own.call(name, json.join(' '))}\n`)
        break
      }
      case 'assess': {
        await showCall(scene)
        const [judgment = '', ...reason] = argument.split(' ')
        await say(client, session, `${await own.assess(judgment, reason.join(' '))}\n`)
        break
      }
      case 'report':
        await showCall(scene)
        await say(client, session, `${await own.report(argument)}\n`)
        break
      case 'unknown-update':
        await client.notify<unknown>('session/update', {
          sessionId: session,
          update: { sessionUpdate: 'of_next_year', content: 7 },
        })
        break
      case 'delay':
        await pause(Number(argument.replace(/\D/gu, '')) * (argument.endsWith('ms') ? 1 : 1000), signal)
        break
      case 'mark':
        writeFileSync(argument, '')
        break
      case 'haunt': {
        // Goes on after its turn: it calls a tool when the file is there, as an executor does that nobody needs any more.
        const [path = '', name = '', ...json] = argument.split(' ')
        void (async () => {
          while (!existsSync(path)) await pause(20, new AbortController().signal)
          writeFileSync(`${path}-said`, await own.call(name, json.join(' ')))
        })()
        break
      }
      case 'await':
        while (!existsSync(argument) && !signal.aborted) await pause(20, signal)
        break
      case 'attach':
        await attach(scene, argument)
        break
      case 'ask':
      case 'ask-without-reject': {
        const answer = await ask(scene, argument, found[1] === 'ask')
        if (flags.has('--steps-aside') && answer !== 'Allowed') return { stopReason: 'cancelled' }
        await say(client, session, `${answer}: ${argument}`)
        break
      }
      case 'fail':
        return fail(scene, argument)
    }
  }
  return { stopReason: signal.aborted ? 'cancelled' : 'end_turn' }
}

async function ask(scene: Scene, command: string, canReject: boolean): Promise<string> {
  const { outcome } = await scene.client.request('session/request_permission', {
    sessionId: scene.session,
    toolCall: { toolCallId: 't2', title: 'Run a command', kind: 'execute', rawInput: { command } },
    options: [
      { optionId: 'always', name: 'Always', kind: 'allow_always' },
      { optionId: 'yes', name: 'Once', kind: 'allow_once' },
      ...(canReject ? [{ optionId: 'no', name: 'No', kind: 'reject_once' } as const] : []),
    ],
  })
  if (outcome.outcome === 'cancelled') return 'Cancelled'
  return outcome.optionId === 'yes' ? 'Allowed' : outcome.optionId === 'no' ? 'Refused' : 'Widened'
}

async function attach(scene: Scene, name: string): Promise<void> {
  const absolute = name.startsWith('/') || name.startsWith('file:')
  const path = join(scene.cwd, name)
  if (!absolute) mkdirSync(dirname(path), { recursive: true })
  if (name === 'outside.txt' || basename(name) === 'link-to-outside') symlinkSync('/etc/hostname', path)
  else if (name !== 'picture.png' && !absolute) writeFileSync(path, `the text of ${name}\n`)
  const uri = name.startsWith('file:') ? name : pathToFileURL(absolute ? name : path).href
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const content =
    name === 'picture.png'
      ? ({ type: 'image', data: pixel, mimeType: 'image/png' } as const)
      : ({ type: 'resource_link', name, uri } as const)
  await scene.client.notify('session/update', {
    sessionId: scene.session,
    update: { sessionUpdate: 'agent_message_chunk', content },
  })
}

async function fail(scene: Scene, how: string): Promise<PromptResponse> {
  switch (how) {
    case 'exit':
      return process.exit(1)
    case 'garbage':
      process.stdout.write('Segmentation fault (but still here)\n')
      return new Promise(() => {})
    case 'too-large':
      await say(scene.client, scene.session, 'x'.repeat(5 * 1024 * 1024))
      return { stopReason: 'end_turn' }
    case 'unavailable':
      throw RequestError.internalError(undefined, 'usage limit reached')
    case 'hang': {
      // Deaf to everything but SIGKILL, and so is the command that it started.
      process.on('SIGTERM', () => {})
      const deaf = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'
      const command = spawn(process.execPath, ['-e', deaf], { stdio: ['ignore', 'inherit', 'inherit'] })
      await say(scene.client, scene.session, `command ${command.pid ?? 0}`)
      setInterval(() => {}, 1000)
      return new Promise(() => {})
    }
    default:
      return { stopReason: 'end_turn' }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
