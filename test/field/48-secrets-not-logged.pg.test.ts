import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until, openPlatform, type Platform } from '../kit/platform.js'
import { startProcess, type GatewayProcess } from '../kit/process.js'
import { scriptedAgent } from '../kit/scripted-command.js'

/** Each stands in a place from which it could get into a line, a page, a label or a chat. */
const secrets = {
  appSecret: 'SECRET_UNIQ_1_app',
  adminToken: 'SECRET_UNIQ_2_admin_token_0123456789',
  agentKey: 'SECRET_UNIQ_3_agent_key',
  message: 'SECRET_UNIQ_4_words_of_the_owner',
  answer: 'SECRET_UNIQ_5_words_of_the_agent',
  fileName: 'SECRET_UNIQ_6_report.txt',
  fileText: 'SECRET_UNIQ_7_bytes_of_a_file',
} as const
/** What may be said in the chat of the owner or on their own pages, and nowhere else. */
const privateWords: readonly string[] = [secrets.message, secrets.answer, secrets.fileName, secrets.fileText]

let p: Platform
let gateway: GatewayProcess
const surfaces = new Map<string, string>()
beforeAll(async () => {
  const command = await scriptedAgent()
  p = await openPlatform({
    app: { appSecret: secrets.appSecret },
    env: {
      APPROVAL_WAIT_MS: '0',
      LARK_APP_SECRET: secrets.appSecret,
      ADMIN_TOKEN: secrets.adminToken,
      AGENT_API_KEY: secrets.agentKey,
      MANAGER_ENDPOINT: 'acp',
      MANAGER_COMMAND: command(),
      LOG_LEVEL: 'debug',
      TURN_TRIES: '1',
    },
  })
  gateway = await startProcess(p)
  const { world, faults } = p.served.sandbox
  const say = (text: string) => world.say({ chatId: p.ids.dm, from: p.ids.alice, text: `${secrets.message}\n${text}` })
  const answered = (id: string) => p.answers(p.ids.dm).some((one) => one.parentId === id)
  const rounds = [
    () => say(`!reply ${secrets.answer}`),
    () => say('!env'),
    () => say(`!ask cat /etc/${secrets.message}`),
    () => say('!fail garbage'),
    () => say('!fail exit'),
    () =>
      world.sayFile({
        chatId: p.ids.dm,
        from: p.ids.alice,
        fileName: secrets.fileName,
        bytes: Buffer.from(secrets.fileText),
        kind: 'file',
      }),
    // A token that stops working, a refusal that repeats our words, and a line that breaks.
    () => {
      faults.expireToken()
      faults.add({
        api: 'message.reply',
        times: 1,
        do: { kind: 'code', code: 230099, msg: `bad card: ${secrets.answer}` },
      })
      return say(`!reply **${secrets.answer}**\n\n# and more`)
    },
    () => {
      faults.add({ api: 'message.reply', times: 1, do: { kind: 'accept-then-reset' } })
      faults.add({ api: 'reaction.create', times: 1, do: { kind: 'status', status: 500 } })
      return say(`!reply ${secrets.answer}`)
    },
  ]
  for (const round of rounds) {
    const said = round()
    await until(() => answered(said.id), 'an answer or a notice')
  }
  // Malformed on purpose; an event's id is an id, and may be written.
  world.pushEvent({
    schema: '2.0',
    header: { event_id: 'evt_malformed' },
    event: { [secrets.message]: secrets.answer },
  })
  await p.served.sandbox.settled()
  const bearer = { authorization: `Bearer ${secrets.adminToken}` }
  const get = async (path: string, headers: Record<string, string> = bearer) =>
    surfaces.set(path, await (await fetch(`${gateway.url}${path}`, { headers })).text())
  await get('/metrics')
  await get('/readyz', {})
  await get('/healthz', {})
  await get('/api/v1/doctor')
  await get('/sign-in', {})
  await get('/api/v1/requests', { authorization: `Bearer ${secrets.message}` })
  for (const queue of ['request', 'delivery', 'upkeep']) {
    for (const status of ['completed', 'failed']) {
      await get(`/queues/api/queues?activeQueue=${queue}&status=${status}&page=1&jobsPerPage=50`)
    }
  }
  await gateway.stop()
  surfaces.set('the log', gateway.log())
  surfaces.set(
    'the jobs as they are stored',
    JSON.stringify(await p.db.sql`select id, data, return_value, failed_reason, stacktrace, progress from bullmq.job`),
  )
  surfaces.set('the wakes', JSON.stringify(await p.db.sql`select * from collab.wakes`))
  surfaces.set('the audit', JSON.stringify(await p.db.sql`select * from collab.audit_lines`))
})
afterAll(async () => {
  await gateway.stop()
  await p.close()
})

describe('case 48, hostile and private content on every way through', () => {
  test('no log line, metric, dashboard job, doctor line or error text holds a secret or a private word', () => {
    expect(surfaces.size).toBeGreaterThanOrEqual(12)
    for (const [name, text] of surfaces) {
      expect(text.length, name).toBeGreaterThan(0)
      for (const secret of Object.values(secrets)) expect(text.includes(secret), `${secret} in ${name}`).toBe(false)
    }
  })

  test('no log line, metric, dashboard job or doctor line names a private path', () => {
    for (const [name, text] of surfaces) {
      if (name === '/api/v1/doctor') continue
      expect(text.includes(p.dataDir), name).toBe(false)
    }
  })

  test('the chat holds no credential, whatever the agent printed', () => {
    const said = p.answers(p.ids.dm).map((message) => message.content)
    expect(said.length).toBeGreaterThanOrEqual(8)
    for (const text of said) {
      for (const secret of [secrets.appSecret, secrets.adminToken, secrets.agentKey]) expect(text).not.toContain(secret)
      expect(text).not.toContain(p.dataDir)
    }
    // The agent was asked for its environment: nothing of ours was in it.
    const environment = said.find((text) => text.includes('PATH')) ?? ''
    expect(environment).not.toMatch(/ADMIN_TOKEN|LARK_APP_SECRET|DATABASE_URL/u)
    expect(privateWords.some((word) => said.join('\n').includes(word))).toBe(true)
  })
})
