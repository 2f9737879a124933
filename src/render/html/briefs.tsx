import type { BriefView } from '../../collab/project/continuity.js'
import { briefParts } from '../../collab/saved-brief.js'
import { When } from './bits.js'
import type { Shell } from './layout.js'
import { requestWords } from './request-words.js'
import { briefTerms } from './terms.js'

/** What agents saved of their work: of each the newest one open, earlier ones folded. */
export function Briefs(props: { readonly briefs: readonly BriefView[]; readonly shell: Shell; readonly now: number }) {
  const { briefs, shell, now } = props
  if (briefs.length === 0) return null
  const words = requestWords[shell.language]
  const newest = new Map(briefs.map((brief) => [brief.agent, brief.seq]))
  return (
    <>
      <h2>{words.saved}</h2>
      {briefs.toReversed().map((brief) => (
        <details class="card" open={newest.get(brief.agent) === brief.seq}>
          <summary>
            <span class="mono">{brief.agent}</span>{' '}
            <span class="muted small">
              {words.revision} {brief.revision}, <When at={brief.at} now={now} language={shell.language} />
            </span>
          </summary>
          <Said brief={brief} shell={shell} />
        </details>
      ))}
    </>
  )
}

function Said(props: { readonly brief: BriefView; readonly shell: Shell }) {
  const { brief, shell } = props
  const { said, leftOut } = brief
  const words = requestWords[shell.language]
  if (said === null) return <p class="muted">{words.erased}</p>
  return (
    <>
      {briefParts
        .filter((part) => said[part].length > 0)
        .map((part) => (
          <>
            <p class="muted small">{briefTerms[part][shell.language]}</p>
            <ul>
              {said[part].map((text) => (
                <li>{text}</li>
              ))}
            </ul>
          </>
        ))}
      {leftOut.length === 0 ? null : (
        <>
          <p class="muted small">{words.leftOut}</p>
          <ul>
            {leftOut.map(({ part, text }) => (
              <li>
                <span class="muted">{briefTerms[part][shell.language]}:</span> {text}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
