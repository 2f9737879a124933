import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { AgentId } from '../../collab/refs.js'
import { unreachable } from '../../lib/assert.js'
import type { WebDeps } from '../deps.js'
import type { GoalAnswer } from '../goal-door.js'
import { problem } from '../problem.js'
import { nameOf, type WebEnv } from '../session.js'
import { isStorable } from '../storable.js'
import { describe } from './describe.js'
import { eventIdOf } from './headers.js'
import { bodyOf, queryOf } from './read.js'
import {
  AgentList,
  CreateGoal,
  GoalList,
  IdempotencyKey,
  RegisterAgent,
  StoppedQuery,
  TodoList,
  WorkReceipt,
} from './work-schemas.js'

const receipts = {
  201: { description: 'Done now', schema: WorkReceipt },
  200: { description: 'Done before under this Idempotency-Key', schema: WorkReceipt },
}

/** Goals, agents and todos. A goal's todos are changed by its agents; the operator creates, stops and registers. */
export function workRoutes(app: OpenAPIHono<WebEnv>, deps: WebDeps): void {
  const { work } = deps

  describe(app, {
    method: 'get',
    path: '/api/v1/goals',
    summary: 'Goals, newest first; stopped ones when asked for',
    query: StoppedQuery,
    answers: { 200: { description: 'All of them', schema: GoalList } },
    problems: [400],
  })
  app.get('/api/v1/goals', async (c) => {
    const query = queryOf(c, StoppedQuery)
    if (query instanceof Response) return query
    return c.json({ items: await work.goals({ includeStopped: query.stopped === 'true' }), nextCursor: null })
  })

  describe(app, {
    method: 'post',
    path: '/api/v1/goals',
    summary: 'Create a goal',
    headers: IdempotencyKey,
    body: CreateGoal,
    answers: receipts,
    problems: [400, 403, 409, 422, 503],
  })
  app.post('/api/v1/goals', async (c) => {
    const operation = eventIdOf(c, 'create goal')
    if (operation instanceof Response) return operation
    const body = await bodyOf(c, CreateGoal)
    if (body instanceof Response) return body
    const { id, ...rest } = body
    return answered(c, deps, 'goal create', await work.createGoal({ operation, goal: id ?? null, ...rest }))
  })

  for (const act of ['stop', 'resume'] as const) {
    describe(app, {
      method: 'post',
      path: `/api/v1/goals/{id}/${act}`,
      summary: act === 'stop' ? 'Stop a goal: nothing of it changes until it is resumed' : 'Resume a stopped goal',
      headers: IdempotencyKey,
      answers: receipts,
      problems: [400, 403, 404, 409, 422, 503],
    })
    app.post(`/api/v1/goals/:id/${act}`, async (c) => {
      const goal = c.req.param('id')
      if (!isStorable(goal)) return problem(c, 'goal-unknown')
      const operation = eventIdOf(c, `${act} ${goal}`)
      if (operation instanceof Response) return operation
      const command = { operation, goal }
      const answer = act === 'stop' ? await work.stopGoal(command) : await work.resumeGoal(command)
      return answered(c, deps, `goal ${act}`, answer)
    })
  }

  describe(app, {
    method: 'get',
    path: '/api/v1/goals/{id}/todos',
    summary: 'The todos of a goal, oldest first, with the claims that stand',
    answers: { 200: { description: 'All of them', schema: TodoList } },
    problems: [404, 503],
  })
  app.get('/api/v1/goals/:id/todos', async (c) => {
    const goal = c.req.param('id')
    const items = isStorable(goal) ? await work.todos(goal) : null
    if (items === null) return problem(c, 'goal-unknown')
    return items === 'unavailable' ? problem(c, 'unavailable') : c.json({ items, nextCursor: null })
  })

  describe(app, {
    method: 'get',
    path: '/api/v1/agents',
    summary: 'Registered agents; those of stopped goals when asked for',
    query: StoppedQuery,
    answers: { 200: { description: 'All of them', schema: AgentList } },
    problems: [400],
  })
  app.get('/api/v1/agents', async (c) => {
    const query = queryOf(c, StoppedQuery)
    if (query instanceof Response) return query
    return c.json({ items: await work.agents({ includeStopped: query.stopped === 'true' }), nextCursor: null })
  })

  describe(app, {
    method: 'post',
    path: '/api/v1/agents',
    summary: 'Register an agent at a goal, or say anew what it does and where it is',
    headers: IdempotencyKey,
    body: RegisterAgent,
    answers: receipts,
    problems: [400, 403, 404, 409, 422, 503],
  })
  app.post('/api/v1/agents', async (c) => {
    const operation = eventIdOf(c, 'register agent')
    if (operation instanceof Response) return operation
    const body = await bodyOf(c, RegisterAgent)
    if (body instanceof Response) return body
    const command = { ...body, operation, agent: body.agent as AgentId }
    return answered(c, deps, 'agent register', await work.registerAgent(command))
  })
}

/** A registration lets a command run on this host, and a stop holds agents off: each leaves an audit line. */
async function answered(c: Context<WebEnv>, deps: WebDeps, act: string, answer: GoalAnswer): Promise<Response> {
  switch (answer.outcome) {
    case 'committed':
      await deps.audit({ who: nameOf(c.get('caller')), act, subject: answer.receipt.refs[0]?.ref ?? '' })
      return c.json(answer, 201)
    case 'already':
      return c.json(answer, 200)
    case 'conflict':
      return problem(c, answer.because === 'operation-reused' ? 'idempotency-key-reused' : answer.because)
    case 'unavailable':
    case 'ambiguous':
      return problem(c, 'unavailable')
    default:
      return unreachable(answer)
  }
}
