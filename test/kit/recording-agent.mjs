// An ACP agent that writes down each prompt it is handed, with what it finds at the paths named there, in its
// workspace (`prompts.jsonl`), and answers with the number of the prompt. With a folder as its argument it does not
// answer prompt n while a file `hold-n` is there, and ends without a word while a file `broken` is there. Plain JavaScript on purpose: one file, no build.

import { appendFileSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const folders = new Map()
const holds = process.argv[2]
let prompts = 0

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

const methods = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: { promptCapabilities: { image: true } } }),
  'session/new': ({ cwd }) => {
    const sessionId = `recorded-${process.pid}-${folders.size + 1}`
    folders.set(sessionId, cwd)
    return { sessionId }
  },
  'session/prompt': async ({ sessionId, prompt }) => {
    const text = prompt.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
    const files = [...text.matchAll(/^- .+ \([^()]+\): (.+)$/gmu)].map(([, path]) => ({
      path,
      size: existsSync(path) ? statSync(path).size : null,
    }))
    const line = { text, kinds: prompt.map((block) => block.type), files }
    appendFileSync(join(folders.get(sessionId), 'prompts.jsonl'), `${JSON.stringify(line)}\n`)
    const number = (prompts += 1)
    if (holds !== undefined && existsSync(join(holds, 'broken'))) process.exit(1)
    const update = (sessionUpdate, text) =>
      send({
        method: 'session/update',
        params: { sessionId, update: { sessionUpdate, content: { type: 'text', text } } },
      })
    // A sign of life: the turn has begun.
    update('agent_thought_chunk', 'reading')
    const hold = holds === undefined ? null : join(holds, `hold-${number}`)
    while (hold !== null && existsSync(hold)) await new Promise((resolve) => setTimeout(resolve, 10))
    update('agent_message_chunk', `Prompt ${number} was read.`)
    return { stopReason: 'end_turn' }
  },
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const handle = methods[method]
  if (handle === undefined) send({ id, error: { code: -32601, message: 'method not found' } })
  else send({ id, result: await handle(params) })
})
