import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, as last measured: begun first, none of them is still running when all others are done. */
const longest = [
  'test/journey/restart.pg',
  'test/app/start.pg',
  'test/runtime/claude-program',
  'test/stores/embedded.pg',
  'test/render/properties',
  'test/field/44-replay-from-dashboard.pg',
  'test/web/pages.pg',
  'test/acceptance/a08-result-survives.pg',
  'test/exchange/gap-fill.pg',
  'test/exchange/histories.pg',
  'test/queue/queue.pg',
  'test/stores/ledger-histories.pg',
  'test/field/50-zombie-connection.pg',
  'test/field/40-rate-limit-and-quota.pg',
  'test/journey/progress.pg',
  'test/runtime/codex-process',
  'test/runtime/acp',
  'test/runtime/claude.',
  'test/journey/codex.pg',
  'test/chaos/delivery.pg',
]

const rankOf = ({ moduleId }: TestSpecification): number => {
  const at = longest.findIndex((name) => moduleId.includes(`/${name}`))
  return at === -1 ? longest.length : at
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}
