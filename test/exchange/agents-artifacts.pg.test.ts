import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createArtifactBytes } from '../../src/artifacts/bytes.js'
import type { PutReceipt, ToolCaller } from '../../src/collab/agent-tools.js'
import { MANAGER, type AskId, type ConversationId, type RequestId, type Revision } from '../../src/collab/refs.js'
import { createAgentTools } from '../../src/exchange/agents/tools.js'
import { attachmentIdOf } from '../../src/exchange/agents/artifact-files.js'
import { addGrant, type GrantWanted } from '../../src/exchange/grant-add.js'
import { effectiveGrants } from '../../src/exchange/grant-list.js'
import { ingressIdOf } from '../../src/exchange/ids.js'
import { scopeOf } from '../../src/exchange/open.js'
import { endGrant } from '../../src/exchange/revoke-grant.js'
import { newest } from '../../src/stores/views/cursor.js'
import { returnToParent } from '../../src/exchange/returns.js'
import { callerOf, standingToken } from '../../src/exchange/tokens.js'
import { must } from '../../src/lib/assert.js'
import { sha256 } from '../../src/lib/digest.js'
import { putArtifact } from '../../src/stores/artifacts/artifacts.js'
import { remember } from '../../src/stores/ingress/ingress.js'
import { acceptance } from '../kit/acceptance.js'
import { freshDb, type FreshDb } from '../kit/pg.js'
import {
  agent,
  asksOf,
  attached,
  event,
  handOn,
  registered,
  rigOf,
  rootInTurn,
  stateOf,
  word,
  type Rig,
} from './agents-kit.js'
import { bot } from './outgoing-kit.js'

let fresh: FreshDb
let rig: Rig
let root: string

beforeAll(async () => {
  fresh = await freshDb()
  root = mkdtempSync(join(tmpdir(), 'artifacts-test-'))
  const made = rigOf(fresh.db, [registered('anna'), registered('ben'), registered('carla')])
  const artifacts = createArtifactBytes({ root, newId: () => randomUUID() })
  const x = { ...made.x, artifacts, settings: { ...made.x.settings, attachmentLimitBytes: 1_000 } }
  rig = { ...made, x, tools: createAgentTools(x) }
})
afterAll(async () => {
  await fresh.drop()
  rmSync(root, { recursive: true })
})

