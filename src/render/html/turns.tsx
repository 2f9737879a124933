import type { RequestView } from '../../collab/project/request-view.js'
import { When } from './bits.js'
import type { Shell } from './layout.js'
import { requestWords } from './request-words.js'

/** Each turn with its four stamps: accepted, turn started, first answer, completed. */
export function Turns(props: { readonly view: RequestView; readonly shell: Shell; readonly now: number }) {
  const { view, now } = props
  const { language } = props.shell
  const words = requestWords[language]
  const turns = view.attempts.flatMap((attempt) => attempt.turns.map((turn) => ({ ...turn, agent: attempt.target })))
  if (turns.length === 0) return null
  const stamp = (at: number | null) => (at === null ? '–' : <When at={at} now={now} language={language} />)
  return (
    <>
      <h2>{words.turns}</h2>
      {turns.map((turn) => (
        <div class="card">
          <p class="small">
            <span class="mono">{turn.agent}</span>
          </p>
          <p class="facts small">
            {(
              [
                [words.accepted, turn.acceptedAt],
                [words.started, turn.presentedAt],
                [words.firstAnswer, turn.firstAnswerAt],
                [words.completed, turn.completedAt],
              ] as const
            ).map(([name, at]) => (
              <span>
                <span class="muted">{name}</span> {stamp(at)}
              </span>
            ))}
          </p>
          {turn.endedWith.length === 0 ? null : (
            <p class="small">
              <span class="muted">{words.endedWith} </span>
              <span class="mono">{turn.endedWith.map((command) => command ?? words.erased).join('; ')}</span>
            </p>
          )}
        </div>
      ))}
    </>
  )
}
