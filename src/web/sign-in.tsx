import { Hono, type Context } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { deleteCookie } from 'hono/cookie'
import { csrf } from 'hono/csrf'
import { SignInPage } from '../render/html/sign-in.js'
import type { WebDeps } from './deps.js'
import { languageOf } from './language.js'
import { problem } from './problem.js'
import { callerOf, cookieName, formIsOurs, giveCookie, nameOf, safeNext, sameSecret } from './session.js'

/** Codes and the admin token in, a cookie out. */
export function signInRoutes(deps: WebDeps): Hono {
  const app = new Hono()
  const page = (c: Context, trouble: Trouble, next: string) =>
    signInPage(deps, c, trouble, next, trouble === null ? 200 : 401)

  app.use('/sign-in', formLimit)
  app.use('/sign-out', formLimit)

  app.get('/sign-in', async (c) => {
    const next = safeNext(c.req.query('next'))
    const code = c.req.query('code')
    if (code === undefined) return page(c, null, next)
    // A look ahead (link preview, prefetch) must not use the code up.
    if (c.req.method === 'HEAD' || c.req.header('sec-purpose')?.includes('prefetch') === true)
      return page(c, null, next)
    const secret = deps.newSecret()
    const session = await deps.sessions.redeem(code, secret)
    if (session === null) {
      // The same link opened twice in the browser that it signed in.
      if ((await callerOf(deps, c)) !== null) return c.redirect(next, 303)
      return page(c, 'code-spent', next)
    }
    giveCookie(deps, c, secret, session.expiresAt)
    await deps.audit({ who: `session ${session.digest.slice(0, 12)}`, act: 'sign-in', subject: 'code' })
    return c.redirect(next, 303)
  })

  app.post('/sign-in', csrf({ origin: (origin, c) => isOurOrigin(deps, origin, c) }), async (c) => {
    const form = await c.req.parseBody()
    const next = safeNext(typeof form['next'] === 'string' ? form['next'] : undefined)
    if (typeof form['token'] !== 'string' || !sameSecret(form['token'].trim(), deps.adminToken)) {
      return page(c, 'token-wrong', next)
    }
    const secret = deps.newSecret()
    const session = await deps.sessions.open(secret)
    giveCookie(deps, c, secret, session.expiresAt)
    await deps.audit({ who: `session ${session.digest.slice(0, 12)}`, act: 'sign-in', subject: 'admin token' })
    return c.redirect(next, 303)
  })

  app.post('/sign-out', async (c) => {
    const caller = await callerOf(deps, c)
    if (caller?.kind !== 'session') return c.redirect('/sign-in', 303)
    const form = await c.req.parseBody()
    if (!formIsOurs(caller, form['csrf'] ?? c.req.header('x-csrf-token'))) return problem(c, 'csrf-missing')
    await deps.sessions.end(caller.digest)
    await deps.audit({ who: nameOf(caller), act: 'sign-out', subject: 'session' })
    deleteCookie(c, cookieName(deps.publicUrl), { path: '/', secure: deps.secureCookies })
    return c.redirect('/sign-in', 303)
  })
  return app
}

/** Anyone may post here. */
const formLimit = bodyLimit({ maxSize: 16 * 1024, onError: (c) => problem(c, 'too-large') })

type Trouble = 'code-spent' | 'token-wrong' | null

export function signInPage(
  deps: WebDeps,
  c: Context,
  trouble: Trouble,
  next: string,
  status: 200 | 401,
): Response | Promise<Response> {
  const shell = { language: languageOf(c.req.header('accept-language')), csrf: null, sandbox: deps.sandbox !== null }
  c.header('cache-control', 'no-store')
  return c.html(<SignInPage shell={shell} next={next} trouble={trouble} />, status)
}

/** The public address, or the one that this very request was made to. */
export function isOurOrigin(deps: WebDeps, origin: string, c: Context): boolean {
  return origin === new URL(deps.publicUrl).origin || origin === new URL(c.req.url).origin
}
