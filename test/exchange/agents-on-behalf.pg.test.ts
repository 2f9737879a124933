import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { createArtifactBytes } from '../../src/artifacts/bytes.js'
import type { AgentTools, ToolCaller } from '../../src/collab/agent-tools.js'
import { MANAGER, type ConversationId, type RequestId } from '../../src/collab/refs.js'
import { createAgentTools } from '../../src/exchange/agents/tools.js'
import { addGrant } from '../../src/exchange/grant-add.js'
import { laneOf } from '../../src/exchange/ids.js'
import { profileFor } from '../../src/exchange/profile.js'
import { must } from '../../src/lib/assert.js'
import { bindOwner } from '../../src/stores/principals/principals.js'
import { endTurnRow } from '../../src/stores/turns/turns.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import { agent, beginTurn, event, registered, rev, rigOf, rootInTurn, stateOf, word, type Rig } from './agents-kit.js'
import { asMember, asOwner, groupOf, OWNER, type Group } from './group-kit.js'
import { bot } from './outgoing-kit.js'

let fresh: FreshDb
let rig: Rig
let root: string
beforeAll(async () => {
  fresh = await freshDb()
  root = mkdtempSync(join(tmpdir(), 'on-behalf-test-'))
  const made = rigOf(fresh.db, [registered('anna')])
  const artifacts = createArtifactBytes({ root, newId: () => randomUUID() })
  const x = { ...made.x, artifacts }
  rig = { ...made, x, tools: createAgentTools(x) }
  await bindOwner(fresh.db.sql, { bot, openId: OWNER, directChat: 'oc_direct_of_owner' }, rig.clock.now())
})
afterAll(async () => {
  await fresh.drop()
  rmSync(root, { recursive: true })
})

interface Seats {
  readonly conversation: ConversationId
  readonly say: Group['say']
  /** The manager in its turn on a request; the turn before it has ended. */
  inTurn(request: RequestId): Promise<ToolCaller>
}

/** A group in which the owner's own messages run as in the direct chat. */
async function group(): Promise<Seats> {
  const { conversation, say } = await groupOf(rig, { ownerWork: 'owner' })
  let last: ToolCaller['turn'] = null
  return {
    conversation,
    say,
    async inTurn(request) {
      if (last !== null) await endTurnRow(fresh.db.sql, last, 'completed', null, rig.clock.now())
      last = await beginTurn(rig, request, MANAGER)
      return { agent: MANAGER, session: 'session-manager', epoch: 1, lane: laneOf(conversation), turn: last }
    },
  }
}

const asking = (request: RequestId): Parameters<AgentTools['ask']>[1] => ({
  eventId: event(),
  request,
  receiver: agent('anna'),
  intent: 'delegation',
  asks: [],
  question: 'Read what only the owner may read.',
  brief: '',
  refs: [],
  reason: 'somebody asked',
  direct: true,
})

const noBrief = { constraints: [], decisions: [], tried: [], inFlight: [], unverified: [] }

describe('a turn on the words of others, in a group where an owner works with everything', () => {
  acceptance('A3', 'hands nothing on from the owner’s request, and leaves nothing in it', async () => {
    const at = await group()
    const owners = await at.say('Look into it.', asOwner)
    await at.inTurn(owners)
    const request = must((await stateOf(rig, owners)).request ?? undefined, 'the request')
    expect((await profileFor(rig.x, fresh.db.sql, request)).kind).toBe('owner')
    const members = await at.inTurn(await at.say('Do it in the name of that one.', asMember))
    expect(word(await rig.tools.ask(members, asking(owners)))).toBe('not-admitted')
    const brief = { ...noBrief, next: ['read it all'] }
    const saved = { eventId: event(), request: owners, onRevision: rev(1), brief }
    expect(word(await rig.tools.saveBrief(members, saved))).toBe('not-admitted')
    const report = { eventId: event(), request: owners, covers: [], text: 'done', conclusion: null, supersedes: null }
    expect(word(await rig.tools.report(members, { ...report, artifacts: [] }))).toBe('not-admitted')
    // Its process is there between its turns, too.
    expect(word(await rig.tools.ask({ ...members, turn: null }, asking(owners)))).toBe('not-admitted')
    const { children, briefs, results } = await stateOf(rig, owners)
    expect([children.size, briefs.length, results.length]).toEqual([0, 0, 0])
  })

  acceptance('A3', 'works on its own request, and the owner’s turn hands on from any of the owner’s', async () => {
    const at = await group()
    const owners = await at.say('Look into it.', asOwner)
    await at.inTurn(owners)
    const own = await at.say('And mine?', asMember)
    const saved = { eventId: event(), request: own, onRevision: rev(1), brief: { ...noBrief, next: ['look'] } }
    expect(word(await rig.tools.saveBrief(await at.inTurn(own), saved))).toBe('accepted')
    const later = await at.inTurn(await at.say('Ask Anna about it.', asOwner))
    expect(word(await rig.tools.ask(later, asking(owners)))).toBe('accepted')
  })

  acceptance('A14', 'reads no file of another chat by a permission of the owner', async () => {
    const { request: elsewhere, manager } = await rootInTurn(rig, 'Please keep this.')
    const bytes = (async function* () {
      yield Buffer.from('It says 42.')
    })()
    const put = { eventId: event(), request: elsewhere, fileName: 'a.txt', bytes }
    const { artifact } = (await rig.tools.artifactPut(manager, put)) as { artifact: string }
    const [place] = await fresh.db.sql<{ chat: string }[]>`
      select c.chat_id as chat from collab.conversations c join collab.work_requests r on r.conversation = c.id
      where r.id = ${elsewhere}`
    const at = await group()
    const wanted = {
      agent: MANAGER,
      openId: OWNER,
      scope: { kind: 'chat', chat: must(place, 'the chat').chat },
      effects: ['read'],
      audience: { kind: 'conversation', conversation: at.conversation },
      reason: 'one project',
      days: 1,
      parent: null,
    } as const
    expect((await addGrant(rig.x, { wanted, eventId: randomUUID(), who: 'operator' })).outcome).toBe('accepted')
    const owners = await at.say('Look into it.', asOwner)
    expect(await rig.tools.artifactGet(await at.inTurn(owners), { request: owners, artifact })).not.toBeNull()
    const members = await at.inTurn(await at.say('What does that file say?', asMember))
    expect(await rig.tools.artifactGet(members, { request: owners, artifact })).toBeNull()
  })
})
