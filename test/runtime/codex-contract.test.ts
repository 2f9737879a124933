import { afterAll, beforeAll, describe } from 'vitest'
import { createCodexRuntime } from '../../src/runtime/codex/adapter.js'
import { runtimeContract } from '../contracts/runtime.js'
import { codexBench, type CodexBench, hasCodex } from '../kit/codex-bench.js'

describe.skipIf(!hasCodex)('the real codex', () => {
  let bench: CodexBench
  beforeAll(async () => {
    bench = await codexBench()
  })
  afterAll(() => bench.close())

  runtimeContract('codex', () => createCodexRuntime(bench.options()))
})
