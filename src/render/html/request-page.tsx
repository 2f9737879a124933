import type { RequestView } from '../../collab/project/request-view.js'
import { cancellationText } from '../text/cancel.js'
import { Badge, firstLine, sizeText, When } from './bits.js'
import { Briefs } from './briefs.js'
import { Deliveries } from './deliveries.js'
import { detailText } from './detail-terms.js'
import { Layout, type Shell } from './layout.js'
import { listWords } from './list-words.js'
import { Prose } from './prose.js'
import { Turns } from './turns.js'
import type { PlaceKind } from './request-list.js'
import { Refusals } from './refusals.js'
import { requestWords } from './request-words.js'
import {
  activityTerms,
  actorText,
  askTerms,
  axisNames,
  axisTerms,
  factTerms,
  nextTerms,
  ownerTerms,
  stateTerms,
} from './terms.js'

export interface RequestPageProps {
  readonly shell: Shell
  readonly view: RequestView
  readonly place: PlaceKind
  readonly now: number
  /** What its agent is seen to do, while it works. */
  readonly doing: { readonly activity: string; readonly since: number } | null
  /** What the last act said: done, or why not. */
  readonly said: { readonly good: boolean; readonly text: string } | null
  /** One per page: pressing a button twice is one act. */
  readonly formKey: string
}

/** One request: what was asked, where it stands on each axis, the answer, every delivery, every fact in order. */
export function RequestPage(props: RequestPageProps) {
  const { shell, view, now } = props
  const { language } = shell
  const words = requestWords[language]
  const title = firstLine(view.asks[0]?.text ?? words.erased, 90)
  // One short line stands above already.
  const only = view.asks.length === 1 ? view.asks[0]?.text : null
  return (
    <Layout
      shell={shell}
      title={title}
      place="none"
      live={view.state === 'open' || view.next !== null}
      scripts={['/assets/page.js']}
    >
      <p class="small">
        <a href="/">← {words.back}</a>
      </p>
      <h1>{title}</h1>
      <p class="facts small muted">
        <Badge term={stateTerms[view.state]} language={language} />
        <span>{listWords[language].places[props.place]}</span>
        <When at={view.openedAt} now={now} language={language} />
      </p>
      {props.said === null ? null : (
        <p class={`note ${props.said.good ? 'good' : 'bad'}`} role="status">
          {props.said.text}
        </p>
      )}
      <Next view={view} shell={shell} />
      <Doing {...props} />
      <Cancelled view={view} shell={shell} />
      <dl class="axes">
        <Axis axis="assignment" view={view} shell={shell} />
        <Axis axis="judgment" view={view} shell={shell} />
        <Axis axis="control" view={view} shell={shell} />
        <Axis axis="delivery" view={view} shell={shell} />
      </dl>
      {only === title ? null : <h2>{words.asked}</h2>}
      {(only === title ? [] : view.asks).map((ask) => (
        <div class="card">
          <p class={`said${(ask.text ?? '').length > 2_000 ? ' long' : ''}`}>{ask.text ?? words.erased}</p>
          <p class="small">
            <Badge term={askTerms[ask.state]} language={language} />
          </p>
        </div>
      ))}
      {view.results.map((result) => (
        <Result result={result} view={view} shell={shell} />
      ))}
      <Refusals refusals={view.refusals} shell={shell} now={now} />
      <h2>{words.deliveries}</h2>
      <Deliveries shell={shell} request={view.id} deliveries={view.deliveries} now={now} formKey={props.formKey} />
      <Briefs briefs={view.briefs} shell={shell} now={now} />
      <Work view={view} shell={shell} />
      {view.cancellation?.stands === 'acknowledged' ? null : <Change {...props} />}
      <Turns view={view} shell={shell} now={now} />
      <h2>{words.timeline}</h2>
      <Timeline view={view} shell={shell} now={now} />
      <Details view={view} shell={shell} />
    </Layout>
  )
}

function Next(props: { view: RequestView; shell: Shell }) {
  const { next } = props.view
  if (next === null) return null
  const { language } = props.shell
  const term = nextTerms[next.condition]
  return (
    <p class={`next ${term.tone}`}>
      <span class="muted">
        {requestWords[language].waitsFor} {ownerTerms[next.owner][language]}.{' '}
      </span>
      {term[language]}
    </p>
  )
}

/** What the agent does right now, as its runtime says it. */
function Doing({ doing, shell, now }: RequestPageProps) {
  if (doing === null) return null
  const { language } = shell
  return (
    <p class="small muted" role="status">
      {requestWords[language].now} {(activityTerms[doing.activity] ?? activityTerms.other)[language]}{' '}
      <When at={doing.since} now={now} language={language} />
    </p>
  )
}

/** How a cancellation stands: asked for, in effect, or too late for what had already happened. */
function Cancelled(props: { view: RequestView; shell: Shell }) {
  const { cancellation } = props.view
  if (cancellation === null) return null
  const { language } = props.shell
  return (
    <p class="note">
      <span class="muted">{requestWords[language].cancellation} </span>
      {cancellationText(cancellation, language)}
    </p>
  )
}

