import { z, type OpenAPIHono } from '@hono/zod-openapi'
import type { WebEnv } from '../session.js'
import { Problem } from './schemas.js'

type RouteConfig = Parameters<OpenAPIHono['openAPIRegistry']['registerPath']>[0]

export interface Description {
  readonly method: 'get' | 'post' | 'put'
  /** As OpenAPI writes it: `/api/v1/requests/{id}`. */
  readonly path: string
  readonly summary: string
  readonly query?: z.ZodObject
  readonly headers?: z.ZodObject
  readonly body?: z.ZodType
  /** `as` is the media type; absent: JSON. */
  readonly answers: Readonly<
    Record<number, { readonly description: string; readonly schema: z.ZodType; readonly as?: string }>
  >
  readonly problems: readonly number[]
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Malformed, or a missing Idempotency-Key',
  401: 'Not signed in',
  403: 'A cookie was sent without its CSRF token',
  404: 'Not here, or not yours',
  409: 'Refused: conflict or closed',
  412: 'If-Match names an older revision',
  413: 'Too large',
  422: 'Well formed, and not possible; or an Idempotency-Key with other content',
  423: 'Another attempt may still be acting',
  428: 'If-Match is missing',
  503: 'Not now',
}

/** Writes one route into the OpenAPI document. */
export function describe(app: OpenAPIHono<WebEnv>, route: Description): void {
  const params = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name ?? '', z.string()] as const)
  const problem = { 'application/problem+json': { schema: Problem } }
  const config: RouteConfig = {
    method: route.method,
    path: route.path,
    summary: route.summary,
    security: [{ bearer: [] }, { session: [] }],
    request: {
      ...(params.length === 0 ? {} : { params: z.object(Object.fromEntries(params)) }),
      ...(route.query === undefined ? {} : { query: route.query }),
      ...(route.headers === undefined ? {} : { headers: route.headers }),
      ...(route.body === undefined
        ? {}
        : { body: { required: true, content: { 'application/json': { schema: route.body } } } }),
    },
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, { description, schema, as = 'application/json' }]) => [
          status,
          { description, content: { [as]: { schema } } },
        ]),
      ),
      ...Object.fromEntries(
        [401, ...route.problems].map((status) => [
          status,
          { description: reasons[status] ?? 'Refused', content: problem },
        ]),
      ),
    },
  }
  app.openAPIRegistry.registerPath(config)
}
