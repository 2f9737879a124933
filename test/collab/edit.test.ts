import { describe, expect, test } from 'vitest'
import { decideAccept } from '../../src/collab/decide/accept.js'
import { decideEdit, type EditRequest } from '../../src/collab/decide/edit.js'
import { owedAsks } from '../../src/collab/exchange-state.js'
import type { AskId, TextDigest } from '../../src/collab/refs.js'
import {
  accepting,
  cancelling,
  contextAt,
  event,
  given,
  owner,
  R,
  requestAt,
  revising,
  running,
} from '../kit/exchange.js'
import { decideCancel } from '../../src/collab/decide/control.js'
import { decideRevise } from '../../src/collab/decide/revise.js'

const old = `ask-${R}-1` as AskId
const edit = (on = 1, more: Partial<EditRequest> = {}): EditRequest => {
  const by = { id: `ask-${R}-${on + 1}` as AskId, textDigest: `text-${on + 1}` as TextDigest }
  return {
    kind: 'edit-request',
    eventId: event('edited'),
    requestId: R,
    at: requestAt(1).openedAt,
    actor: owner,
    onRevision: requestAt(on).revision,
    request: { ...requestAt(on + 1), asks: [by] },
    context: contextAt(on + 1),
    replaces: old,
    by,
    ...more,
  }
}
const opened = () => given().when(decideAccept, accepting())

describe('an edit before any turn', () => {
  test('becomes the next revision, which owes the new words in the place of the old ones', () => {
    const { state } = opened().when(decideEdit, edit()).accepts('request-revised', 'asks-split')
    expect(state.head).toBe(2)
    expect(owedAsks(state)).toEqual([`ask-${R}-2`])
    expect(state.sources).toEqual(['om_1'])
  })

  test('leaves what else is owed as it is', () => {
    const { state } = opened()
      .when(decideRevise, revising(2))
      .when(decideEdit, edit(2))
      .accepts('request-revised', 'asks-split')
    expect(owedAsks(state)).toEqual([`ask-${R}-2`, `ask-${R}-3`])
  })

  test('is refused once a turn was shown the old words', () => {
    running().when(decideEdit, edit()).refuses('not-related')
  })

  test('is refused on a stale revision, an unknown ask, and a request that is closed or unknown', () => {
    opened().when(decideRevise, revising(2)).when(decideEdit, edit(1)).refuses('stale-revision')
    opened()
      .when(decideEdit, edit(1, { replaces: 'ask-none' as AskId }))
      .refuses('ask-unknown')
    opened().when(decideCancel, cancelling(1)).when(decideEdit, edit()).refuses('request-closed')
    given().when(decideEdit, edit()).refuses('request-unknown')
  })
})
