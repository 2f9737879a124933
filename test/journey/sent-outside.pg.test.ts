import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until, type TestGateway } from '../kit/gateway.js'
import { heldRecordingEnv, recordedPrompts } from '../kit/recording.js'
import { caseApp, caseGateway, caseIds } from '../field/replay.js'

const { owner, colleague, dm, groupA } = caseIds
const folder = mkdtempSync(join(tmpdir(), 'lark-manager-holds-'))
let g: TestGateway
let turns = 0
beforeAll(async () => {
  g = await caseGateway({ env: heldRecordingEnv(folder) })
})
afterAll(async () => {
  await g.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** What an agent does that holds the credentials of the app: it writes past the gateway. */
async function writePast(chatId: string, text: string): Promise<string> {
  const post = async (path: string, body: object, token = ''): Promise<Record<string, unknown>> => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const response = await fetch(`${g.served.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await response.json()) as Record<string, unknown>
  }
  const secret = { app_id: caseApp.appId, app_secret: 'sandbox-secret' }
  const token = await post('/open-apis/auth/v3/tenant_access_token/internal', secret)
  const path = '/open-apis/im/v1/messages?receive_id_type=chat_id'
  const message = { receive_id: chatId, msg_type: 'text', content: JSON.stringify({ text }) }
  const sent = await post(path, message, String(token['tenant_access_token']))
  return (sent['data'] as { message_id: string }).message_id
}

/** Asks, lets `meanwhile` happen while the turn runs, and waits for the answer and all that follows from it. */
async function asked(chatId: string, meanwhile: () => Promise<unknown>): Promise<string> {
  turns += 1
  const hold = join(folder, `hold-${turns}`)
  writeFileSync(hold, '')
  const said = g.served.sandbox.world.say({ chatId, from: owner, text: 'do it', mentionBot: chatId !== dm })
  await until(() => recordedPrompts(g.dataDir).length === turns, 'the turn')
  const presented = () => g.db.sql`select 1 from collab.observations where kind = 'turn-presented'`
  await until(async () => (await presented()).length === turns, 'the turn to be presented')
  await meanwhile()
  rmSync(hold)
  await until(() => g.answers(chatId).some((one) => one.parentId === said.id), 'the answer')
  await g.quiet()
  return said.id
}

const outside = (messageId: string) => g.db.sql<{ payload: Record<string, unknown> }[]>`
  select o.payload from collab.observations o join collab.work_requests r on r.id = o.request
  where o.kind = 'sent-outside' and r.origin_message = ${messageId}`

describe('a message of our app that the gateway did not send', () => {
  test('is recorded on the exchange whose turn was running, and the committed result is delivered all the same', async () => {
    let messageId = ''
    const said = await asked(dm, async () => (messageId = await writePast(dm, 'done already')))
    expect(await outside(said)).toMatchObject([{ payload: { messageId, messageType: 'text' } }])
    expect(g.answers(dm)).toHaveLength(2)
    const { items } = (await (await g.api('/api/v1/requests')).json()) as {
      items: { state: string; observations: { kind: string; detail: string | null }[] }[]
    }
    expect(items[0]).toMatchObject({ state: 'closed' })
    expect(items[0]?.observations).toContainEqual(
      expect.objectContaining({ kind: 'sent-outside', detail: `text ${messageId}` }),
    )
  })

  test('what the gateway itself sent meanwhile, and what others write, is not', { timeout: 100_000 }, async () => {
    const said = await asked(groupA, async () => {
      const { world } = g.served.sandbox
      // A notice of ours in the same place, and a person.
      world.say({ chatId: groupA, from: colleague, text: 'me too', mentionBot: true })
      await until(() => g.answers(groupA).length > 0, 'the notice', 60_000).catch(async (error: Error) => {
        const parts = await g.db.sql`
          select d.cause_id, d.created_at, p.state, p.because, p.not_before from collab.deliveries d
          left join collab.delivery_parts p on p.delivery = d.id order by d.created_at`
        const heard = await g.db.sql`select disposition, received_at from collab.ingress_events order by received_at`
        const wakes = await g.db.sql`select kind, state, due_at from collab.wakes where state <> 'done'`
        throw new Error(`${error.message} at ${Date.now()}: ${JSON.stringify({ parts, heard, wakes })}`)
      })
      expect(g.answers(groupA)).toHaveLength(1)
    })
    expect(await outside(said)).toEqual([])
    expect(await g.db.sql`select 1 from collab.wakes where subject like 'outside-%' and state <> 'done'`).toEqual([])
  })
})
