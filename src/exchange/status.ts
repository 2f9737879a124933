import type { ExchangeState } from '../collab/exchange-state.js'
import { heldReasons, type AgentFacts, type Notice, type StatusOfPlace } from '../collab/notice.js'
import { select } from '../collab/project/select.js'
import { MANAGER } from '../collab/refs.js'
import { SECOND } from '../lib/time.js'
import { factsOf, fold, textsOf } from '../stores/ledger/read.js'
import type { Conversation } from '../stores/conversations/conversations.js'
import { loadOf } from '../stores/turns/inbox.js'
import { openInputsOf, type OpenInput } from '../stores/turns/standing.js'
import type { Exchange } from './deps.js'
import { scopeOf } from './open.js'
import { askDigestsOf } from './relate.js'

/** Lines of one kind that a chat is told; the page shows all. */
const SHOWN = 5
const AGENTS_SHOWN = 12

/** What is owed in one conversation: what runs, what waits, what is held for a word, what is put off and for whom. */
export async function statusOf(x: Exchange, conversation: string): Promise<Notice> {
  const open = await openInputsOf(x.db.sql, conversation)
  const now = x.clock.now()
  const running = open.filter((one) => one.turn !== null)
  const idle = open.filter((one) => one.turn === null)
  const own = idle.filter((one) => one.own)
  const status: StatusOfPlace = {
    running: await Promise.all(running.slice(0, SHOWN).map((one) => runningOf(x, one, now))),
    waiting: own.filter((one) => one.state === 'waiting' && !one.told).length,
    told: own.filter((one) => one.state === 'waiting' && one.told).length,
    held: heldReasons
      .map((because) => ({ because, count: own.filter((one) => isHeld(one, because)).length }))
      .filter((one) => one.count > 0),
    deferred: (
      await Promise.all(
        idle
          .filter((one) => isHeld(one, 'deferred'))
          .slice(0, SHOWN)
          .map((one) => deferredOf(x, one, now)),
      )
    ).flat(),
    handed: await Promise.all(
      idle
        .filter((one) => !one.own && !isHeld(one, 'deferred'))
        .slice(0, SHOWN)
        .map((one) => handedOf(x, one)),
    ),
  }
  return { kind: 'status', status }
}

const isHeld = (one: OpenInput, because: string): boolean => one.state === 'held' && one.because === because

async function runningOf(x: Exchange, one: OpenInput, now: number): Promise<StatusOfPlace['running'][number]> {
  const { state, about } = await read(x, one)
  const target = state.request?.target ?? MANAGER
  const turn = one.turn
  return {
    agent: target === MANAGER ? null : target,
    seconds: Math.max(0, Math.round((now - (turn?.startedAt ?? now)) / SECOND)),
    state: turn?.stopping === true ? 'stopping' : turn?.begun === true ? 'working' : 'starting',
    runtime: turn?.runtime ?? '',
    about: about(null),
  }
}

async function deferredOf(x: Exchange, one: OpenInput, now: number): Promise<StatusOfPlace['deferred']> {
  const { state, about } = await read(x, one)
  return [...state.asks].flatMap(([id, ask]) =>
    ask.is !== 'deferred'
      ? []
      : [
          {
            about: about(id),
            reason: ask.reason,
            owner: ask.until.owner,
            on: ask.until.condition,
            seconds: Math.max(0, Math.round((ask.until.recheckAt - now) / SECOND)),
          },
        ],
  )
}

async function handedOf(x: Exchange, one: OpenInput): Promise<StatusOfPlace['handed'][number]> {
  const { state, about } = await read(x, one)
  return { agent: state.request?.target ?? 'an agent', about: about(null) }
}

/** A request with the words of its asks; null names the first of them. */
async function read(
  x: Exchange,
  one: OpenInput,
): Promise<{ readonly state: ExchangeState; readonly about: (ask: string | null) => string }> {
  const facts = await factsOf(x.db.sql, one.request)
  const state = fold(one.request, facts)
  const digests = askDigestsOf(facts)
  const texts = await textsOf(x.db.sql, [...digests.values()], scopeOf(state.request?.conversation ?? ''))
  const words = new Map<string, string>([...digests].map(([id, digest]) => [id, texts.get(digest) ?? '']))
  return { state, about: (ask) => (ask === null ? [...words.values()][0] : words.get(ask)) ?? '' }
}

/** Who can be asked, each with its four facts; nothing is chosen and nothing unknown is guessed. */
export async function agentsOf(x: Exchange, where: Pick<Conversation, 'chatType'>): Promise<Notice> {
  const listed = await x.directory.list({ includeStopped: false })
  const found = select({
    agents: listed,
    caller: MANAGER,
    waiting: new Set(),
    need: '',
    named: null,
    includeStopped: false,
    load: await loadOf(x.db.sql),
    // Only owners ask; in a group others read the answer.
    reads: where.chatType === 'p2p' ? 'all' : new Set(),
    now: x.clock.now(),
  })
  const agents = found
    .slice(0, AGENTS_SHOWN)
    .map(({ agent, registered, discoverable, readable, deliverable, executable }): AgentFacts => ({
      agent,
      role: registered.role,
      discoverable,
      readable,
      deliverable,
      executable,
    }))
  return { kind: 'agents', agents, more: found.length - agents.length }
}
