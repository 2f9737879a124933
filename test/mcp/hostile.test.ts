import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusalWords } from '../../src/mcp/refusal-words.js'
import { tools } from '../../src/mcp/tools.js'
import { fitting, servedDoor, type ServedDoor } from './kit.js'

let door: ServedDoor
beforeAll(async () => {
  door = await servedDoor()
})
afterAll(() => door.close())

const names = tools.map((tool) => tool.name)
const outcomes = ['accepted', 'already-applied', 'conflict', 'rejected']

/** What the tool call answered; fails unless it is a typed answer. */
async function answered(name: string, given: unknown): Promise<Readonly<Record<string, unknown>>> {
  const response = await door.post('/mcp', {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: given },
  })
  expect(response.status).toBe(200)
  const { result } = (await response.json()) as {
    result: { isError: boolean; structuredContent: Record<string, unknown>; content: { text: string }[] }
  }
  const said = result.structuredContent
  expect(JSON.parse(result.content[0]?.text ?? '')).toEqual(said)
  if (result.isError) {
    expect(outcomes).toContain(said['outcome'])
    if (said['outcome'] === 'rejected') {
      const { reason } = said['refusal'] as { reason: keyof typeof refusalWords }
      expect(said['next']).toBe(refusalWords[reason].en)
      // A fault would be ours, whatever was said.
      expect(reason).not.toBe('unavailable')
    }
  }
  return said
}

const members = [...new Set(tools.flatMap((tool) => Object.keys((tool.arguments['properties'] ?? {}) as object)))]
const nasty = fc.oneof(
  fc.anything({ withNullPrototype: false, withBigInt: false, withDate: false, withMap: false, withSet: false }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\u0000', '\ud800', "'; drop table tokens; --", '__proto__', '../..', 'NaN', '1e999', ' ', ''),
  fc.double(),
  fc.maxSafeInteger(),
)

describe('hostile arguments', () => {
  test('whatever is said, the answer is typed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.dictionary(fc.oneof(fc.constantFrom(...members, '__proto__', 'constructor'), fc.string()), nasty),
        async (name, given) => void (await answered(name, JSON.parse(JSON.stringify(given)))),
      ),
      { numRuns: 150 },
    )
  })

  test('one wrong member among right ones is refused or harmless, and never reaches a verb as it is not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), fc.nat(), nasty, async (name, at, wrong) => {
        const right = fitting[name]?.given ?? {}
        const keys = Object.keys(right)
        const member = keys[at % Math.max(1, keys.length)] ?? 'goal'
        door.fake.calls.length = 0
        const given = JSON.parse(JSON.stringify({ ...right, [member]: wrong }) ?? '{}') as object
        await answered(name, given)
        // What a file holds is bytes, and any byte is right there; everything else becomes text in the ledger.
        const heard = JSON.stringify(
          door.fake.calls.map(({ said }) => said),
          (key, value: unknown) => (key === 'bytes' ? undefined : value),
        )
        expect(heard).not.toContain('\\u0000')
        expect(heard).not.toMatch(/\\ud[89a-f]/i)
      }),
      { numRuns: 150 },
    )
  })

  test('very deep arguments are refused', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    for (const given of [`{"request":${deep}}`, `{"request":"r1","onRevision":1,"x":${deep}}`]) {
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"cancel_request","arguments":${given}}}`
      const response = await door.post('/mcp', body)
      expect([200, 400]).toContain(response.status)
      expect((await door.post('/api/v1/agent/cancel_request', given, { 'idempotency-key': 'k' })).status).toBe(400)
    }
  })

  test('messages that are not calls get a protocol answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (text) => {
        const { status } = await door.post('/mcp', text)
        expect([200, 202, 400]).toContain(status)
      }),
      { numRuns: 100 },
    )
  })

  test('a very long batch is no way round the limit of one call', async () => {
    const call = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'inbox_read', arguments: {} } }
    door.fake.calls.length = 0
    const response = await door.post(
      '/mcp',
      Array.from({ length: 5000 }, (_, id) => ({ ...call, id })),
    )
    expect(response.status).toBe(400)
    expect(door.fake.calls).toEqual([])
  })
})
