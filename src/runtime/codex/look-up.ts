import type { KnownInput } from '../../collab/ports.js'
import { filesOfAnswer } from '../answer-files.js'
import type { CodexPeer } from './peer.js'
import { fields, list, text, type Fields } from './read.js'

/** Turns of one page, and pages that are looked through: what lies behind them is not known. */
const PAGE = 20
const PAGES = 5

/**
 * What codex has of an input that was sent under this id: it keeps the id beside the words, also over a crash.
 *
 * @source codex app-server: thread/turns/list with summaries, which hold the words of a turn and its last message
 */
export async function lookUpInput(
  peer: Pick<CodexPeer, 'request'>,
  threadId: string,
  input: string,
  workspace: string,
): Promise<KnownInput> {
  let cursor: string | null = null
  for (let page = 0; page < PAGES; page++) {
    const params = { threadId, limit: PAGE, itemsView: 'summary', sortDirection: 'desc', cursor }
    const answer = fields(await peer.request('thread/turns/list', params))
    for (const turn of list(answer['data']).map(fields)) {
      const items = list(turn['items']).map(fields)
      if (items.some((item) => item['type'] === 'userMessage' && item['clientId'] === input)) {
        return await known(turn, items, workspace)
      }
    }
    cursor = text(answer['nextCursor'])
    if (cursor === null) return { known: 'absent' }
  }
  return { known: 'unknown' }
}

async function known(turn: Fields, items: readonly Fields[], workspace: string): Promise<KnownInput> {
  const id = text(turn['id'])
  const last = items.findLast((item) => item['type'] === 'agentMessage')
  const final = text(last?.['text'])?.trim() ?? ''
  if (turn['status'] !== 'completed' || id === null || final === '') return { known: 'unanswered' }
  return {
    known: 'answered',
    events: [
      { kind: 'started', hostTurn: id },
      ...(await filesOfAnswer(final, workspace)),
      { kind: 'ended', ended: 'completed', final, conclusion: null },
    ],
  }
}