/** The receipts of the work owner that belong to the request. */
function Work(props: { view: RequestView; shell: Shell }) {
  const refs = props.view.work.flatMap((one) => one.refs)
  if (refs.length === 0) return null
  const words = requestWords[props.shell.language]
  return (
    <>
      <h2>{words.work}</h2>
      <ul>
        {refs.map(({ ref, revision }) => (
          <li>
            <span class="mono">{ref}</span> <span class="muted">({`${words.revision} ${revision}`})</span>
          </li>
        ))}
      </ul>
    </>
  )
}

function Axis<A extends keyof RequestView['axes']>(props: { axis: A; view: RequestView; shell: Shell }) {
  const { language } = props.shell
  const term = axisTerms[props.axis][props.view.axes[props.axis]]
  const tooLate = props.axis === 'control' && props.view.cancellation?.stands === 'too-late'
  return (
    <div>
      <dt>{axisNames[props.axis][language]}</dt>
      <dd>{tooLate ? requestWords[language].tooLate : term[language]}</dd>
    </div>
  )
}

function Result(props: { result: RequestView['results'][number]; view: RequestView; shell: Shell }) {
  const { result, view } = props
  const words = requestWords[props.shell.language]
  return (
    <>
      <h2>{result.kind === 'result' ? words.answer : words.interim}</h2>
      <div class="card">
        {renewalsOf(result, view, words).map((text) => (
          <p class="muted small">{text}</p>
        ))}
        {result.conclusion === null ? null : (
          <>
            <p class="muted small">{words.conclusion}</p>
            <Prose text={result.conclusion} />
            <p class="muted small">{words.whole}</p>
          </>
        )}
        {result.text === null ? <p class="muted">{words.erased}</p> : <Prose text={result.text} />}
        {result.files.length === 0 ? null : (
          <p class="small">
            <span class="muted">{words.files}: </span>
            {result.files.map((file) => (
              <>
                <a href={`/requests/${view.id}/files/${file.digest}`} download={file.fileName}>
                  {file.fileName}
                </a>{' '}
                <span class="muted">({sizeText(file.size)})</span>{' '}
              </>
            ))}
          </p>
        )}
      </div>
    </>
  )
}

/** How an answer bears on the others of the same request. */
function renewalsOf(
  result: RequestView['results'][number],
  view: RequestView,
  words: (typeof requestWords)['en'],
): readonly string[] {
  const shares = (other: RequestView['results'][number]): boolean =>
    other.covers.some((ask) => result.covers.includes(ask))
  const former = view.results.find((one) => one.id === result.supersedes)
  const later = view.results.find((one) => one.supersedes === result.id)
  return [
    ...(former === undefined ? [] : [shares(former) ? words.replaces : words.updates]),
    ...(later !== undefined && shares(later) ? [words.replaced] : []),
  ]
}

function Change(props: RequestPageProps) {
  const { view, shell } = props
  const words = requestWords[shell.language]
  const hidden = (kind: string) => (
    <>
      <input type="hidden" name="csrf" value={shell.csrf ?? ''} />
      <input type="hidden" name="key" value={`${props.formKey}-${kind}`} />
      <input type="hidden" name="revision" value={String(view.revision)} />
      <input type="hidden" name="kind" value={kind} />
    </>
  )
  return (
    <>
      <h2>{words.change}</h2>
      <div class="acts">
        <details>
          <summary class="button">{words.correct}</summary>
          <form method="post" action={`/requests/${view.id}/revisions`}>
            {hidden('correction')}
            <label for="text">{words.correction}</label>
            <textarea id="text" name="text" required></textarea>
            <div class="acts">
              <button class="main">{words.sendCorrection}</button>
            </div>
          </form>
        </details>
        {view.state === 'closed' ? null : (
          <form method="post" action={`/requests/${view.id}/revisions`}>
            {hidden('cancellation')}
            <button class="danger">{words.cancel}</button>
          </form>
        )}
      </div>
    </>
  )
}

function Timeline(props: { view: RequestView; shell: Shell; now: number }) {
  const { language } = props.shell
  const words = requestWords[language]
  return (
    <ol class="timeline">
      {props.view.observations.map((fact) => {
        const term = factTerms[fact.kind as keyof typeof factTerms]
        const tooLate = fact.kind === 'cancel-acknowledged' && fact.detail === 'too-late'
        return (
          <li class={term.tone}>
            {tooLate ? words.tooLate : term[language]}
            {fact.detail === null || tooLate || fact.kind === 'request-rejected' ? null : (
              <span class="muted"> ({detailText(fact.kind, fact.detail, language)})</span>
            )}
            <br />
            <span class="muted small">
              {words.by} {actorText(fact.actor, language)} · <When at={fact.at} now={props.now} language={language} />
            </span>
          </li>
        )
      })}
    </ol>
  )
}

function Details(props: { view: RequestView; shell: Shell }) {
  const { view } = props
  const words = requestWords[props.shell.language]
  return (
    <details class="small">
      <summary>{words.details}</summary>
      <p class="mono">{view.id}</p>
      <p>
        {words.revision} {view.revision} · {view.intent} · {view.origin.channel}{' '}
        <span class="mono">{view.origin.messageId}</span>
      </p>
      {view.parent === null ? null : (
        <p>
          {words.parent} <a href={`/requests/${view.parent}`}>{view.parent}</a>
        </p>
      )}
      <p>
        <a href={`/?conversation=${encodeURIComponent(view.conversation)}`}>{words.sameConversation}</a>
      </p>
    </details>
  )
}
