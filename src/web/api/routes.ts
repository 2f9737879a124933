import { OpenAPIHono } from '@hono/zod-openapi'
import { bodyLimit } from 'hono/body-limit'
import type { WebDeps } from '../deps.js'
import { problem } from '../problem.js'
import { nameOf, requireOperator, type WebEnv } from '../session.js'
import { chatRoutes } from './chats.js'
import { describe } from './describe.js'
import { deliveryRoutes } from './deliveries.js'
import { eventRoutes } from './events.js'
import { grantRoutes } from './grants.js'
import { requestRoutes } from './requests.js'
import { Doctor, SignInLink } from './schemas.js'
import { sessionRoutes } from './sessions.js'
import { tokenRoutes } from './tokens.js'
import { workRoutes } from './work.js'

const bodyLimitBytes = 1024 * 1024

/** `/api/v1/**`: for the operator only, described by the document that it serves. */
export function apiRoutes(deps: WebDeps): OpenAPIHono<WebEnv> {
  const app = new OpenAPIHono<WebEnv>()
  app.use('/api/*', requireOperator(deps))
  app.use('/api/*', bodyLimit({ maxSize: bodyLimitBytes, onError: (c) => problem(c, 'too-large') }))

  requestRoutes(app, deps)
  deliveryRoutes(app, deps)
  eventRoutes(app, deps)
  workRoutes(app, deps)
  grantRoutes(app, deps)
  chatRoutes(app, deps)
  sessionRoutes(app, deps)
  tokenRoutes(app, deps)

  describe(app, {
    method: 'get',
    path: '/api/v1/doctor',
    summary: 'Settings without secrets, and what stands still',
    answers: { 200: { description: 'What doctor prints', schema: Doctor } },
    problems: [],
  })
  app.get('/api/v1/doctor', async (c) => c.json(await deps.doctor()))

  describe(app, {
    method: 'post',
    path: '/api/v1/sign-in-links',
    summary: 'A new sign-in link: one use within 15 minutes',
    answers: { 200: { description: 'The link', schema: SignInLink } },
    problems: [],
  })
  app.post('/api/v1/sign-in-links', async (c) => {
    const code = deps.newSecret()
    await deps.sessions.offer(code)
    await deps.audit({ who: nameOf(c.get('caller')), act: 'sign-in-link', subject: 'code' })
    return c.json({ url: `${deps.publicUrl}/sign-in?code=${code}` })
  })

  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' })
  app.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: 'session',
    description: 'A signed-in browser; writes repeat its token in X-CSRF-Token',
  })
  app.get('/api/v1/openapi.json', (c) =>
    c.json(
      app.getOpenAPI31Document({
        openapi: '3.1.0',
        info: { title: 'lark-manager', version: '1', description: 'Requests, their deliveries, and what is owed.' },
        servers: [{ url: deps.publicUrl }],
      }),
    ),
  )
  return app
}
