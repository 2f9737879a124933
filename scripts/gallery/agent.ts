/**
 * The agent of the gallery: it speaks ACP, knows the questions of `answers.ts` and gives the answers that stand there.
 * Started by the gateway through MANAGER_COMMAND.
 */
import { Readable, Writable } from 'node:stream'
import { agent, ndJsonStream, type PromptResponse } from '@agentclientprotocol/sdk'
import { ownerMessage } from '../../src/runtime/rehearsal/parse.js'
import { scripted } from './answers.js'

const running = new Map<string, AbortController>()
let sessions = 0

agent({ name: 'gallery' })
  .onRequest('initialize', () => ({
    protocolVersion: 1,
    agentInfo: { name: 'gallery-agent', version: '1.0.0' },
    agentCapabilities: { sessionCapabilities: { resume: {} } },
  }))
  .onRequest('session/new', () => ({ sessionId: `gallery-${process.pid}-${++sessions}` }))
  .onRequest('session/resume', () => ({}))
  .onNotification('session/cancel', ({ params }) => void running.get(params.sessionId)?.abort())
  .onRequest('session/prompt', async ({ params, client }): Promise<PromptResponse> => {
    const prompt = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
    const said = ownerMessage(prompt).trim()
    const known = scripted.find(({ ask }) => said.includes(ask))
    if (known?.exits === true) process.exit(3)
    const say = (content: object, sessionUpdate = 'agent_message_chunk') =>
      client.notify('session/update', {
        sessionId: params.sessionId,
        update: { sessionUpdate, content } as never,
      })
    if (known?.works === true) {
      await say({ type: 'text', text: ' ' }, 'agent_thought_chunk')
      const stop = new AbortController()
      running.set(params.sessionId, stop)
      const alive = setInterval(() => {}, 1_000)
      await new Promise((resolve) => stop.signal.addEventListener('abort', resolve, { once: true }))
      clearInterval(alive)
      return { stopReason: 'cancelled' }
    }
    const { command, address } = known ?? {}
    if (command !== undefined || address !== undefined) {
      await client.request('session/request_permission', {
        sessionId: params.sessionId,
        toolCall:
          address === undefined
            ? { toolCallId: 't1', title: 'Run a command', kind: 'execute', rawInput: { command } }
            : { toolCallId: 't1', title: 'Read from the network', kind: 'fetch', rawInput: { url: address } },
        options: [
          { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
          { optionId: 'no', name: 'Reject', kind: 'reject_once' },
        ],
      })
    }
    for (const { name, type, text } of known?.files ?? []) {
      const uri = `report:///${encodeURIComponent(name)}`
      await say({ type: 'resource', resource: { uri, mimeType: type, text } })
    }
    await say({ type: 'text', text: known?.answer ?? 'I know only the questions of the gallery.' })
    return { stopReason: 'end_turn' }
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>))
