import type { DeliveryView } from '../../collab/project/request-view.js'
import { Badge, When } from './bits.js'
import { partText } from './detail-terms.js'
import type { Shell } from './layout.js'
import { requestWords } from './request-words.js'
import { causeTerms, deliveryTerms, messageTerms, partTerms } from './terms.js'

/** The deliveries of one request: every part with its own state, and what the operator can do about it. */
export function Deliveries(props: {
  shell: Shell
  request: string
  deliveries: readonly DeliveryView[]
  now: number
  formKey: string
}) {
  const { shell, deliveries } = props
  const words = requestWords[shell.language]
  if (deliveries.length === 0) return <p class="muted">{words.noDeliveries}</p>
  return (
    <>
      {deliveries.map((delivery) => (
        <section class="card" aria-label={causeTerms[delivery.cause][shell.language]}>
          <div class="facts">
            <strong>{causeTerms[delivery.cause][shell.language]}</strong>
            <Badge term={deliveryTerms[delivery.state]} language={shell.language} />
            <span class="muted small">
              <When at={delivery.createdAt} now={props.now} language={shell.language} />
            </span>
          </div>
          {delivery.parts.length === 0 ? null : <Parts delivery={delivery} shell={shell} />}
          <Mend {...props} delivery={delivery} />
          <Acts {...props} delivery={delivery} />
        </section>
      ))}
    </>
  )
}

function Parts(props: { delivery: DeliveryView; shell: Shell }) {
  const { language } = props.shell
  const words = requestWords[language]
  return (
    <div class="scroll">
      <table class="parts">
        <thead>
          <tr>
            <th>{words.part}</th>
            <th>{words.kind}</th>
            <th>{words.state}</th>
            <th>{words.tries}</th>
          </tr>
        </thead>
        <tbody>
          {props.delivery.parts.map((part) => (
            <tr>
              <td>{part.subIndex === 0 ? part.index + 1 : `${part.index + 1}.${part.subIndex}`}</td>
              <td>{messageTerms[part.msgType as keyof typeof messageTerms]?.[language] ?? part.msgType}</td>
              <td>
                <Badge term={partTerms[part.state]} language={language} />
                {part.because === null ? null : <div class="muted small">{partText(part.because, language)}</div>}
              </td>
              <td>{part.attempts}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** What was decided about it, by whom and when. */
function Acts(props: { delivery: DeliveryView; shell: Shell; now: number }) {
  const { language } = props.shell
  if (props.delivery.acts.length === 0) return null
  return (
    <ul class="muted small">
      {props.delivery.acts.map((act) => (
        <li>
          <When at={act.at} now={props.now} language={language} /> {act.who}: {act.act}
        </li>
      ))}
    </ul>
  )
}

interface MendProps {
  readonly shell: Shell
  readonly request: string
  readonly delivery: DeliveryView
  readonly formKey: string
}

/** Try again, or decide about a part whose outcome nobody could prove. */
function Mend(props: MendProps) {
  const { delivery } = props
  const words = requestWords[props.shell.language]
  const parked = delivery.parts.filter((part) => part.state === 'parked')
  if (parked.length === 0) {
    if (delivery.state !== 'failed' && delivery.state !== 'parked') return null
    return (
      <div class="acts">
        <RetryForm {...props} part={null} decision={null} label={words.retry} />
      </div>
    )
  }
  return (
    <>
      {parked.map((part) => (
        <div class="note">
          <strong>
            {words.part} {part.index + 1}
          </strong>
          <p class="small">{words.decide}</p>
          <div class="acts">
            <RetryForm {...props} part={part.index} decision="present" label={words.present} />
            <RetryForm {...props} part={part.index} decision="absent-send" label={words.absentSend} />
            <RetryForm {...props} part={part.index} decision="give-up" label={words.giveUp} />
          </div>
          <div class="acts">
            <RetryForm {...props} part={part.index} decision={null} label={words.lookAgain} />
          </div>
        </div>
      ))}
    </>
  )
}

function RetryForm(
  props: MendProps & { part: number | null; decision: 'present' | 'absent-send' | 'give-up' | null; label: string },
) {
  const words = requestWords[props.shell.language]
  return (
    <form method="post" action={`/deliveries/${encodeURIComponent(props.delivery.id)}/retry`}>
      <input type="hidden" name="csrf" value={props.shell.csrf ?? ''} />
      <input type="hidden" name="key" value={props.formKey} />
      <input type="hidden" name="request" value={props.request} />
      {props.part === null ? null : <input type="hidden" name="part" value={String(props.part)} />}
      {props.decision === null ? null : <input type="hidden" name="decision" value={props.decision} />}
      {props.decision === 'present' ? (
        <input name="message" maxlength={100} aria-label={words.seenMessage} placeholder={words.seenMessage} />
      ) : null}
      <button>{props.label}</button>
    </form>
  )
}
