import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { until, type TestGateway } from '../kit/gateway.js'
import { caseEvents, caseGateway, caseIds, staged } from './replay.js'

const { dm, owner } = caseIds
let g: TestGateway
beforeAll(async () => {
  g = await caseGateway({ env: { LARK_SILENCE_MS: '1000' } })
})
afterAll(() => g.stop())

async function lark(): Promise<{ readonly ok: boolean; readonly detail: string }> {
  const answer = await fetch(`${g.gateway.url}/readyz`, { headers: { accept: 'application/json' } })
  const { parts } = (await answer.json()) as { parts: { name: string; ok: boolean; detail: string }[] }
  return must(
    parts.find((part) => part.name === 'lark'),
    'the line of Lark',
  )
}

async function check(name: string): Promise<{ readonly state: string; readonly detail: string }> {
  const { checks } = (await (await g.api('/api/v1/doctor')).json()) as {
    checks: { name: string; state: string; detail: string }[]
  }
  return must(
    checks.find((one) => one.name === name),
    name,
  )
}

describe('case 50, a connection that is open and brings nothing', () => {
  test('the message is found, told of and held, the connection made anew, and status never says ok meanwhile', async () => {
    const { sandbox } = g.served
    const first = sandbox.world.say({ chatId: dm, from: owner, text: '!reply here' })
    await until(() => g.answers(dm).length === 1, 'the first answer')
    expect((await lark()).detail).toMatch(/^connected as Manager; \d+ events, last \d{4}-/)
    sandbox.deafenConnections('deaf')
    const [event] = caseEvents('50-zombie-connection')
    const lost = staged(g.served, must(event, 'the event'), {}, JSON.stringify({ text: '!reply found' }))
    sandbox.world.pushEvent(lost.envelope)
    // What was just written may still be on its way, so this takes the silence, and twenty seconds more.
    const degraded = await until(
      async () => {
        const line = await lark()
        return line.ok ? null : line
      },
      'degraded',
      50_000,
    )
    expect(degraded.detail).toMatch(/degraded|not connected/)
    await until(async () => (await lark()).ok, 'connected anew')
    const notice = await until(() => g.answers(dm)[1], 'the notice')
    expect(notice.content).toContain('/run')
    const [gap] = await g.db.sql`select message_id as id, because from collab.ingress_gaps`
    expect(gap).toEqual({ id: lost.message.id, because: 'connected' })
    expect(await check('events missed')).toMatchObject({
      state: 'warning',
      detail: expect.stringContaining('another process seems to use this app id: 1 of 2'),
    })
    expect((await lark()).detail).toContain('another process seems to use this app id')
    // The same dedup: what a door brings after all is no second request, and no loss any more.
    sandbox.world.pushAgain(lost.message.id)
    await until(async () => (await check('events missed')).state === 'ok', 'the loss to be taken back')
    const run = sandbox.world.say({ chatId: dm, from: owner, text: '/run' })
    await until(() => g.answers(dm).some((answer) => answer.content.includes('found')), 'the answer')
    await g.quiet()
    expect(
      g.answers(dm).filter((answer) => answer.parentId === lost.message.id && answer.id !== notice.id),
    ).toHaveLength(1)
    expect(g.answers(dm).some((answer) => answer.parentId === run.id)).toBe(true)
    expect(g.answers(dm).filter((answer) => answer.parentId === first.id)).toHaveLength(1)
    expect(await check('events received')).toMatchObject({ state: 'ok', detail: expect.stringContaining('last 2') })
  }, 120_000)
})
