import type { RequestView } from '../../collab/project/request-view.js'
import { Badge, firstLine, When } from './bits.js'
import { Layout, type Shell } from './layout.js'
import { listWords } from './list-words.js'
import { ManagerChip, type ManagerView } from './manager-chip.js'
import { nextShort, stateTerms } from './terms.js'

/** Where a conversation stands; the platform's names of chats are not kept. */
export type PlaceKind = 'p2p' | 'group' | 'topic' | 'unknown'

export interface ListPage {
  readonly shell: Shell
  readonly items: readonly RequestView[]
  readonly placeOf: (conversation: string) => PlaceKind
  readonly state: RequestView['state'] | null
  readonly conversation: string | null
  readonly first: boolean
  readonly nextCursor: string | null
  readonly now: number
  readonly manager: ManagerView
}

const filters = [null, 'open', 'closed', 'failed'] as const

/** All requests, newest first: state, what was asked, where, when, and what is owed next. */
export function RequestListPage(props: ListPage) {
  const { shell, items, conversation } = props
  const { language } = shell
  const words = listWords[language]
  return (
    <Layout shell={shell} title={words.title} place="requests" live scripts={['/assets/page.js']}>
      <h1>{words.title}</h1>
      <ManagerChip manager={props.manager} language={language} />
      <ul class="filters">
        {filters.map((state) => (
          <li>
            <a href={hrefOf({ state, conversation })} {...(props.state === state ? { 'aria-current': 'true' } : {})}>
              {state === null ? words.all : stateTerms[state][language]}
            </a>
          </li>
        ))}
        {conversation === null ? null : (
          <li>
            <a href={hrefOf({ state: props.state, conversation: null })} aria-current="true">
              {words.oneConversation} ✕
            </a>
          </li>
        )}
      </ul>
      {items.length === 0 ? <Empty {...props} /> : null}
      <ul class="list">
        {items.map((item) => (
          <Row item={item} page={props} />
        ))}
      </ul>
      {props.nextCursor === null ? null : (
        <p class="pager">
          <a class="button" href={hrefOf({ state: props.state, conversation, cursor: props.nextCursor })}>
            {items.length === 0 ? words.more : words.older}
          </a>
        </p>
      )}
    </Layout>
  )
}

function Row(props: { item: RequestView; page: ListPage }) {
  const { item, page } = props
  const { language } = page.shell
  const words = listWords[language]
  return (
    <li>
      <a class="row" href={`/requests/${item.id}`}>
        <span class="facts small muted">
          <Badge term={stateTerms[item.state]} language={language} />
          <span>{words.places[page.placeOf(item.conversation)]}</span>
          <When at={item.openedAt} now={page.now} language={language} />
        </span>
        <span class="asked">{firstLine(item.asks[0]?.text ?? words.erased)}</span>
        {item.next === null ? null : (
          <span class={`small muted tone-${nextShort[item.next.condition].tone}`}>
            {nextShort[item.next.condition][language]}
          </span>
        )}
      </a>
    </li>
  )
}

function Empty(props: ListPage) {
  const words = listWords[props.shell.language]
  if (props.state !== null || props.conversation !== null || !props.first)
    return <p class="empty">{words.emptyState}</p>
  return (
    <div class="empty">
      <p>
        <strong>{words.empty}</strong>
      </p>
      {props.shell.sandbox ? (
        <p>
          <a href="/sandbox">{words.tryChat}</a>
        </p>
      ) : (
        <p>{words.emptyHere}</p>
      )}
    </div>
  )
}

function hrefOf(query: { state: string | null; conversation: string | null; cursor?: string }): string {
  const params = new URLSearchParams()
  if (query.state !== null) params.set('state', query.state)
  if (query.conversation !== null) params.set('conversation', query.conversation)
  if (query.cursor !== undefined) params.set('cursor', query.cursor)
  const text = params.toString()
  return text === '' ? '/' : `/?${text}`
}
