import type { AgentTools, ToolCaller } from '../../collab/agent-tools.js'
import { digestOfContext, type SemanticContext } from '../../collab/context.js'
import { decideReassign } from '../../collab/decide/reassign.js'
import { decideRevise } from '../../collab/decide/revise.js'
import { reject, type Decision, type Receipt, type Refusal } from '../../collab/decision.js'
import { BRIEF_BYTES } from '../../collab/project/brief.js'
import { candidatesOf } from '../../collab/project/select.js'
import { revisionsOf, type Committed } from '../../collab/project/material.js'
import { MANAGER, type AgentId, type AskId, type Revision, type TextDigest } from '../../collab/refs.js'
import type { WorkRequest } from '../../collab/request.js'
import { ancestorsOf, everAssigned } from '../../stores/ledger/family.js'
import { factsOf, stateOfRequest } from '../../stores/ledger/read.js'
import { inputOf } from '../../stores/turns/turns.js'
import type { Exchange } from '../deps.js'
import { askIdOf, attemptIdOf, digestOfText, laneOf } from '../ids.js'
import { scopeOf } from '../open.js'
import { act } from './act.js'
import { contextFor } from './child.js'
import { checkName, checkText, firstOf, SENTENCE_BYTES } from './check.js'
import { candidatesFor } from './discover.js'
import { inputAfter } from './input.js'
import { tellOfRevisions } from './passed-on.js'

/**
 * The asker corrects its own question: the next linked revision, owed by the same receiver. It stops no turn and frees
 * no fence. With the asks of the asker's own request that are passed on with it: what comes back answers exactly those.
 *
 * @returns refusals are those of `decideRevise`, `not-receiver` for anybody but the asker, `ask-unknown` |
 *   `ask-not-owed` for what is passed on, and those of its words
 * @source RFC §5.6
 */
export async function revise(
  x: Exchange,
  caller: ToolCaller,
  said: Parameters<AgentTools['revise']>[1],
): Promise<Receipt> {
  const wrong = checkText('text', said.text, BRIEF_BYTES)
  const about = said.asks ?? []
  const receipt = await act(x, caller, 'revise', said, wrong, async ({ state, request }, base) => {
    const seen = revisionsOf(await factsOf(x.db.sql, request.id))
    const before = seen.find((one) => one.request.revision === said.onRevision) ?? seen.at(-1)
    const input = await inputOf(x.db.sql, request.id)
    const text = said.text.trim()
    const digest = digestOfText(text)
    const revision = (said.onRevision + 1) as Revision
    const live = [...state.attempts.values()].findLast((one) => one.released === null)
    const origins = before === undefined ? null : await originsOf(x, before)
    const notOwed = await notPassable(x, request, about)
    return {
      decide: (now) => {
        if (before === undefined || !isAsker(caller, request)) return notTheirs(request)
        if (notOwed !== null) return reject(notOwed)
        const context = { ...before.context, ...origins, revision }
        const revised: WorkRequest = {
          ...before.request,
          revision,
          kind: 'correction',
          sender: base.actor,
          // Whoever has it now: a reassignment moved it without a revision.
          target: live?.target ?? before.request.target,
          contextDigest: digestOfContext(context),
          asks: [{ id: askIdOf(request.id, revision, 1), textDigest: digest }],
          supersedes: said.onRevision,
        }
        return decideRevise(now, {
          ...base,
          kind: 'revise-request',
          onRevision: said.onRevision,
          request: revised,
          context,
          about,
        })
      },
      also: () => {
        const pulls = input?.state === 'held'
        const told = { kind: 'upkeep', subject: `revised-${request.id}`, dueAt: base.at } as const
        const turn = pulls || input === null ? [] : [{ kind: 'turn', subject: input.lane, dueAt: base.at } as const]
        return {
          texts: [{ digest, accessScope: scopeOf(request.conversation), body: text }],
          ...(pulls ? {} : inputAfter(input, 'waiting', null)),
          wakes: [told, ...turn],
        }
      },
    }
  })
  // At once, so that the turn that passed it on does not answer it as well; a crash before leaves the wake.
  if (receipt.outcome === 'accepted' || receipt.outcome === 'already-applied') await tellOfRevisions(x, said.request)
  return receipt
}

