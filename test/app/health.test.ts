import { describe, expect, test } from 'vitest'
import { ownersCheck, receiving } from '../../src/app/health.js'
import { eventsCheck, historyCheck, larkLine, sharedCheck, type Listening } from '../../src/app/listening.js'
import type { BotState } from '../../src/bot/bot.js'
import type { Instant } from '../../src/collab/refs.js'

type Connection = NonNullable<BotState['connection']>

const open: Connection = {
  connected: true,
  since: 0 as Instant,
  lease: 'held',
  aliveAt: null,
  lastEventAt: null,
  count: 0,
  lastError: null,
}
const identity = { openId: 'ou_bot', name: 'Manager' }
const known = (connection: Partial<Connection> | null): BotState => ({
  identity,
  identityError: null,
  settingsError: null,
  connection: connection === null ? null : { ...open, ...connection },
})
const unknown: BotState = { identity: null, identityError: 'code 10003', settingsError: null, connection: open }

describe('the line of Lark', () => {
  test('before the first answer about the lease nobody else is said to hold it', () => {
    const line = larkLine(known({ connected: false, lease: 'starting' }), 'all')
    expect(line).toMatchObject({ ok: false, detail: 'not connected: connecting' })
    const waiting = larkLine(known({ connected: false, lease: 'waiting' }), 'all')
    expect(waiting).toMatchObject({ ok: false, detail: 'another process holds the connection of this app id' })
  })

  test('it says what comes in, and how', () => {
    expect(larkLine(known({}), 'gateway')).toMatchObject({ ok: true, detail: 'connected as Manager; no event yet' })
    expect(larkLine(known(null), 'all')).toMatchObject({ ok: true, detail: 'webhook, as Manager' })
    expect(larkLine(known(null), 'worker')).toMatchObject({ ok: true, detail: 'sends only, as Manager' })
    expect(larkLine(unknown, 'all')).toMatchObject({ ok: false, detail: 'bot identity unknown: code 10003' })
  })
})

describe('listening and receiving', () => {
  const intake = { lastEventAt: 5_000, events: 40, messages: 19, missed: 0, missedAway: 0 }
  const presence = { firstAt: 0, aliveAt: 9_000, openedAt: 1_000, askedAt: null, filledAt: null, missedAt: null }
  const heard = (more: Partial<Listening['intake']> = {}, missedAt: number | null = null): Listening => ({
    intake: { ...intake, ...more },
    presence: { ...presence, missedAt },
  })
  const since = (ms: number) => known({ since: ms as Instant })

  test('an open line whose messages came by no event is degraded, until it is opened anew or an event comes', () => {
    expect(larkLine(since(1_000), 'all', heard({}, 6_000))).toMatchObject({
      ok: false,
      detail: expect.stringContaining('degraded'),
    })
    expect(larkLine(since(7_000), 'all', heard({}, 6_000)).ok).toBe(true)
    expect(larkLine(since(1_000), 'all', heard({ lastEventAt: 6_500 }, 6_000)).ok).toBe(true)
    expect(larkLine(since(1_000), 'all', heard({ lastEventAt: null }, 6_000)).ok).toBe(false)
  })

  test('more than one message in twenty that came by no event: somebody else seems to use the app id', () => {
    const says = (missed: number, messages: number) => larkLine(known({}), 'all', heard({ missed, messages })).detail
    expect(says(1, 19)).not.toContain('another process')
    expect(says(1, 18)).toContain('another process seems to use this app id: 1 of 19 messages')
    expect(says(0, 0)).not.toContain('another process')
    expect(sharedCheck({ ...intake, missed: 2 })).toMatchObject({ state: 'warning' })
    expect(sharedCheck({ ...intake, missed: 1, missedAway: 3 })).toMatchObject({
      state: 'ok',
      detail: '1 of 20 messages of the last day came by no event; 3 more while this gateway was away',
      mend: null,
    })
  })

  test('a webhook says when the last event came, too', () => {
    expect(larkLine(known(null), 'all', heard()).detail).toBe(
      'webhook, as Manager; last event 1970-01-01T00:00:05.000Z',
    )
    expect(larkLine(known(null), 'all', heard({ lastEventAt: null })).detail).toContain('no event yet')
  })

  test('an app id of another form is said before whatever the platform answers to it', () => {
    const wrong = { ...unknown, settingsError: 'LARK_APP_ID is not of the form cli_ and 16 hex digits' }
    expect(larkLine(wrong, 'all')).toMatchObject({ ok: false, detail: wrong.settingsError })
    expect(larkLine({ ...known({ connected: false }), settingsError: 'x' }, 'all').detail).toBe('x')
  })

  test('doctor tells what came, and whether the histories can be read', () => {
    expect(eventsCheck(intake).detail).toBe('last 1970-01-01T00:00:05.000Z; 40 in a day, 19 of them messages')
    expect(eventsCheck({ ...intake, lastEventAt: null }).mend).toContain('event subscription')
    expect(historyCheck({ ...presence, filledAt: 1_000 }, 0, 2_000)).toMatchObject({ state: 'ok', mend: null })
    expect(historyCheck({ ...presence, filledAt: 1_000 }, 2, 2_000)).toMatchObject({
      state: 'warning',
      mend: expect.stringContaining('im:message.group_msg'),
    })
    expect(historyCheck(null, 0, 2_000)).toMatchObject({ state: 'ok', detail: 'not read yet' })
  })
})

describe('waiting until messages can come in', () => {
  const never = new AbortController().signal
  /** Gives these states one after the other, then the last one for ever. */
  const bot = (...states: [BotState, ...BotState[]]) => {
    let looks = 0
    return { looks: () => looks, state: () => states[Math.min(looks++, states.length - 1)] ?? states[0] }
  }

  test('it ends when the bot is known and the connection open', async () => {
    const becoming = bot(
      unknown,
      known({ connected: false, lease: 'starting' }),
      known({ connected: false }),
      known({}),
    )
    expect(await receiving(becoming, 'all', 10_000, never)).toBeNull()
    expect(becoming.looks()).toBe(4)
  })

  test('at its limit it says what is missing', async () => {
    expect(await receiving(bot(unknown), 'all', 30, never)).toBe('bot identity unknown: code 10003')
  })

  test('it does not wait for a connection that another process holds', async () => {
    const standby = bot(known({ connected: false, lease: 'waiting' }))
    expect(await receiving(standby, 'gateway', 60_000, never)).toContain('another process holds')
    expect(standby.looks()).toBe(1)
  })

  test('it ends when the start is told to stop', async () => {
    expect(await receiving(bot(unknown), 'all', 60_000, AbortSignal.abort())).toBeNull()
  })
})

describe('owners', () => {
  test('who is bound and no longer listed is named', () => {
    const check = ownersCheck(['ou_a', 'ou_b'], new Set(['ou_b', 'ou_c']))
    expect(check).toMatchObject({ name: 'owners', state: 'warning' })
    expect(check.detail).toContain('ou_a')
    expect(check.detail).not.toMatch(/ou_b|ou_c/)
    expect(check.mend).toContain('LARK_OWNER_OPEN_IDS')
  })

  test('who is both is well', () => {
    const check = ownersCheck(['ou_a'], new Set(['ou_a', 'ou_c']))
    expect(check).toEqual({ name: 'owners', state: 'ok', detail: '1 bound', mend: null })
  })
})
