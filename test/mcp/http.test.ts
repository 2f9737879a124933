import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { caller, fitting, servedDoor, type ServedDoor } from './kit.js'

let door: ServedDoor
beforeAll(async () => {
  door = await servedDoor()
})
afterAll(() => door.close())
beforeEach(() => {
  door.fake.calls.length = 0
  door.fake.answers.clear()
})

const post = (tool: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  door.post(`/api/v1/agent/${tool}`, body, headers)

describe('the tools over plain HTTP', () => {
  test.each(Object.entries(fitting))('%s is the same act', async (name, { verb, given, heard }) => {
    const response = await post(name, given, { 'idempotency-key': `key of ${name}`.replaceAll(' ', '-') })
    expect(response.status).toBe(200)
    const [call] = door.fake.calls
    expect([call?.verb, call?.caller]).toEqual([verb, caller])
    const { eventId, ...rest } = call?.said ?? {}
    expect(rest).toEqual(heard)
    const said = (await response.json()) as Record<string, unknown>
    expect(said['outcome']).toBe(eventId === undefined ? undefined : 'accepted')
  })

  test('a write needs its key, in the header or as an argument, and one key is one command', async () => {
    const given = { request: 'r1', onRevision: 1 }
    const missing = await post('cancel_request', given)
    expect(missing.status).toBe(400)
    expect(await missing.json()).toMatchObject({ code: 'idempotency-key-missing' })
    expect(door.fake.calls).toEqual([])
    const first = await post('cancel_request', given, { 'idempotency-key': 'k' })
    const second = await post('cancel_request', { ...given, key: 'k' })
    expect(await first.json()).toMatchObject({ outcome: 'accepted' })
    expect(await second.json()).toMatchObject({ outcome: 'already-applied' })
  })

  test.each([
    [{ reason: 'stale-revision', head: 4 }, 412],
    [{ reason: 'fence-held', holder: 'a' }, 423],
    [{ reason: 'not-receiver', receiver: null }, 403],
    [{ reason: 'request-unknown' }, 404],
    [{ reason: 'too-large', limit: 5 }, 413],
    [{ reason: 'stale-epoch' }, 403],
  ])('the refusal %j is a problem document', async (refusal, status) => {
    door.fake.answers.set('cancel', { outcome: 'rejected', refusal })
    const response = await post('cancel_request', { request: 'r1', onRevision: 1, key: 'k' })
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toContain('application/problem+json')
    const { reason, ...more } = refusal
    expect(await response.json()).toEqual({
      ...more,
      type: `urn:lark-manager:problem:${reason}`,
      code: reason,
      status,
      title: expect.stringMatching(/\S/) as string,
    })
  })

  test('speaks the caller’s language', async () => {
    const response = await post('no_such_tool', {}, { 'accept-language': 'zh-CN' })
    expect(response.status).toBe(404)
    expect(response.headers.get('content-language')).toBe('zh')
    expect(((await response.json()) as { title: string }).title).toMatch(/\p{Script=Han}/u)
  })

  test('wrong arguments name where, a conflict is 409, a fault is 503', async () => {
    const wrong = await post('todo_claim', { goal: 'g', todo: 't', key: 'k' })
    expect(wrong.status).toBe(400)
    expect(JSON.stringify(await wrong.json())).toContain('leaseMs')
    door.fake.answers.set('cancel', { outcome: 'conflict', eventId: 'e' })
    expect((await post('cancel_request', { request: 'r1', onRevision: 1, key: 'k' })).status).toBe(409)
    door.fake.answers.set('cancel', new Error('lost'))
    const fault = await post('cancel_request', { request: 'r1', onRevision: 1, key: 'k' })
    expect([fault.status, fault.headers.get('retry-after')]).toEqual([503, '2'])
  })
})
