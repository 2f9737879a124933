import type { Language, NewDelivery } from '../collab/delivery.js'
import type { HostRefusal } from '../collab/host-refusal.js'
import type { Notice } from '../collab/notice.js'
import type { ReturnRef } from '../collab/refs.js'
import type { TurnRun, TurnYield } from './run-turn.js'
import { sayingOf } from './say.js'

/** Characters of what was not done that one notice names. */
const NAMED = 4_000

/** What was not done of an agent's turn, told where its owner asked: each with whose refusal it was. */
export function untold(
  run: Pick<TurnRun, 'request'>,
  left: Pick<TurnYield, 'turn' | 'refused' | 'refusedByHost'>,
  route: ReturnRef,
  language: Language,
  now: number,
): readonly NewDelivery[] {
  const asked: readonly Notice[] =
    left.refused.length === 0 ? [] : [{ kind: 'agent-asked-permission', operation: cut(left.refused) }]
  return [...asked, ...byHost(left.refusedByHost)].map((notice, n) =>
    sayingOf(
      {
        causeKind: 'notice',
        causeId: n === 0 ? `not-done-${left.turn}` : `not-done-${left.turn}-${n}`,
        route,
        notice,
        language,
        endsReceipt: null,
        request: run.request.id,
      },
      now,
    ),
  )
}

/** One notice for what the same rule refused to the same tool. */
function byHost(refusals: readonly HostRefusal[]): readonly Notice[] {
  const alike = new Map<string, HostRefusal[]>()
  for (const one of refusals) {
    const key = [one.by, one.rule, one.tool].join('\n')
    alike.set(key, [...(alike.get(key) ?? []), one])
  }
  return [...alike.values()].flatMap((group): readonly Notice[] => {
    const [first] = group
    if (first === undefined) return []
    const operations = group.flatMap(({ operation }) => operation ?? [])
    return [{ ...first, kind: 'refused-by-host', operation: operations.length === 0 ? null : cut(operations) }]
  })
}

function cut(operations: readonly string[]): string {
  const all = [...operations.join('\n')]
  return all.length <= NAMED ? all.join('') : `${all.slice(0, NAMED).join('')}…`
}