/** What cannot be passed on with a correction: asks of the asker's request that it does not owe. */
async function notPassable(x: Exchange, child: WorkRequest, asks: readonly AskId[]): Promise<Refusal | null> {
  if (asks.length === 0 || child.parent === null) return null
  const parent = await stateOfRequest(x.db.sql, child.parent)
  for (const ask of asks) {
    const now = parent.asks.get(ask)
    if (now === undefined) return { reason: 'ask-unknown', ask }
    if (now.is !== 'owed') return { reason: 'ask-not-owed', ask }
  }
  return null
}

/** What the owner has corrected since then reaches the receiver with the asker's own correction, in the owner's words. */
async function originsOf(x: Exchange, before: Committed): Promise<SemanticContext | null> {
  const { request, context } = before
  const { completionQuestion, summary } = context.brief
  if (request.parent === null || completionQuestion === null || summary === undefined) return null
  const parent = (await stateOfRequest(x.db.sql, request.parent)).request
  return parent === null ? null : await contextFor(x, parent, completionQuestion as TextDigest, summary)
}

/**
 * Gives a request to another receiver, once the former one is proved unable to act.
 *
 * @returns refusals are those of `decideReassign`, `not-receiver` for whoever did not hand it on, `agent-unknown`, and
 *   those of its words
 * @source RFC §5.10 — A7, A18
 */
export async function reassign(
  x: Exchange,
  caller: ToolCaller,
  said: Parameters<AgentTools['reassign']>[1],
): Promise<Receipt> {
  const wrong = firstOf(checkName('receiver', said.receiver), checkText('reason', said.reason, SENTENCE_BYTES))
  return await act(x, caller, 'reassign', said, wrong, async ({ state, request }, base) => {
    const found = await candidatesFor(x, caller, state, said.receiver, '')
    const receiver = found.find((one) => one.agent === said.receiver)?.registered ?? null
    const enforced = await enforcedOf(
      x,
      [...state.attempts.values()].map((one) => one.target),
    )
    const above = await directs(x, caller, request)
    const input = await inputOf(x.db.sql, request.id)
    const lane = laneOf(request.conversation, said.receiver)
    return {
      decide: (now) => {
        if (!above) return notTheirs(request)
        if (receiver === null) return reject({ reason: 'agent-unknown' })
        return decideReassign(now, {
          ...base,
          kind: 'reassign-request',
          attempt: {
            id: attemptIdOf(request.id, now.head, now.attempts.size + 1),
            request: request.id,
            revision: now.head,
            target: said.receiver,
            intent: request.intent,
            effectful: request.intent !== 'consultation',
            supersedes: [...now.attempts.keys()].at(-1) ?? null,
          },
          candidates: candidatesOf(found, said.receiver),
          reason: said.reason,
          enforced,
        })
      },
      also: () => {
        const managed = receiver?.endpoint.kind === 'managed'
        const position = input?.position ?? request.openedAt
        return {
          input: managed
            ? { lane, state: 'waiting', because: null, position }
            : { lane, state: 'held', because: 'attached', position },
          wakes: managed ? [{ kind: 'turn', subject: lane, dueAt: base.at }] : [],
        }
      },
    }
  })
}

/** Agents whose turns this host runs, and therefore ends. */
async function enforcedOf(x: Exchange, agents: readonly AgentId[]): Promise<ReadonlySet<AgentId>> {
  const enforced = new Set<AgentId>([MANAGER])
  for (const agent of new Set(agents)) {
    if ((await x.directory.find(agent))?.endpoint.kind === 'managed') enforced.add(agent)
  }
  return enforced
}

const isAsker = (caller: ToolCaller, request: WorkRequest): boolean =>
  request.sender.kind === 'agent' && request.sender.agent === caller.agent

/** Whoever handed it on, or stands above: the owner of a request directs what came of it. */
export async function directs(x: Exchange, caller: ToolCaller, request: WorkRequest): Promise<boolean> {
  if (request.parent === null) return false
  if (isAsker(caller, request) || caller.agent === MANAGER) return true
  return await everAssigned(x.db.sql, await ancestorsOf(x.db.sql, request.id), caller.agent)
}

export const notTheirs = (request: WorkRequest): Decision =>
  reject({ reason: 'not-receiver', receiver: request.target })
