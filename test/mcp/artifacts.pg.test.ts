import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientFor } from '../../src/app/client.js'
import { readEnv } from '../../src/app/env.js'
import { runCli } from '../../src/cli/main.js'
import { must } from '../../src/lib/assert.js'
import { sha256 } from '../../src/lib/digest.js'
import { office, type Office } from '../acceptance/kit.js'
import { acceptance } from '../kit/acceptance.js'
import { testGateway, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'

let g: TestGateway
let desk: Office
/** The home of an agent elsewhere: nothing of the gateway's is in it. */
let home: string
let token: string

beforeAll(async () => {
  const command = (await scriptedAgent())()
  g = await testGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: command } })
  desk = office(() => ({ ...g, url: g.gateway.url }))
  home = mkdtempSync(join(tmpdir(), 'agent-home-'))
  await desk.post('/api/v1/goals', { id: 'g1', title: 'Ship it', direction: 'north', acceptance: 'it is there' })
  for (const agent of ['laptop', 'other']) {
    const does = { role: 'reader', responsibility: `${agent} reads pictures`, host: 'elsewhere', abilities: [] }
    await desk.post('/api/v1/agents', { ...does, agent, goal: 'g1', endpoint: { kind: 'attached' } })
  }
  token = String((await desk.post('/api/v1/agents/laptop/tokens', {}))['token'])
})
afterAll(async () => {
  rmSync(home, { recursive: true })
  await g.stop()
})

/** The command line as it runs elsewhere: an address, a token of its own, a disk of its own. */
async function run(words: readonly string[], by = token) {
  const out: string[] = []
  const err: string[] = []
  const io = clientFor(readEnv({ PUBLIC_URL: g.gateway.url, LARK_MANAGER_AGENT_TOKEN: by, DATA_DIR: home, LANG: 'en' }))
  const code = await runCli(words, {
    ...io,
    stdout: (text) => void out.push(text),
    stderr: (text) => void err.push(text),
  })
  return { code, out: out.join(''), err: err.join('') }
}

const json = async (words: readonly string[]) =>
  JSON.parse((await run([...words, '--json'])).out) as Record<string, never>

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

interface Entry {
  readonly request: string
  readonly revision: number
  readonly brief: string
  readonly asks: readonly { readonly id: string }[]
}

const ask = (question: string) =>
  `!unless returned tool ask_agent {"request":"$request","receiver":"laptop","intent":"consultation","asks":"$asks","question":"${question}","brief":"It is a gauge.","reason":"reads pictures"}`

describe('files of a whole gateway', () => {
  test('the manager puts one and cites it in its result: it stands behind the answer in the chat', async () => {
    const said = desk.say(
      [
        '!assess accepted mine',
        '!tool artifact_put {"request":"$request","fileName":"../说明.md","text":"# 结论：通过"}',
        '!tool report_result {"request":"$request","covers":"$asks","text":"The file says it.","artifacts":["$last.artifact"]}',
      ].join('\n'),
    )
    const parts = await until(() => {
      const found = g.answers(g.ids.dm).filter((one) => one.parentId === said.id)
      return found.some(({ msgType }) => msgType === 'file') ? found : null
    }, 'the file')
    const { file_key: key } = JSON.parse(
      must(
        parts.find(({ msgType }) => msgType === 'file'),
        '',
      ).content,
    ) as {
      file_key: string
    }
    const upload = g.served.sandbox.world.uploads().find((one) => one.key === key)
    expect(upload?.fileName).toBe('说明.md')
    expect(Buffer.from(must(upload, 'the upload').bytes).toString()).toBe('# 结论：通过')
  })

  acceptance(
    'A14',
    'a picture of the owner’s is fetched from elsewhere by a scoped token, whole; what was found goes back by a file',
    async () => {
      const picture = Buffer.concat([pixel, Buffer.alloc(2 * 1024 * 1024, 7)])
      const { world } = g.served.sandbox
      const key = world.upload({ from: g.ids.alice, fileName: 'gauge.png', bytes: picture, kind: 'image' })
      const asked = world.say({
        chatId: g.ids.dm,
        from: g.ids.alice,
        post: { content: [[{ tag: 'text', text: ask('What does it show?') }], [{ tag: 'img', image_key: key }]] },
      })
      const root = await desk.opened(asked)
      const entry = await until(async () => {
        const { items } = (await json(['inbox', 'read'])) as unknown as { items: readonly Entry[] }
        return items.find(({ brief }) => brief.includes(root.origin.messageId))
      }, 'the entry in the inbox')
      const artifact = must(
        /- artifact (\S+): .*\(image\/png, (\d+) bytes, sent with/u.exec(entry.brief)?.[1],
        entry.brief,
      )

      const inline = await run(['artifact', 'get', entry.request, artifact])
      expect([inline.code, inline.err]).toEqual([1, expect.stringContaining('--out')])
      const copy = join(home, 'gauge.png')
      const saved = await run(['artifact', 'get', entry.request, artifact, '--out', copy])
      expect([saved.code, saved.out]).toEqual([0, `${picture.length}  sha256 ${sha256(picture)}\n`])
      expect(readFileSync(copy).equals(picture)).toBe(true)
      const stranger = String((await desk.post('/api/v1/agents/other/tokens', {}))['token'])
      const denied = await run(['artifact', 'get', entry.request, artifact, '--out', join(home, 'x')], stranger)
      expect([denied.code, denied.err]).toEqual([1, expect.stringContaining('nothing of this name')])

      writeFileSync(join(home, 'finding.txt'), `sevens: ${readFileSync(copy).filter((byte) => byte === 7).length}\n`)
      const put = await json(['artifact', 'put', entry.request, join(home, 'finding.txt')])
      expect(put).toMatchObject({ outcome: 'accepted', fileName: 'finding.txt', mediaType: 'text/plain' })
      const of = ['--ask', must(entry.asks[0], 'an ask').id]
      const on = ['inbox', 'assess', entry.request, '--revision', String(entry.revision), ...of]
      expect((await run([...on, '--judgment', 'accepted', '--reason', 'mine'])).out).toContain('accepted')
      const cited = ['--artifact', String(put['artifact'])]
      expect((await run(['inbox', 'report', entry.request, 'It shows sevens.', ...of, ...cited])).out).toBe(
        'accepted\n',
      )
      const child = await desk.when(entry.request, ({ results }) => results.length > 0, 'the result')
      expect(child.results[0]?.files).toEqual([
        expect.objectContaining({ fileName: 'finding.txt', digest: sha256(readFileSync(join(home, 'finding.txt'))) }),
      ])
    },
  )
})
