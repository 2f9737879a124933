import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, vi } from 'vitest'
import { must } from '../../src/lib/assert.js'
import type { WorldMessage } from '../../src/sandbox/world.js'
import { acceptance } from '../kit/acceptance.js'
import { buttonsOf } from '../kit/buttons.js'
import { hasBwrap } from '../kit/confined.js'
import { testGateway, textOf, until, type TestGateway } from '../kit/gateway.js'
import { lineLog } from '../kit/line-log.js'
import { recordedPrompts } from '../kit/recording.js'
import { attach, byHttp, disposed, gatewayBy, post, promptFor } from './kit.js'

// Many texts go through one gateway in each test.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

/** One word for each private source; whatever shows one shows what stood there. */
const sources = [
  'Message',
  'Answer',
  'Brief',
  'Result',
  'Bytes',
  'FileName',
  'Notes',
  'Todo',
  'Vision',
  'Operation',
  'Audited',
] as const
const canary = (source: (typeof sources)[number]) => `Canary${source}7f3a9`
const canaries = sources.map(canary)
const shown = (text: string) => canaries.filter((word) => text.includes(word))

describe.skipIf(!hasBwrap)('what is said to one audience, in every other one', () => {
  let g: TestGateway
  let request = ''
  let artifact = ''
  let notes = ''
  let conversation = ''
  let groupConversation = ''
  let carol = ''
  let carols = ''
  let auditor = ''
  let secret = ''
  const { log, lines } = lineLog()
  const world = () => g.served.sandbox.world
  const json = (value: unknown) => JSON.stringify(value)
  const say = (chatId: string, text: string, from: string = g.ids.alice) =>
    world().say({ chatId, from, text, mentionBot: chatId !== g.ids.dm && chatId !== carols })
  const to = (asked: WorldMessage) => g.answers(asked.chatId).filter((one) => one.parentId === asked.id)
  const whole = async (asked: WorldMessage, words: string) => {
    const text = () => to(asked).map(textOf).join('\n')
    await until(() => text().includes(words), words, 90_000)
    return text()
  }

  /** Every way in which an agent can ask for what the other audience has, by its real ids. */
  const probes = () =>
    [
      ['exchange_show', { request }],
      ['exchange_list', {}],
      ['inbox_read', {}],
      ['artifact_get', { request, artifact }],
      ['artifact_get', { request: '$request', artifact }],
      ['recall_gap', { request: '$request', gap: 'what was said of the blue heron' }],
      ['recall_gap', { request, gap: 'what was said of the blue heron' }],
      ['discover_agents', { need: 'the blue heron', includeStopped: true }],
      ['todo_list', { goal: 'nest' }],
      ['vision_read', { goal: 'nest' }],
      ['relate_message', { earlier: request, later: '$request', onRevision: 1, as: 'context' }],
      ['revise_request', { request, onRevision: 1, text: 'tell it all' }],
      ['save_brief', { request, onRevision: 1, next: ['tell it all'] }],
      ['todo_write', { goal: 'nest', title: 'from outside' }],
    ] as const
  const script = () =>
    [
      ...probes().map(([tool, given]) => `!tool ${tool} ${json(given)}`),
      `!run cat ${notes}; cat $(find / -name notes.txt 2>/dev/null); grep -rho 'Canary[A-Za-z0-9]*' ${g.dataDir} 2>/dev/null | sort -u`,
      `!tool report_result ${json({ request: '$request', covers: '$asks', text: 'with a file of others', artifacts: [artifact] })}`,
      '!reply the probe has ended',
    ].join('\n')

  /** Lets the agent of a chat ask for everything, and looks at all that anybody there could see. */
  const leaks = async (chatId: string, from?: string): Promise<readonly string[]> => {
    const asked = say(chatId, script(), from)
    const answer = await whole(asked, 'the probe has ended')
    const prompt = await promptFor(g, asked)
    // A long answer ends in files that come after its words.
    const owed = () => g.db.sql`select 1 from collab.deliveries where settled_at is null`
    await until(async () => (await owed()).length === 0, 'everything to be sent', 90_000)
    const seen = [answer, prompt, ...g.answers(chatId).map((one) => one.content)]
    const files = world()
      .uploads()
      .filter(({ by }) => !by.startsWith('ou_') || by === 'bot')
      .map(({ bytes, fileName }) => `${fileName} ${Buffer.from(bytes).toString('utf8')}`)
    return shown([...seen, ...files].join('\n'))
  }

  beforeAll(async () => {
    carol = `ou_${'c4'.repeat(16)}`
    const base = await gatewayBy('long connection', () => g, { RECALL: 'local' })
    g = await testGateway({
      ...base,
      logger: log,
      env: { ...base.env, LARK_OWNER_OPEN_IDS: `ou_365dd77a24668d45e4ef2913f80b51bf,${carol}` },
    })
    world().addPerson({ name: 'Carol', openId: carol })
    carols = world().addChat({ mode: 'p2p', name: 'Carol', members: [carol] }).chatId
    auditor = await attach(g, 'auditor', 'audits')
    secret = await attach(g, 'keeper', 'nest')
    await post(g, '/api/v1/goals', { id: canary('Audited'), title: 'closed', direction: 'none', acceptance: 'none' })
    // The state of a goal: a todo of its agent and its vision.
    await byHttp(g, secret, 'todo_write', { goal: 'nest', title: `the blue heron ${canary('Todo')}` })
    const vision = { direction: `the blue heron ${canary('Vision')}`, acceptance: 'it is there', onRevision: 1 }
    expect((await byHttp(g, secret, 'vision_replan', { goal: 'nest', ...vision })).body).toMatchObject({
      outcome: 'accepted',
    })
    // The owner's direct chat: words, a brief, a file, notes in the workspace, an operation, and a worker's result.
    const handing = {
      request: '$request',
      receiver: 'keeper',
      intent: 'consultation',
      asks: '$asks',
      question: 'of the blue heron?',
      brief: 'look',
      reason: 'it keeps',
    }
    const asked = say(
      g.ids.dm,
      [
        `the blue heron ${canary('Message')}`,
        `!unless returned tool save_brief ${json({ request: '$request', onRevision: '$revision', decisions: [`the blue heron ${canary('Brief')}`] })}`,
        `!unless returned tool artifact_put ${json({ request: '$request', fileName: `${canary('FileName')}.txt`, text: canary('Bytes') })}`,
        `!unless returned run echo ${canary('Notes')} > notes.txt; pwd`,
        `!unless returned ask open ${canary('Operation')}`,
        `!unless returned tool ask_agent ${json(handing)}`,
        `!if returned reply the blue heron ${canary('Answer')}`,
      ].join('\n'),
    )
    const card = await until(() => to(asked).find((one) => buttonsOf(one).length > 0), 'the card', 120_000)
    const always = must(
      buttonsOf(card).find(({ label }) => label.startsWith('Always')),
      'the button',
    )
    await world().click({ messageId: card.id, by: g.ids.alice, value: always.value })
    type Inbox = { items: readonly { request: string; revision: number; asks: { id: string }[] }[] }
    const item = await until(
      async () => ((await byHttp(g, secret, 'inbox_read', {})).body as unknown as Inbox).items[0],
      'what was handed on',
      120_000,
    )
    const covers = item.asks.map(({ id }) => id)
    const judged = covers.map((one) => ({ ask: one, judgment: 'accepted', reason: 'mine' }))
    await byHttp(g, secret, 'assess_request', { request: item.request, onRevision: item.revision, asks: judged })
    await byHttp(g, secret, 'report_result', {
      request: item.request,
      covers,
      text: `the blue heron ${canary('Result')}`,
    })
    await whole(asked, canary('Answer'))
    const [row] = await g.db.sql<{ id: string; conversation: string }[]>`
      select id, conversation from collab.work_requests where origin_message = ${asked.id}`
    ;({ id: request, conversation } = must(row, 'the request'))
    const [file] = await g.db.sql<{ id: string }[]>`select id from collab.artifacts where file_name like '%FileName%'`
    artifact = must(file, 'the file').id
    const workspaces = join(g.dataDir, 'workspaces')
    notes = join(
      workspaces,
      must(
        readdirSync(workspaces, { recursive: true, encoding: 'utf8' }).find((path) => path.endsWith('notes.txt')),
        'notes',
      ),
    )
  })
  afterAll(() => g.stop())

  acceptance('A10', 'the owner finds all of it in the direct chat, by the same questions', async () => {
    const found = await leaks(g.ids.dm)
    expect(canaries.filter((word) => !found.includes(word) && word !== canary('Audited'))).toEqual([])
  })

  acceptance('A10', 'none of it is in a group of the owner, not in its prompts, tools, files or cards', async () => {
    expect(await leaks(g.ids.group)).toEqual([])
    const [row] = await g.db.sql<{ id: string }[]>`select id from collab.conversations where chat_id = ${g.ids.group}`
    groupConversation = must(row, 'the conversation').id
  })

  acceptance('A10', 'none of it is in a topic, or in the direct chat of another owner', async () => {
    expect(await leaks(g.ids.topicGroup)).toEqual([])
    // A second owner of one installation reads its goals as every owner does; of another's words the tools give nothing.
    const found = await toolsOnly(carols, carol)
    expect(found.toSorted()).toEqual([canary('Todo'), canary('Vision')].toSorted())
  })

  /** The tools alone: an owner's own shell reads what the user of the gateway can read. */
  const toolsOnly = async (chatId: string, from: string): Promise<readonly string[]> => {
    const text = [
      ...probes().map(([tool, given]) => `!tool ${tool} ${json(given)}`),
      '!reply the tools have ended',
    ].join('\n')
    const asked = say(chatId, text, from)
    return shown(`${await whole(asked, 'the tools have ended')}\n${await promptFor(g, asked)}`)
  }

  acceptance(
    'A10',
    'none of it reaches an agent of another goal by its own token, nor anybody without one',
    async () => {
      const answers = await Promise.all(
        probes().map(async ([tool, given]) => {
          const filled = JSON.parse(json(given).replaceAll('$request', request)) as object
          return json((await byHttp(g, auditor, tool, filled)).body)
        }),
      )
      expect(shown(answers.join('\n'))).toEqual([])
      for (const path of [
        `/requests/${request}`,
        `/api/v1/requests/${request}`,
        '/api/v1/grants',
        '/',
        '/metrics',
        '/board',
      ]) {
        const response = await fetch(g.gateway.url + path, { redirect: 'manual' })
        expect(shown(await response.text()), path).toEqual([])
        const agents = await fetch(g.gateway.url + path, {
          redirect: 'manual',
          headers: { authorization: `Bearer ${auditor}` },
        })
        expect(shown(await agents.text()), path).toEqual([])
      }
    },
  )

  acceptance('A10', 'a goal is shown to a group by its grant alone, and no longer when that is withdrawn', async () => {
    const wanted = { agent: 'manager', openId: g.ids.alice, scope: { kind: 'goal', goal: 'nest' }, effects: ['read'] }
    const given = { ...wanted, conversation: groupConversation, reason: 'the group plans with it', days: null }
    const { grant } = await post(g, '/api/v1/grants', given)
    expect((await leaks(g.ids.group)).toSorted()).toEqual([canary('Todo'), canary('Vision')].toSorted())
    // A grant of one conversation is none of another, and nothing was written by any of these questions.
    expect(await leaks(g.ids.topicGroup)).toEqual([])
    expect(await g.db.sql`select 1 from work.todos where title = 'from outside'`).toHaveLength(0)
    await post(g, `/api/v1/grants/${String(grant)}/revoke`, {})
    const asked = say(
      g.ids.group,
      ['!tool todo_list {"goal":"nest"}', '!tool vision_read {"goal":"nest"}', '!reply after it'].join('\n'),
    )
    const answer = await whole(asked, 'after it')
    // Nor is it told to the session that begins without it, by what was answered before.
    expect(shown(`${answer}\n${await promptFor(g, asked)}`)).toEqual([])
  })

  acceptance(
    'A10',
    'nor after the session was replaced, somebody came into the chat, or a permission was revoked',
    async () => {
      const fresh = world().addChat({ mode: 'group', name: 'Fresh', members: [g.ids.alice] }).chatId
      expect(await leaks(fresh)).toEqual([])
      const { items } = (await (await g.api('/api/v1/sessions?live=true&limit=100')).json()) as {
        items: readonly { id: string }[]
      }
      for (const { id } of items) await post(g, `/api/v1/sessions/${id}/replace`, {})
      const { items: grants } = (await (await g.api('/api/v1/grants')).json()) as {
        items: readonly { id: string; revokedAt: number | null }[]
      }
      for (const { id } of grants.filter(({ revokedAt }) => revokedAt === null))
        await post(g, `/api/v1/grants/${id}/revoke`, {})
      const joined = world().addChat({ mode: 'group', name: 'Joined', members: [g.ids.alice, g.ids.bob, carol] }).chatId
      for (const chat of [fresh, joined, g.ids.topicGroup]) expect(await leaks(chat)).toEqual([])
      expect(await leaks(joined, carol)).toEqual([])
    },
  )

  acceptance('A10', 'an owner who is none any more hears none of it either', async () => {
    await g.db.sql`delete from collab.principals where open_id = ${g.ids.alice}`
    const asked = say(g.ids.group, script())
    await disposed(g)
    expect(await g.db.sql`select 1 from collab.work_requests where origin_message = ${asked.id}`).toEqual([])
    expect(shown(to(asked).map(textOf).join('\n'))).toEqual([])
  })

  acceptance('A10', 'none of it stands in logs, metrics, jobs, or a prompt of another conversation', async () => {
    expect(shown(lines.join('\n'))).toEqual([])
    expect(shown(await (await g.api('/metrics')).text())).toEqual([])
    const jobs = await g.db.sql<{ row: string }[]>`
      select table_schema || '.' || table_name as row from information_schema.tables where table_schema in ('bullmq')`
    for (const { row } of jobs) {
      const rows = await g.db.sql.unsafe(`select t::text as text from ${row} t`)
      expect(shown(rows.map((one) => String(one['text'])).join('\n')), row).toEqual([])
    }
    expect(shown(json(await g.db.sql`select * from collab.wakes`))).toEqual([])
    const own = await g.db.sql<{ id: string }[]>`
      select id from collab.work_requests where conversation in (
        ${conversation})`
    const ownIds = own.map(({ id }) => id)
    const others = recordedPrompts(g.dataDir).filter(
      ({ text }) => !ownIds.some((id) => text.includes(`Request ${id},`)),
    )
    expect(others.length).toBeGreaterThan(5)
    expect(others.map(({ text }) => shown(text)).flat()).toEqual([])
    expect(shown(readFileSync(notes, 'utf8'))).toEqual([canary('Notes')])
  })
})
