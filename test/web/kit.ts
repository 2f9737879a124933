import { createHash } from 'node:crypto'
import type { Exchange, ExchangeSettings } from '../../src/exchange/deps.js'
import { silentLogger } from '../../src/lib/log.js'
import type { Db } from '../../src/stores/db.js'
import {
  createSignInCode,
  csrfOf,
  endSession,
  findSession,
  openSession,
  redeemSignInCode,
} from '../../src/stores/sessions/sessions.js'
import type { AuditLine, WebDeps } from '../../src/web/deps.js'
import { createWeb, type Web } from '../../src/web/server.js'
import { createWork } from '../../src/app/work.js'
import { noModel } from '../kit/manager-binding.js'

export const publicUrl = 'http://127.0.0.1:3000'
export const adminToken = 'test-admin-token-0123456789'
export const bearer = { authorization: `Bearer ${adminToken}` }

export interface WebUnderTest {
  readonly web: Web
  readonly deps: WebDeps
  readonly audited: AuditLine[]
  /** Milliseconds; moves only when a test says so. */
  now: number
  get(path: string, headers?: Record<string, string>): Promise<Response>
  post(path: string, options?: { headers?: Record<string, string>; body?: string }): Promise<Response>
  newCode(): Promise<string>
  /** Signs in; the headers of that browser, with and without what writes need. */
  browser(): Promise<{ readonly cookie: string; readonly csrf: string }>
}

/** The web door over a real database; what belongs to other rooms is stood in for unless given. */
export function webUnderTest(db: Db, over: Partial<WebDeps> = {}): WebUnderTest {
  let counter = 0
  const audited: AuditLine[] = []
  const clock = { now: () => self.now }
  const partial: Partial<Exchange> = {
    db,
    clock,
    newId: () => `id-${++counter}`,
    log: silentLogger,
    wake: { kick: () => {} },
    channelOf: () => null,
    settings: {
      reactions: { received: 'Get', done: '', failed: 'CrossMark' },
      receiptPolicy: 'clear',
      ownerOpenIds: new Set(['ou_1']) as ReadonlySet<string>,
    } as ExchangeSettings,
  }
  const deps: WebDeps = {
    exchange: partial as Exchange,
    adminToken,
    publicUrl,
    secureCookies: false,
    newSecret: () => createHash('sha256').update(`secret ${++counter} ${Math.random()}`).digest('base64url'),
    sessions: {
      offer: (code) => createSignInCode(db.sql, code, self.now),
      redeem: (code, secret) => redeemSignInCode(db.sql, code, secret, self.now),
      open: (secret) => openSession(db.sql, secret, self.now),
      find: (secret) => findSession(db.sql, secret, self.now),
      end: (digest) => endSession(db.sql, digest, self.now),
      csrfOf,
    },
    work: createWork(db, clock, silentLogger).door,
    audit: async (line) => void audited.push(line),
    larkEvents: null,
    sandbox: null,
    mcp: null,
    boardAdapters: [],
    readiness: async () => [{ name: 'database', ok: true, needed: true, detail: '' }],
    prometheus: async () => 'queue_jobs 0\n',
    doctor: async () => ({ version: '0.0.0', settings: [], checks: [], manager: noModel }),
    manager: async () => noModel,
    ...over,
  }
  const web = createWeb(deps)
  const call = (path: string, init: RequestInit) => web.fetch(new Request(publicUrl + path, init))
  const newCode = async (): Promise<string> => {
    const code = `code-${++counter}-${Math.random()}`
    await createSignInCode(db.sql, code, self.now)
    return code
  }
  const self: WebUnderTest = {
    web,
    deps,
    audited,
    now: 1_764_500_000_000,
    get: (path, headers = {}) => call(path, { headers }),
    post: (path, { headers = {}, body = '' } = {}) => call(path, { method: 'POST', headers, body }),
    newCode,
    async browser() {
      const response = await self.get(`/sign-in?code=${await newCode()}`)
      const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
      const page = await (await self.get('/', { cookie })).text()
      return { cookie, csrf: /<meta name="csrf" content="([^"]+)"/.exec(page)?.[1] ?? '' }
    },
  }
  return self
}
