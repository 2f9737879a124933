import type { RefusalView } from '../../collab/project/refusals.js'
import { diagnosisOf } from '../text/refusal.js'
import { Badge, When } from './bits.js'
import type { Shell } from './layout.js'
import { requestWords } from './request-words.js'
import { refuserTerms } from './terms.js'

/** What was not done: whose refusal it was, what mends it, and the operation itself. */
export function Refusals(props: {
  readonly refusals: readonly RefusalView[]
  readonly shell: Shell
  readonly now: number
}) {
  const { refusals, now } = props
  const { language } = props.shell
  if (refusals.length === 0) return null
  return (
    <>
      <h2>{requestWords[language].notDone}</h2>
      {refusals.map((refusal) => {
        const { whose, mend } = diagnosisOf(refusal, language)
        const stop = language === 'zh' ? '。' : '. '
        return (
          <div class="card">
            <p class="small">
              <Badge term={refuserTerms[refusal.by]} language={language} /> {`${capital(whose)}${stop}`}
              <span class="muted">{`${capital(mend)}${stop.trimEnd()}`}</span>
            </p>
            {refusal.operation === null ? null : <p class="said mono small">{refusal.operation}</p>}
            <p class="muted small">
              {namesOf(refusal).map((name) => `${name} · `)}
              <When at={refusal.at} now={now} language={language} />
            </p>
          </div>
        )
      })}
    </>
  )
}

/** The host's own names of its rule and tool. What is ours is said in words above. */
const namesOf = ({ by, rule, tool }: RefusalView): readonly string[] =>
  by === 'sandbox' || by === 'policy' ? [rule, ...(tool === null ? [] : [tool])] : []

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
