/**
 * An agent over ACP for `bench/turns.ts`: its answer is the two times that it knows, when it had the whole prompt and when
 * it wrote its last words, `wait=MS` of the message after its first ones. Milliseconds of this machine's clock.
 */
import { setTimeout as after } from 'node:timers/promises'
import { Readable, Writable } from 'node:stream'
import { agent, ndJsonStream, type PromptResponse } from '@agentclientprotocol/sdk'

agent({ name: 'turns' })
  .onRequest('initialize', () => ({
    protocolVersion: 1,
    agentInfo: { name: 'turns', version: '1.0.0' },
    agentCapabilities: {},
  }))
  .onRequest('session/new', () => ({ sessionId: `session-${process.pid}` }))
  .onRequest('session/prompt', async ({ params, client }): Promise<PromptResponse> => {
    const had = Date.now()
    const text = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
    const waitMs = Number(/wait=(\d+)/u.exec(text)?.[1] ?? 0)
    const say = (words: string): Promise<void> =>
      client.notify('session/update', {
        sessionId: params.sessionId,
        update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: words } },
      })
    await say(`{"had":${had},`)
    if (waitMs > 0) await after(waitMs)
    await say(`"gave":${Date.now()}}`)
    return { stopReason: 'end_turn' }
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>))
