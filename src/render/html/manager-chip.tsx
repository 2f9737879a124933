import type { Language } from '../../collab/delivery.js'
import { managerWords } from './manager-words.js'

/** What is shown of the manager's channel; null: not known. */
export interface ManagerView {
  readonly endpoint: string
  readonly executorKind: 'individual' | 'managed' | null
  readonly model: string | null
  readonly available: boolean | null
  readonly unavailableReason: string | null
}

/** Executor, on whose account, and model, in one line; when it cannot be used, why, in the same line. Only shows. */
export function ManagerChip(props: { readonly manager: ManagerView; readonly language: Language }) {
  const { manager } = props
  const said = managerWords[props.language]
  const kind = manager.executorKind === null ? said.unclaimed : said[manager.executorKind]
  return (
    <p class="muted">
      {said.manager}: {[manager.endpoint, kind, manager.model ?? said.noModel].join(' · ')}
      {manager.available === false ? (
        <>
          {' '}
          <span class="badge bad">{said.unavailable}</span> {manager.unavailableReason}
        </>
      ) : null}
    </p>
  )
}
