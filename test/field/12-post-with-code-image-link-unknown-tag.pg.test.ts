import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { until, type TestGateway } from '../kit/gateway.js'
import { lineLog } from '../kit/line-log.js'
import { recordedPrompts, recordingEnv, type RecordedPrompt } from '../kit/recording.js'
import { caseEvents, caseGateway, caseIds, staged } from './replay.js'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const { log, lines } = lineLog()
let g: TestGateway
let prompt: RecordedPrompt
beforeAll(async () => {
  g = await caseGateway({ env: recordingEnv, logger: log })
  const { world } = g.served.sandbox
  const event = must(caseEvents('12-post-with-code-image-link-unknown-tag')[0], 'the event')
  const key = world.upload({ from: caseIds.owner, fileName: 'screen.png', bytes: png, kind: 'image' })
  // The key of the picture is the sandbox's own: only it can hand the bytes out.
  const content = must(event.event.message, 'a message').content.replace('img_test_c12', key)
  const said = staged(g.served, event, {}, content)
  world.pushEvent(said.envelope)
  prompt = await until(() => recordedPrompts(g.dataDir)[0], 'the prompt')
  await until(() => g.answers(caseIds.groupA)[0], 'the answer')
  world.pushEvent({ ...said.envelope, header: { ...said.envelope.header, event_id: 'evt_om_c12_again' } })
  await until(async () => (await g.db.sql`select 1 from collab.ingress_duplicates`).length === 1, 'the second sighting')
})
afterAll(() => g.stop())

describe('case 12, a rich text reaches the agent', () => {
  test('title, text, link, code, picture, unknown tag and markdown are kept in their order', () => {
    const inOrder = [
      '标题',
      'why does this fail ',
      '[log](https://example.test/log?a=1&b=2)',
      '```go\nif a < b && c > d {\n\treturn "`x`"\n}\n```',
      '[image 1]',
      'unseen tag text',
      '**note** *x*',
    ]
    let from = 0
    for (const piece of inOrder) {
      const at = prompt.text.indexOf(piece, from)
      expect(at, piece).toBeGreaterThanOrEqual(from)
      from = at + piece.length
    }
    expect(prompt.text).not.toMatch(/&(lt|gt|amp|quot);/u)
  })

  test('the picture lies where the prompt says before the turn begins, and in the artifact store', async () => {
    expect(prompt.files).toHaveLength(1)
    const [file] = prompt.files
    expect(file?.size).toBe(png.length)
    expect(existsSync(file?.path ?? '')).toBe(true)
    expect(readFileSync(file?.path ?? '')).toEqual(png)
    const [kept] = await g.db.sql<{ size: number; mediaType: string; at: number }[]>`
      select size, media_type as "mediaType", stored_at as at from collab.artifacts`
    expect(kept).toMatchObject({ size: png.length, mediaType: 'image/png' })
    const [turn] = await g.db.sql<{ at: number }[]>`select started_at as at from collab.turns`
    expect(must(kept, 'the artifact').at).toBeLessThanOrEqual(must(turn, 'the turn').at)
  })

  test("the bot's at-node counted as a mention: the message has its answer", () => {
    expect(g.answers(caseIds.groupA)).toHaveLength(1)
  })

  test('the unknown tag is logged once for two deliveries', () => {
    expect(lines.filter((line) => line.includes('tag future_widget'))).toHaveLength(1)
  })
})
