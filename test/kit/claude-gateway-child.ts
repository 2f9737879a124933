/**
 * Stands for a gateway that is killed: opens a session of Claude Code, allows whatever is asked, and runs one message.
 * Started by a test with its options as JSON; says the id of its session in one line.
 */
import { createClaudeRuntime } from '../../src/runtime/claude/adapter.js'
import type { ClaudeOptions } from '../../src/runtime/claude/options.js'
import { silentLogger } from '../../src/lib/log.js'
import { collect, inputOf, never, opened } from './runtime-bench.js'

const { options, workspace, messages } = JSON.parse(process.argv[2] ?? '') as {
  readonly options: ClaudeOptions
  readonly workspace: string
  readonly messages: readonly string[]
}
const runtime = createClaudeRuntime({
  ...options,
  logger: silentLogger,
  newId: () => crypto.randomUUID(),
  clock: { now: () => Date.now() },
})
const session = await opened(runtime, workspace)
process.stdout.write(`${session.ref.id}\n`)
for (const message of messages) {
  await collect(session.turn(inputOf(message), never), async (event) => {
    if (event.kind === 'approval') await session.answer(event.approval, 'allow-once')
  })
}
