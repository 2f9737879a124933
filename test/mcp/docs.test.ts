import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { tools } from '../../src/mcp/tools.js'

const page = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8')

test('the page on the agents’ tools names each of them once, and no other', () => {
  const [tableOfTools = ''] = page.split('\n## ')
  const rows = tableOfTools.split('\n').filter((line) => line.startsWith('| `'))
  const named = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name]) => name ?? ''))
  expect(named.toSorted()).toEqual(tools.map(({ name }) => name).toSorted())
})
