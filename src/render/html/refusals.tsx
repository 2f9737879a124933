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
        return (
          <div class="card">
            <p class="small">
              <Badge term={refuserTerms[refusal.by]} language={language} /> {capital(whose)}.{' '}
              <span class="muted">{capital(mend)}.</span>
            </p>
            {refusal.operation === null ? null : <p class="said mono small">{refusal.operation}</p>}
            <p class="muted small">
              {[refusal.rule, ...(refusal.tool === null ? [] : [refusal.tool])].join(' · ')} ·{' '}
              <When at={refusal.at} now={now} language={language} />
            </p>
          </div>
        )
      })}
    </>
  )
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
