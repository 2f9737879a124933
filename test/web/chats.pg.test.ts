import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../../src/cli/main.js'
import { closedPolicy } from '../../src/collab/chat-policy.js'
import type { Channel } from '../../src/collab/channel.js'
import { showPolicy } from '../../src/exchange/chat-policy.js'
import { putMember } from '../../src/stores/policies/members.js'
import { putPolicy } from '../../src/stores/policies/policies.js'
import { testSettings } from '../exchange/outgoing-kit.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { adminToken, bearer, publicUrl, webUnderTest, type WebUnderTest } from './kit.js'

const bot = 'cli_a'
const room = 'oc_room'
let fresh: FreshDb
let ui: WebUnderTest
beforeAll(async () => {
  fresh = await freshDb()
  const channelOf = (id: string) => (id === bot ? ({} as Channel) : null)
  const { exchange } = webUnderTest(fresh.db).deps
  ui = webUnderTest(fresh.db, { exchange: { ...exchange, channelOf, settings: testSettings } })
})
afterAll(() => fresh.drop())

let keys = 0
const path = (chat = room, of = bot) => `/api/v1/chats/${of}/${chat}/policy`
const read = async (chat = room) => (await (await ui.get(path(chat), bearer)).json()) as Record<string, unknown>
async function put(chat: string, body: object, revision: number | null, headers: Record<string, string> = {}) {
  const response = await ui.web.fetch(
    new Request(publicUrl + path(chat), {
      method: 'PUT',
      headers: {
        ...bearer,
        'content-type': 'application/json',
        'idempotency-key': `put-${++keys}`,
        ...(revision === null ? {} : { 'if-match': `"${revision}"` }),
        ...headers,
      },
      body: JSON.stringify(body),
    }),
  )
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const audit = () => fresh.db.sql<{ who: string; act: string }[]>`
  select who, act from collab.audit_lines where subject like 'chat %' order by at, id`

describe('the policy of a chat', () => {
  test('is closed where nothing was set, and says so', async () => {
    const shown = await read()
    expect(shown).toMatchObject({ bot, chat: room, revision: 0, everywhere: 0, settings: {}, readable: true })
    expect(shown['effective']).toEqual(closedPolicy)
  })

  test('is set by the operator alone, on the revision that was seen, with who and when', async () => {
    expect((await put(room, { mention: 'off' }, 0, { authorization: 'Bearer wrong' })).status).toBe(401)
    expect((await put(room, { mention: 'off' }, null)).status).toBe(428)
    const { cookie } = await ui.browser()
    const forged = await put(room, { mention: 'off' }, 0, { authorization: '', cookie })
    expect([401, 403]).toContain(forged.status)
    expect(await audit()).toEqual([])
    expect(await put(room, { mention: 'off' }, 0)).toEqual({ status: 200, body: { outcome: 'accepted', revision: 1 } })
    const stale = await put(room, { bots: true }, 0)
    expect([stale.status, stale.body['code'], stale.body['head']]).toEqual([412, 'stale-revision', 1])
    expect(await read()).toMatchObject({ revision: 1, settings: { mention: 'off' }, setBy: 'admin-token' })
    expect(await audit()).toEqual([{ who: 'admin-token', act: 'chat policy 1: {"mention":"off"}' }])
  })

  test('the same command again changes nothing; its key with something else is refused', async () => {
    const key = { 'idempotency-key': 'once' }
    expect((await put(room, { atAll: true }, 1, key)).body).toEqual({ outcome: 'accepted', revision: 2 })
    expect((await put(room, { atAll: true }, 1, key)).body).toEqual({ outcome: 'already-applied', revision: 2 })
    expect((await put(room, { atAll: false }, 1, key)).status).toBe(422)
    // It was replaced whole: what it left out comes from the rows below again.
    expect(await read()).toMatchObject({ revision: 2, settings: { atAll: true } })
  })

  test('what a chat does not set comes from all chats', async () => {
    await put('all', { quiet: { from: 1_320, until: 480, zone: 'Asia/Shanghai' }, atAll: false }, 0)
    const { effective, everywhere } = (await read()) as { effective: object; everywhere: number }
    expect(everywhere).toBe(1)
    expect(effective).toMatchObject({ atAll: true, quiet: { from: 1_320, until: 480, zone: 'Asia/Shanghai' } })
    expect(await read('oc_other')).toMatchObject({ revision: 0, effective: { atAll: false } })
  })

  test.each([
    [{ who: 'everyone' }],
    [{ Who: 'owner' }],
    [{ quiet: { from: 5, until: 5, zone: 'UTC' } }],
    [{ quiet: { from: 5, until: 6, zone: 'Mars/Olympus' } }],
    [{ language: 'fr' }],
  ])('%j is refused, and nothing is changed', async (body) => {
    const before = await read()
    expect((await put(room, body, 2)).status).toBe(400)
    expect(await read()).toEqual(before)
  })

  test('nobody but owners is let in where their work cannot be kept apart', async () => {
    const before = await read()
    const refused = await put(room, { who: 'humans' }, 2)
    expect([refused.status, refused.body['code']]).toEqual([409, 'policy-not-isolated'])
    expect(await read()).toEqual(before)
  })

  test('a bot that does not run here and an id that is no chat are not there', async () => {
    for (const at of [path(room, 'cli_b'), path('..%2f'), path('ou_alice'), path('群')]) {
      expect((await ui.get(at, bearer)).status).toBe(404)
    }
  })

  test('two commands on the same revision: one is accepted, the other hears what stands', async () => {
    const both = await Promise.all([put('oc_race', { bots: true }, 0), put('oc_race', { atAll: true }, 0)])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 412])
    expect(await read('oc_race')).toMatchObject({ revision: 1 })
  })

  test('a row that nobody here can read closes the chat, until it is set anew', async () => {
    const row = {
      bot,
      chatId: 'oc_old',
      settings: { who: 'anybody-from-2031' },
      setBy: 'x',
      ownerWorkBy: null,
      setAt: 1,
      eventId: 'e-old',
    }
    await putPolicy(fresh.db.sql, { ...row, revision: 1 })
    expect(await read('oc_old')).toMatchObject({ readable: false, settings: null, effective: closedPolicy })
    await put('oc_old', { bots: true }, 1)
    expect(await read('oc_old')).toMatchObject({ readable: true, revision: 2, effective: { bots: true, who: 'owner' } })
  })
})

