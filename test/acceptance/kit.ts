import type { RequestView } from '../../src/collab/project/request-view.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { until, type Platform } from '../kit/platform.js'

/** Where a gateway answers; a restarted one answers elsewhere. */
export interface Door extends Pick<Platform, 'served' | 'ids' | 'token' | 'answers' | 'db'> {
  readonly url: string
}

export interface Office {
  get(path: string): Promise<unknown>
  post(path: string, body: object): Promise<Readonly<Record<string, unknown>>>
  /** One goal with one managed agent on a process of its own. */
  hire(agent: string, responsibility: string, command: string, more?: Hired): Promise<void>
  say(text: string, chatId?: string): WorldMessage
  /** What the bot answered to one message, oldest first. */
  answers(to: WorldMessage): readonly string[]
  /** The request that a message opened. */
  opened(by: WorldMessage): Promise<RequestView>
  show(id: string): Promise<RequestView>
  /** What was opened for a request, oldest first. */
  children(of: string): Promise<readonly RequestView[]>
  /** Waits until a request satisfies something. */
  when(id: string, holds: (view: RequestView) => boolean, what: string, ms?: number): Promise<RequestView>
}

export interface Hired {
  readonly goal?: string
  readonly role?: string
  readonly abilities?: readonly string[]
}

/** The operator's and the owner's side of one gateway: what a person can do and read, over HTTP and in the chat. */
export function office(door: () => Door): Office {
  let keys = 0
  const call = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const { url, token } = door()
    const headers = { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) }
    const response = await fetch(`${url}${path}`, { ...init, headers })
    const answer: unknown = await response.json()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer
  }
  const get = (path: string) => call(path)
  const post = async (path: string, body: object) =>
    (await call(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': `k${++keys}` },
      body: JSON.stringify(body),
    })) as Readonly<Record<string, unknown>>
  const show = async (id: string) => (await get(`/api/v1/requests/${id}`)) as RequestView
  const all = async () => ((await get('/api/v1/requests?limit=100')) as { items: readonly RequestView[] }).items
  const when = (id: string, holds: (view: RequestView) => boolean, what: string, ms = 40_000) =>
    until(
      async () => {
        const view = await show(id)
        return holds(view) ? view : null
      },
      what,
      ms,
    ).catch(async (error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(briefOf(await show(id)))}`)
    })
  return {
    get,
    post,
    show,
    when,
    async hire(agent, responsibility, command, more = {}) {
      const goal = more.goal ?? `goal-of-${agent}`
      const goals = (await get('/api/v1/goals')) as { items: readonly { id: string }[] }
      if (!goals.items.some(({ id }) => id === goal)) {
        await post('/api/v1/goals', { id: goal, title: goal, direction: 'north', acceptance: 'it is there' })
      }
      await post('/api/v1/agents', {
        agent,
        goal,
        role: more.role ?? 'worker',
        responsibility,
        host: 'here',
        abilities: more.abilities ?? [],
        endpoint: { kind: 'managed', runtime: 'acp', command },
      })
    },
    say: (text, chatId = door().ids.dm) =>
      door().served.sandbox.world.say({ chatId, from: door().ids.alice, text, mentionBot: chatId !== door().ids.dm }),
    answers: (to) =>
      door()
        .answers(to.chatId)
        .filter((one) => one.parentId === to.id)
        .map((one) => one.content),
    opened: (by) =>
      until(
        async () => {
          const found = (await all()).find(({ origin }) => origin.messageId === by.id)
          return found === undefined ? null : await show(found.id)
        },
        'the request of a message',
        20_000,
      ),
    async children(of) {
      const found = (await all()).filter(({ parent }) => parent === of).toReversed()
      return await Promise.all(found.map(({ id }) => show(id)))
    },
  }
}

/** What a failed wait shows of a request. */
export const briefOf = (view: RequestView) => ({
  revision: view.revision,
  axes: view.axes,
  asks: view.asks.map(({ state }) => state),
  facts: view.observations.map(({ kind, detail }) => (detail === null ? kind : `${kind} (${detail})`)),
})

export const countOf = (view: RequestView, kind: string): number =>
  view.observations.filter((one) => one.kind === kind).length

export interface HandOn {
  readonly to: string
  readonly question: string
  readonly intent?: 'consultation' | 'delegation'
  readonly key?: string
  readonly asks?: '$asks' | readonly ['$ask']
  readonly brief?: string
  readonly reason?: string
  readonly refs?: readonly string[]
}

/** The call by which an agent hands its asks on. */
export function asking({ to, question, key, ...more }: HandOn): string {
  const { intent = 'delegation', asks = '$asks', brief: words = 'See the origin messages.', refs = [] } = more
  const reason = more.reason ?? 'it is registered for that'
  const said = { request: '$request', receiver: to, intent, asks, question, brief: words, reason, refs }
  return `tool ask_agent ${JSON.stringify(key === undefined ? said : { ...said, key })}`
}

/** Hands on once, and gives back what came back. */
export const handingOn = (to: HandOn): string =>
  [`!unless returned ${asking(to)}`, '!if returned assess accepted it came back', '!if returned report $returned'].join(
    '\n',
  )

/** The words of each committed result that covers something. */
export const resultsOf = (view: RequestView): readonly (string | null)[] =>
  view.results.filter(({ kind }) => kind === 'result').map(({ text }) => text)
