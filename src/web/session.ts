import { createHash, timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { ActorRef } from '../collab/refs.js'
import { SECOND } from '../lib/time.js'
import type { WebDeps } from './deps.js'
import { problem } from './problem.js'

/** Who asks. Both kinds are the operator. */
export type Caller =
  { readonly kind: 'bearer' } | { readonly kind: 'session'; readonly digest: string; readonly csrf: string }

export type WebEnv = { Variables: { caller: Caller } }

/** Browsers do not tell ports apart: two gateways on one host must not sign each other out. */
export function cookieName(publicUrl: string): string {
  const url = new URL(publicUrl)
  return `lark_manager_${url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port}`
}

/** In constant time, whatever the lengths. */
export function sameSecret(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return wanted !== '' && timingSafeEqual(digest(given), digest(wanted))
}

/** The operator behind a request, or null. A bearer that is wrong is never rescued by a cookie. */
export async function callerOf(deps: WebDeps, c: Context): Promise<Caller | null> {
  const authorization = c.req.header('authorization')
  if (authorization !== undefined) {
    const token = /^bearer +(\S+)\s*$/i.exec(authorization)?.[1]
    return token !== undefined && sameSecret(token, deps.adminToken) ? { kind: 'bearer' } : null
  }
  const secret = getCookie(c, cookieName(deps.publicUrl))
  if (secret === undefined || secret === '' || secret.length > 200) return null
  const session = await deps.sessions.find(secret)
  return session === null ? null : { kind: 'session', digest: session.digest, csrf: deps.sessions.csrfOf(secret) }
}

export function actorOf(caller: Caller): ActorRef {
  return { kind: 'operator', session: nameOf(caller) }
}

/** Names the caller in audit lines; opens nothing. */
export function nameOf(caller: Caller): string {
  return caller.kind === 'bearer' ? 'admin-token' : `session ${caller.digest.slice(0, 12)}`
}

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD'

/** For the API: 401 without the operator, 403 for a cookie's write without its CSRF header. */
export function requireOperator(deps: WebDeps): MiddlewareHandler<WebEnv> {
  return async (c, next) => {
    const caller = await callerOf(deps, c)
    if (caller === null) return problem(c, 'not-signed-in')
    if (caller.kind === 'session' && !isRead(c.req.method)) {
      if (!sameSecret(c.req.header('x-csrf-token') ?? '', caller.csrf)) return problem(c, 'csrf-missing')
    }
    c.set('caller', caller)
    c.header('cache-control', 'no-store')
    await next()
  }
}

/** For pages: sends a browser to the sign-in page, and back afterwards. */
export function requireBrowser(deps: WebDeps): MiddlewareHandler<WebEnv> {
  return async (c, next) => {
    const caller = await callerOf(deps, c)
    if (caller === null) {
      if (!isRead(c.req.method)) return problem(c, 'not-signed-in')
      const { pathname, search } = new URL(c.req.url)
      const here = pathname + search
      return c.redirect(here === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(here)}`, 302)
    }
    c.set('caller', caller)
    c.header('cache-control', 'no-store')
    await next()
  }
}

/** Checks the hidden field of a form; a bearer needs none. */
export function formIsOurs(caller: Caller, csrf: unknown): boolean {
  return caller.kind === 'bearer' || (typeof csrf === 'string' && sameSecret(csrf, caller.csrf))
}

export function giveCookie(deps: WebDeps, c: Context, secret: string, expiresAt: number): void {
  setCookie(c, cookieName(deps.publicUrl), secret, {
    httpOnly: true,
    sameSite: 'Lax',
    secure: deps.secureCookies,
    path: '/',
    // A duration, not a date: the browser's clock may be another one.
    maxAge: Math.max(0, Math.floor((expiresAt - deps.exchange.clock.now()) / SECOND)),
  })
}

/** Only a path of ours: anything that a browser could read as another host leads to the start. */
export function safeNext(next: string | undefined): string {
  if (next === undefined || !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(next)) return '/'
  return next.startsWith('/sign-in') || next.startsWith('/sign-out') ? '/' : next
}
