import type { OpenAPIHono } from '@hono/zod-openapi'
import type { AgentId } from '../../collab/refs.js'
import { standingToken } from '../../exchange/tokens.js'
import type { WebDeps } from '../deps.js'
import { problem } from '../problem.js'
import { nameOf, type WebEnv } from '../session.js'
import { describe } from './describe.js'
import { bodyOf } from './read.js'
import { IssuedToken, IssueToken } from './token-schemas.js'

/** Tokens of agents that run by themselves; a managed agent is given a new one with each process. */
export function tokenRoutes(app: OpenAPIHono<WebEnv>, deps: WebDeps): void {
  describe(app, {
    method: 'post',
    path: '/api/v1/agents/{id}/tokens',
    summary: 'Issue a token to an attached agent; the one before of the same session stops working at once',
    body: IssueToken,
    answers: { 201: { description: 'The token; it is shown this once', schema: IssuedToken } },
    problems: [400, 403, 404, 503],
  })
  app.post('/api/v1/agents/:id/tokens', async (c) => {
    const body = await bodyOf(c, IssueToken)
    if (body instanceof Response) return body
    const agent = c.req.param('id') as AgentId
    const registered = isId(agent) ? await deps.exchange.directory.find(agent) : null
    if (registered === null) return problem(c, 'agent-unknown')
    if (registered.endpoint.kind === 'managed') return problem(c, 'not-admitted', { because: 'managed' })
    const { token, epoch } = await standingToken(deps.exchange, { agent, session: body.session })
    await deps.audit({ who: nameOf(c.get('caller')), act: 'agent token', subject: `${agent} ${body.session} ${epoch}` })
    return c.json({ agent, session: body.session, epoch, token, url: `${deps.publicUrl}/mcp` }, 201)
  })
}

/** Nothing else is ever registered, and the database would not take all of it. */
const isId = (text: string): boolean => /^[\x21-\x7e]{1,200}$/.test(text)