describe('the command line', () => {
  async function run(...words: string[]) {
    const out: string[] = []
    const err: string[] = []
    const code = await runCli(words, {
      stdout: (text) => void out.push(text),
      stderr: (text) => void err.push(text),
      env: { url: publicUrl, token: adminToken, lang: 'en_US.UTF-8' },
      fetch: (url, init) => ui.web.fetch(new Request(url, init)),
      newId: () => `cli-${++keys}`,
    })
    return { code, out: out.join(''), err: err.join('') }
  }

  test('sets in the words of /chat, over what stands, and shows what is set here with a star', async () => {
    expect(await run('chat', 'set', bot, 'oc_cli', 'mention=off')).toEqual({ code: 0, out: 'revision 1\n', err: '' })
    expect((await run('chat', 'set', bot, 'oc_cli', '语言=中文')).out).toBe('revision 2\n')
    const { out } = await run('chat', 'show', bot, 'oc_cli')
    expect(out).toContain('* mention: off')
    expect(out).toContain('* language: zh')
    expect(out).toContain('  quiet: 22:00-08:00@Asia/Shanghai')
    expect((await run('chat', 'list')).out).toContain(`${bot}  oc_cli  2`)
  })

  test('what it cannot read is a wrong call, and nothing is sent', async () => {
    const wrong = await run('chat', 'set', bot, 'oc_cli', 'who=everyone')
    expect([wrong.code, wrong.out]).toEqual([2, ''])
    expect(wrong.err).toContain('who=everyone')
  })

  test('removes an admitted person once, on record', async () => {
    await putMember(fresh.db.sql, {
      id: 'm1',
      bot,
      chatId: 'oc_cli',
      openId: 'ou_bob',
      tenantKey: null,
      unionId: null,
      starts: null,
      until: null,
      admittedBy: 'ou_alice',
      admittedAt: 1,
    })
    expect((await run('chat', 'show', bot, 'oc_cli')).out).toContain('ou_bob')
    expect((await run('chat', 'remove', bot, 'oc_cli', 'ou_bob')).out).toBe('1\n')
    expect((await run('chat', 'remove', bot, 'oc_cli', 'ou_bob')).out).toBe('0\n')
    const { members } = await showPolicy(ui.deps.exchange, bot, 'oc_cli')
    expect(members).toEqual([])
    expect((await audit()).filter(({ act }) => act === 'member removed: ou_bob')).toHaveLength(1)
  })
})
