import type { BaseAdapter } from '@bull-board/api/dist/queueAdapters/base.js'
import type { Exchange } from '../exchange/deps.js'
import type { DoctorReport, ManagerBinding } from './doctor.js'
import type { GoalDoor } from './goal-door.js'
import type { SandboxChat } from './sandbox/chat.js'

/** Signed-in browsers, as the door needs them; `app` binds them to `stores/sessions`. */
export interface SessionStore {
  redeem(code: string, secret: string): Promise<WebSession | null>
  /** Remembers a code that was just made: one use within 15 minutes. */
  offer(code: string): Promise<void>
  open(secret: string): Promise<WebSession>
  find(secret: string): Promise<WebSession | null>
  end(digest: string): Promise<void>
  /** What a page must repeat on writes; it follows from the cookie's secret. */
  csrfOf(secret: string): string
}

export interface WebSession {
  readonly digest: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

export interface Readiness {
  readonly name: 'database' | 'queue' | 'lark' | 'runtime'
  readonly ok: boolean
  /** False: the line is shown, and the service counts as ready without it. */
  readonly needed: boolean
  readonly detail: string
}

export interface AuditLine {
  readonly who: string
  readonly act: string
  readonly subject: string
}

/** A written rehearsal directive, shown beside the chat of the sandbox. */
export interface DirectiveHint {
  readonly syntax: string
  readonly en: string
  readonly zh: string
}

export interface WebDeps {
  readonly exchange: Exchange
  readonly adminToken: string
  /** Origin with scheme, without a trailing slash. */
  readonly publicUrl: string
  /** The cookie is sent over TLS only. */
  readonly secureCookies: boolean
  /** 32 random bytes, base64url: cookies and nothing else. */
  readonly newSecret: () => string
  readonly sessions: SessionStore
  readonly work: GoalDoor
  readonly audit: (line: AuditLine) => Promise<void>
  /** Null: events come over the long connection. */
  readonly larkEvents: ((request: Request) => Promise<Response>) | null
  readonly sandbox: {
    readonly handle: (request: Request) => Promise<Response>
    readonly chat: SandboxChat
    readonly directives: readonly DirectiveHint[]
  } | null
  /** The agents' door: `/mcp` and `/api/v1/agent/`, with tokens of their own. Null: no agent has tools here. */
  readonly mcp: ((request: Request) => Promise<Response>) | null
  readonly boardAdapters: readonly BaseAdapter[]
  readonly readiness: () => Promise<readonly Readiness[]>
  readonly prometheus: () => Promise<string>
  readonly doctor: () => Promise<DoctorReport>
  readonly manager: () => Promise<ManagerBinding>
}
