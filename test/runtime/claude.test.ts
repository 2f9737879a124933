import { afterAll, beforeAll, describe } from 'vitest'
import { createClaudeRuntime } from '../../src/runtime/claude/adapter.js'
import { runtimeContract } from '../contracts/runtime.js'
import { type ClaudeBench, claudeBench, hasClaude } from '../kit/claude-bench.js'

describe.skipIf(!hasClaude)('the real claude', { timeout: 60_000 }, () => {
  let bench: ClaudeBench
  beforeAll(async () => {
    bench = await claudeBench()
  })
  afterAll(() => bench.close())
  // `garbage`: the real program cannot be made to write something else; one that does is in claude-hostile.test.ts.
  runtimeContract('claude', () => createClaudeRuntime(bench.options()), ['garbage'])
})
