import { Hono, type Context } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { DeliveryId, RequestId, Revision } from '../collab/refs.js'
import { reviseRequest } from '../exchange/revise.js'
import type { Shell } from '../render/html/layout.js'
import { RequestListPage } from '../render/html/request-list.js'
import { RequestPage } from '../render/html/request-page.js'
import { requestWords } from '../render/html/request-words.js'
import { NotFoundPage } from '../render/html/sign-in.js'
import { doingNow } from '../stores/views/changes.js'
import { placesOf } from '../stores/views/conversations.js'
import { placeOf as placeInList } from '../stores/views/cursor.js'
import { findRequest, listRequests, requestStates } from '../stores/views/requests.js'
import { eventIdFrom } from './api/headers.js'
import { Retry, Revise } from './api/schemas.js'
import type { WebDeps } from './deps.js'
import { attachment } from './download.js'
import { languageOf } from './language.js'
import { problem, titleOf, type ProblemCode } from './problem.js'
import { retry } from './retry.js'
import { actorOf, callerOf, formIsOurs, nameOf, requireBrowser, type Caller, type WebEnv } from './session.js'
import { isStorable } from './storable.js'

const pageSize = 30

/** The operator's pages. Every act is a plain form and works without a script. */
export function pageRoutes(deps: WebDeps): Hono<WebEnv> {
  const app = new Hono<WebEnv>()
  const { sql } = deps.exchange.db
  const signedIn = requireBrowser(deps)
  const shownRequest = async (id: string) => (isStorable(id) ? await findRequest(sql, id) : null)
  const formLimit = bodyLimit({ maxSize: 1024 * 1024, onError: (c) => problem(c, 'too-large') })

  app.get('/', signedIn, async (c) => {
    const state = requestStates.find((name) => name === c.req.query('state')) ?? null
    const conversation = c.req.query('conversation') ?? null
    if (conversation !== null && !isStorable(conversation)) return notFoundPage(deps, c)
    const cursor = c.req.query('cursor')
    const after = cursor === undefined ? null : placeInList(cursor)
    const page = await listRequests(sql, { state, conversation, agent: null, after, limit: pageSize, bodies: 'asks' })
    const places = await placesOf(
      sql,
      page.items.map((item) => item.conversation),
    )
    return c.html(
      <RequestListPage
        shell={shellOf(deps, c, c.get('caller'))}
        items={page.items}
        placeOf={(id) => places.get(id) ?? 'unknown'}
        state={state}
        conversation={conversation}
        first={after === null}
        nextCursor={page.nextCursor}
        now={deps.exchange.clock.now()}
        manager={await deps.manager()}
      />,
    )
  })

  app.get('/requests/:id', signedIn, async (c) => {
    const view = await shownRequest(c.req.param('id'))
    if (view === null) return notFoundPage(deps, c)
    const places = await placesOf(sql, [view.conversation])
    return c.html(
      <RequestPage
        shell={shellOf(deps, c, c.get('caller'))}
        view={view}
        place={places.get(view.conversation) ?? 'unknown'}
        now={deps.exchange.clock.now()}
        doing={await doingNow(sql, view.id)}
        said={saidOf(c)}
        formKey={deps.exchange.newId()}
      />,
    )
  })

  app.get('/requests/:id/files/:digest', signedIn, async (c) => {
    const view = await shownRequest(c.req.param('id'))
    const file = view?.results.flatMap((result) => result.files).find((one) => one.digest === c.req.param('digest'))
    if (file === undefined) return notFoundPage(deps, c)
    return attachment(deps.exchange.artifacts.read(file.digest), file)
  })

  app.post('/requests/:id/revisions', signedIn, formLimit, async (c) => {
    const id = c.req.param('id')
    if (!isStorable(id)) return notFoundPage(deps, c)
    const form = await c.req.parseBody()
    if (!formIsOurs(c.get('caller'), form['csrf'])) return problem(c, 'csrf-missing')
    const { kind, text, key, revision } = form
    const read = Revise.safeParse(kind === 'cancellation' ? { kind } : { kind, text })
    if (!read.success || typeof key !== 'string' || !Number.isInteger(Number(revision)))
      return problem(c, 'bad-request')
    const receipt = await reviseRequest(deps.exchange, {
      requestId: id as RequestId,
      kind: read.data.kind,
      text: read.data.text,
      onRevision: Number(revision) as Revision,
      eventId: eventIdFrom(key, `revise ${id}`),
      actor: actorOf(c.get('caller')),
    })
    const tooLate = receipt.outcome === 'rejected' && receipt.refusal.reason === 'request-closed'
    if (tooLate && kind === 'cancellation') return back(c, id, TOO_LATE)
    if (receipt.outcome === 'rejected') return back(c, id, receipt.refusal.reason)
    return back(c, id, receipt.outcome === 'conflict' ? 'conflict' : 'done')
  })

  app.post('/deliveries/:id/retry', signedIn, formLimit, async (c) => {
    const id = c.req.param('id')
    const form = await c.req.parseBody()
    if (!formIsOurs(c.get('caller'), form['csrf'])) return problem(c, 'csrf-missing')
    const { part, decision, message, key, request } = form
    const read = Retry.safeParse({
      ...(part === undefined ? {} : { part: Number(part) }),
      ...(decision === undefined ? {} : { decision }),
      ...(message === undefined || message === '' ? {} : { messageId: message }),
    })
    if (!read.success || typeof key !== 'string' || typeof request !== 'string') return problem(c, 'bad-request')
    const done = await retry(deps, {
      delivery: id as DeliveryId,
      ...read.data,
      who: nameOf(c.get('caller')),
      eventId: eventIdFrom(`${key} ${read.data.part ?? ''} ${read.data.decision ?? ''}`, `retry ${id}`),
    })
    return back(c, request, done.outcome === 'refused' ? done.reason : 'done')
  })
  return app
}

/** What the frame of a page needs. */
export function shellOf(deps: WebDeps, c: Context, caller: Caller | null): Shell {
  return {
    language: languageOf(c.req.header('accept-language')),
    csrf: caller === null ? null : caller.kind === 'session' ? caller.csrf : '',
    sandbox: deps.sandbox !== null,
  }
}

/** The same for an address of nobody and for one that is not yours; without a session it leads to the sign-in. */
export async function notFoundPage(deps: WebDeps, c: Context): Promise<Response> {
  const caller = await callerOf(deps, c)
  if (caller === null) return c.req.method === 'GET' ? c.redirect('/sign-in', 302) : problem(c, 'not-signed-in')
  return c.html(<NotFoundPage shell={shellOf(deps, c, caller)} />, 404)
}

/** A cancellation of what is over. */
const TOO_LATE = 'cancel-too-late'

function back(c: Context, request: string, said: ProblemCode | 'done' | typeof TOO_LATE): Response {
  return c.redirect(`/requests/${encodeURIComponent(request)}?said=${said}`, 303)
}

function saidOf(c: Context): { readonly good: boolean; readonly text: string } | null {
  const said = c.req.query('said')
  if (said === undefined) return null
  const language = languageOf(c.req.header('accept-language'))
  if (said === 'done') return { good: true, text: requestWords[language].done }
  if (said === TOO_LATE) return { good: false, text: requestWords[language].tooLateAnswered }
  const text = titleOf(said, language)
  return text === null ? null : { good: false, text }
}