async function* stream(...chunks: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

const putting = (request: RequestId, text = 'It says 42.', over: { fileName?: string; eventId?: string } = {}) => ({
  eventId: event(over.eventId),
  request,
  fileName: over.fileName ?? 'findings.txt',
  bytes: stream(text),
})

const taken = (receipt: PutReceipt) => {
  if (receipt.outcome !== 'accepted' && receipt.outcome !== 'already-applied') {
    throw new Error(`not stored: ${JSON.stringify(receipt)}`)
  }
  return receipt
}

async function read(caller: ToolCaller, request: RequestId, artifact: string): Promise<string | null> {
  const got = await rig.tools.artifactGet(caller, { request, artifact })
  if (got === null) return null
  const chunks: Uint8Array[] = []
  for await (const chunk of got.bytes) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const handedTo = (from: ToolCaller, request: RequestId, name: string, refs: readonly string[] = []) =>
  handOn(rig, from, request, name, { intent: 'consultation', refs })

/** Reads, takes on and reports, citing files. */
async function concluded(from: ToolCaller, request: RequestId, artifacts: readonly string[]) {
  const [ask] = (await asksOf(rig, request)) as [AskId]
  await rig.tools.inboxRead(from, { cursor: null, limit: 50 })
  const asks = [{ ask, judgment: 'accepted' as const, reason: 'mine' }]
  expect(word(await rig.tools.assess(from, { eventId: event(), request, onRevision: 1 as Revision, asks }))).toBe(
    'accepted',
  )
  const said = { eventId: event(), request, covers: [ask], text: 'See the file.', conclusion: null, supersedes: null }
  return await rig.tools.report(from, { ...said, artifacts })
}

const briefOf = async (from: ToolCaller, request: RequestId) =>
  must(
    (await rig.tools.inboxRead(from, { cursor: null, limit: 50 })).items.find((item) => item.request === request),
    'the entry',
  ).brief

const rows = async () => (await fresh.db.sql`select 1 from collab.artifacts`).length

describe('putting a file', () => {
  test('stores its bytes under their digest, with a clean name and what the bytes are', async () => {
    const { request, manager } = await rootInTurn(rig, 'Please look.')
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    const said = { eventId: event(), request, fileName: '../../etc/\u202e.图表\u0000.txt', bytes: stream(png) }
    const stored = taken(await rig.tools.artifactPut(manager, said))
    expect(stored).toMatchObject({
      outcome: 'accepted',
      fileName: '图表.txt',
      mediaType: 'image/png',
      size: png.length,
      digest: sha256(png),
    })
    const text = taken(await rig.tools.artifactPut(manager, putting(request, '# 结论', { fileName: 'a.md' })))
    expect(text.mediaType).toBe('text/markdown')
    expect(await read(manager, request, text.artifact)).toBe('# 结论')
  })

  test('again is the same file; other bytes, another name or another request under its event id is a conflict', async () => {
    const { request, manager } = await rootInTurn(rig, 'Please look.')
    const eventId = randomUUID()
    const first = taken(await rig.tools.artifactPut(manager, putting(request, 'a', { eventId })))
    const before = await rows()
    expect(await rig.tools.artifactPut(manager, putting(request, 'a', { eventId }))).toEqual({
      ...first,
      outcome: 'already-applied',
    })
    const child = await handedTo(manager, request, 'anna')
    for (const other of [
      putting(request, 'b', { eventId }),
      putting(request, 'a', { eventId, fileName: 'other.txt' }),
      putting(child, 'a', { eventId }),
    ]) {
      expect((await rig.tools.artifactPut(manager, other)).outcome).toBe('conflict')
    }
    // An event id of one agent says nothing about that of another.
    const annas = taken(await rig.tools.artifactPut(attached('anna'), putting(child, 'a', { eventId })))
    expect(annas).toMatchObject({ outcome: 'accepted', digest: first.digest })
    expect(annas.artifact).not.toBe(first.artifact)
    expect(await rows()).toBe(before + 1)
  })

  test('at once eight times stores one', async () => {
    const { request, manager } = await rootInTurn(rig, 'Please look.')
    const eventId = randomUUID()
    const before = await rows()
    const all = await Promise.all(
      Array.from({ length: 8 }, () => rig.tools.artifactPut(manager, putting(request, 'at once', { eventId }))),
    )
    expect(all.map((one) => one.outcome).toSorted()).toEqual([
      'accepted',
      ...Array.from({ length: 7 }, () => 'already-applied'),
    ])
    expect(await rows()).toBe(before + 1)
  })

  test('for a request that is not the caller’s to see reads nothing of it', async () => {
    const { request, manager } = await rootInTurn(rig, 'Please look.')
    const child = await handedTo(manager, request, 'anna')
    let begun = false
    const bytes = (async function* () {
      begun = true
      yield new Uint8Array(1)
    })()
    for (const hidden of [child, randomUUID() as RequestId, '../../etc' as RequestId]) {
      const said = { eventId: event(), request: hidden, fileName: 'x', bytes }
      expect(await rig.tools.artifactPut(attached('ben'), said)).toEqual({
        outcome: 'rejected',
        refusal: { reason: 'request-unknown' },
      })
    }
    expect(begun).toBe(false)
  })

  test('that is too large, empty or named by an unprintable event leaves nothing', async () => {
    const { request, manager } = await rootInTurn(rig, 'Please look.')
    const before = await rows()
    const refused = async (said: ReturnType<typeof putting>) => {
      const receipt = await rig.tools.artifactPut(manager, said)
      return receipt.outcome === 'rejected' ? receipt.refusal : receipt
    }
    expect(await refused(putting(request, 'x'.repeat(1_001)))).toEqual({ reason: 'too-large', limit: 1_000 })
    expect(await refused(putting(request, ''))).toEqual({ reason: 'text-empty' })
    expect(await refused(putting(request, 'a', { eventId: 'a\nb' }))).toEqual({
      reason: 'bad-reference',
      field: 'eventId',
    })
    expect(await rows()).toBe(before)
    expect(readdirSync(join(root, 'incoming'))).toEqual([])
  })

  acceptance('A18', 'an executor that was replaced while its file came in stores nothing', async () => {
    const { request, manager } = await rootInTurn(rig, 'Please look.')
    const child = await handedTo(manager, request, 'anna')
    const { token } = await standingToken(rig.x, { agent: agent('anna'), session: 'laptop' })
    const anna = (await callerOf(rig.x, token)) as ToolCaller
    const before = await rows()
    const bytes = (async function* () {
      yield Buffer.from('half')
      await standingToken(rig.x, { agent: agent('anna'), session: 'laptop' })
      yield Buffer.from(' and half')
    })()
    const said = { eventId: event(), request: child, fileName: 'x.txt', bytes }
    expect(await rig.tools.artifactPut(anna, said)).toEqual({ outcome: 'rejected', refusal: { reason: 'stale-epoch' } })
    expect(await rows()).toBe(before)
  })
})

describe('who may read a file', () => {
  acceptance('A14', 'the agent that it was put for or named to; for everybody else there is no such file', async () => {
    const { request, manager } = await rootInTurn(rig, 'Please look.')
    const { artifact } = taken(await rig.tools.artifactPut(manager, putting(request)))
    const unnamed = await handedTo(manager, request, 'ben')
    const named = await handedTo(manager, request, 'anna', [artifact, 'repo@1234'])
    expect(await read(attached('anna'), named, artifact)).toBe('It says 42.')
    expect(await read(attached('ben'), unnamed, artifact)).toBeNull()
    expect(await read(attached('ben'), named, artifact)).toBeNull()
    expect(await read(attached('carla'), named, artifact)).toBeNull()
    expect(await read(attached('anna'), named, randomUUID())).toBeNull()
    expect(await read(attached('anna'), named, `../${artifact}`)).toBeNull()
    const brief = await briefOf(attached('anna'), named)
    expect(brief).toContain(`- artifact ${artifact}: findings.txt (text/plain, 11 bytes)`)
    expect(brief).toContain('- repo@1234')
    // What was put on the very request is read there by both sides of it.
    const onChild = taken(await rig.tools.artifactPut(manager, putting(unnamed, 'for ben')))
    expect(await read(attached('ben'), unnamed, onChild.artifact)).toBe('for ben')
  })

  test('naming a file that one could not read oneself lets nobody read it', async () => {
    const { request, manager } = await rootInTurn(rig, 'Please look.')
    const secret = taken(await rig.tools.artifactPut(manager, putting(request, 'private')))
    const child = await handedTo(manager, request, 'anna')
    const below = await handedTo(attached('anna'), child, 'ben', [secret.artifact])
    expect(await read(attached('ben'), below, secret.artifact)).toBeNull()
    expect(await briefOf(attached('ben'), below)).not.toContain('findings.txt')
    // What anna was given she may give on, over any number of hands.
    const given = await handedTo(manager, request, 'anna', [secret.artifact])
    const on = await handedTo(attached('anna'), given, 'ben', [secret.artifact])
    const further = await handedTo(attached('ben'), on, 'carla', [secret.artifact])
    expect(await read(attached('carla'), further, secret.artifact)).toBe('private')
  })

  test('no manager of another conversation, whatever it names', async () => {
    const one = await rootInTurn(rig, 'Please look.')
    const other = await rootInTurn(rig, 'Please look.')
    const { artifact } = taken(await rig.tools.artifactPut(one.manager, putting(one.request)))
    expect(await read(other.manager, one.request, artifact)).toBeNull()
    expect(await read(other.manager, other.request, artifact)).toBeNull()
    const child = await handedTo(other.manager, other.request, 'anna', [artifact])
    expect(await read(attached('anna'), child, artifact)).toBeNull()
    expect(await read(one.manager, one.request, artifact)).toBe('It says 42.')
  })

  acceptance('A3', 'of another chat it is read by a permission for that chat, until that is revoked', async () => {
    const one = await rootInTurn(rig, 'Please keep this.')
    const other = await rootInTurn(rig, 'Please look there.')
    const theirs = await rootInTurn(rig, 'Me too.', `oc_${randomUUID()}`, 'ou_somebody')
    const { artifact } = taken(await rig.tools.artifactPut(one.manager, putting(one.request)))
    const [place] = await fresh.db.sql`select chat_id as chat from collab.conversations where id = ${one.conversation}`
    const give = async (conversation: string) => {
      const wanted: GrantWanted = {
        agent: MANAGER,
        openId: 'ou_test_owner',
        scope: { kind: 'chat', chat: String(place?.['chat']) },
        effects: ['read'],
        audience: { kind: 'conversation', conversation: conversation as ConversationId },
        reason: 'one project',
        days: 1,
        parent: null,
      }
      const given = await addGrant(rig.x, { wanted, eventId: randomUUID(), who: 'admin-token' })
      return given.outcome === 'accepted' ? given.grant : ''
    }
    const grant = await give(other.conversation)
    await give(theirs.conversation)
    expect(await read(other.manager, other.request, artifact)).toBe('It says 42.')
    // What somebody else wrote uses nothing of it, and nothing is written there.
    expect(await read(theirs.manager, theirs.request, artifact)).toBeNull()
    const listed = (await effectiveGrants(rig.x, newest, 10)).find((row) => row.id === grant)
    expect(listed).toMatchObject({ effective: 'standing', used: 1 })
    await endGrant(rig.x, { grant, eventId: randomUUID(), who: 'operator' })
    expect(await read(other.manager, other.request, artifact)).toBeNull()
  })

  acceptance(
    'A14',
    'a file of the owner’s own message reaches whoever the work was handed to, named in the brief',
    async () => {
      const { request, manager, conversation } = await rootInTurn(rig, 'What is on the picture?')
      const { messageId } = must((await stateOf(rig, request)).request, 'the request').origin
      const message = {
        bot,
        messageId,
        attachments: [
          { kind: 'image', key: 'img_1', fileName: null, size: null, downloadable: true },
          { kind: 'file', key: 'file_2', fileName: 'locked.pdf', size: null, downloadable: true },
        ],
      }
      await remember(fresh.db.sql, [
        {
          id: ingressIdOf(bot, messageId),
          event: {
            kind: 'message',
            bot,
            key: messageId,
            eventId: `ev-${messageId}`,
            eventType: 'im.message.receive_v1',
            message,
          } as never,
          door: 'test',
          receivedAt: rig.clock.now(),
          receipt: null,
          judged: true,
        },
      ])
      const child = await handedTo(manager, request, 'anna')
      const id = attachmentIdOf(bot, messageId, 'img_1')
      expect(await briefOf(attached('anna'), child)).toMatch(/Not available to you:\n- image 1: unsupported/u)
      const stored = await rig.x.artifacts.put(stream('the picture'), 1_000)
      if (!stored.stored) throw new Error('the store takes it')
      const { digest, size } = stored
      const row = { id, digest, size, mediaType: 'image/png', fileName: 'photo\nAsked by nobody.png' }
      const where = { accessScope: scopeOf(conversation), source: { message: messageId, key: 'img_1' } }
      await putArtifact(fresh.db.sql, { ...row, ...where }, rig.clock.now())
      const brief = await briefOf(attached('anna'), child)
      expect(brief).toContain(
        `- artifact ${id}: photo Asked by nobody.png (image/png, 11 bytes, sent with message ${messageId})`,
      )
      expect(brief).toMatch(/Not available to you:\n- locked\.pdf: unsupported$/u)
      expect(await read(attached('anna'), child, id)).toBe('the picture')
      expect(await read(attached('ben'), child, id)).toBeNull()
    },
  )

  test('bytes that are gone or changed on the disk are not given as the file', async () => {
    const { request, manager } = await rootInTurn(rig, 'Please look.')
    const stored = taken(await rig.tools.artifactPut(manager, putting(request, 'as it was')))
    writeFileSync(rig.x.artifacts.pathOf(stored.digest), 'as it is!')
    await expect(read(manager, request, stored.artifact)).rejects.toThrow('not what was put')
    rmSync(rig.x.artifacts.pathOf(stored.digest))
    await expect(read(manager, request, stored.artifact)).rejects.toThrow('ENOENT')
  })
})

describe('a result that cites files', () => {
  acceptance('A14', 'gives them back to the agent that asked, which reads them and sends them on', async () => {
    const { request, manager } = await rootInTurn(rig, 'Please look.')
    const child = await handedTo(manager, request, 'anna')
    const first = taken(await rig.tools.artifactPut(attached('anna'), putting(child, 'one', { fileName: '一.txt' })))
    const second = taken(await rig.tools.artifactPut(attached('anna'), putting(child, 'two', { fileName: 'two.txt' })))
    expect(word(await concluded(attached('anna'), child, [first.artifact, second.artifact]))).toBe('accepted')
    await returnToParent(rig.x, child)
    const brief = await briefOf(manager, request)
    expect(brief).toContain(
      `- artifact ${first.artifact}: 一.txt (text/plain, 3 bytes, given with the result of request ${child})`,
    )
    expect(await read(manager, request, second.artifact)).toBe('two')
    expect(word(await concluded(manager, request, [first.artifact]))).toBe('accepted')
    const [delivery] = await fresh.db.sql<{ source: { files: unknown } }[]>`
      select source from collab.deliveries where request = ${request} and cause_kind = 'result'`
    const { digest, fileName, mediaType, size } = first
    expect(delivery?.source.files).toEqual([{ digest, fileName, mediaType, size }])
  })

  test('between workers: what came back is read by the one that asked, and by no sibling', async () => {
    const { request, manager } = await rootInTurn(rig, 'Please look.')
    const annas = await handedTo(manager, request, 'anna')
    const bens = await handedTo(attached('anna'), annas, 'ben')
    const carlas = await handedTo(manager, request, 'carla')
    const { artifact } = taken(await rig.tools.artifactPut(attached('ben'), putting(bens, 'from ben')))
    // The one that asked sees what came of it, also before it comes back.
    expect(await read(attached('anna'), bens, artifact)).toBe('from ben')
    expect(await read(attached('anna'), annas, artifact)).toBeNull()
    expect(word(await concluded(attached('ben'), bens, [artifact]))).toBe('accepted')
    await returnToParent(rig.x, bens)
    expect(await read(attached('anna'), annas, artifact)).toBe('from ben')
    expect(await read(attached('carla'), carlas, artifact)).toBeNull()
  })

  test('of another conversation, or that nobody stored, is refused and leaves nothing', async () => {
    const one = await rootInTurn(rig, 'Please look.')
    const other = await rootInTurn(rig, 'Please look.')
    const { artifact } = taken(await rig.tools.artifactPut(one.manager, putting(one.request)))
    const child = await handedTo(other.manager, other.request, 'anna')
    for (const foreign of [artifact, randomUUID(), '../x']) {
      expect(await concluded(attached('anna'), child, [foreign])).toMatchObject({
        refusal: { reason: 'bad-reference', field: 'artifacts' },
      })
    }
    expect((await stateOf(rig, child)).results).toEqual([])
  })
})
