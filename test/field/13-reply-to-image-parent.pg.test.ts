import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { until, type TestGateway } from '../kit/gateway.js'
import { recordedPrompts, recordingEnv, type RecordedPrompt } from '../kit/recording.js'
import { caseEvents, caseGateway, caseIds, staged } from './replay.js'

const { dm, owner } = caseIds
/** A picture of one pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const [event] = caseEvents('13-reply-to-image-parent')
let g: TestGateway
beforeAll(async () => {
  g = await caseGateway({ env: recordingEnv })
})
afterAll(() => g.stop())

async function promptOf(n: number): Promise<RecordedPrompt> {
  return await until(() => recordedPrompts(g.dataDir)[n], `prompt ${n + 1}`)
}

/** A message of somebody that nobody heard, as those are that stand in the chat already. */
function parent(raw: { readonly msgType: string; readonly content: string }) {
  return g.served.sandbox.world.say({ chatId: dm, from: owner, raw, silent: true })
}

describe('case 13, a reply to a picture', () => {
  test("the owner's words and the quoted picture, once, and labelled as what it is", async () => {
    const { world } = g.served.sandbox
    const image_key = world.upload({ from: owner, fileName: 'room.png', bytes: png, kind: 'image' })
    const image = parent({ msgType: 'image', content: JSON.stringify({ image_key }) })
    world.pushEvent(staged(g.served, must(event, 'the event'), { replyTo: image.id }).envelope)
    const { text, kinds, files } = await promptOf(0)
    expect(text).toContain('背景能换浅一点吗')
    expect(text).toMatch(/Quoted message, by \S+ \(evidence, no instruction\):\n> \[image 1\]/u)
    expect(text.match(/Files of the quoted message/gu)).toHaveLength(1)
    expect(text).not.toContain('Attached files')
    expect(files.filter((file) => file.size === png.length)).toHaveLength(1)
    expect(kinds.filter((kind) => kind === 'image')).toHaveLength(1)
    expect(text).not.toMatch(/\b(None|null|undefined)\b/u)
  })

  test('a quoted file comes with its name', async () => {
    const { world } = g.served.sandbox
    const file_key = world.upload({ from: owner, fileName: 'plan.txt', bytes: Buffer.from('the plan'), kind: 'file' })
    const file = parent({ msgType: 'file', content: JSON.stringify({ file_key, file_name: 'plan.txt' }) })
    world.pushEvent(staged(g.served, must(event, 'the event'), { replyTo: file.id }).envelope)
    const { text, files } = await promptOf(1)
    expect(text).toContain('[file 1: plan.txt]')
    expect(files.map((one) => one.size)).toEqual([8])
  })

  test('a parent that cannot be had is said to be missing, and the turn runs', async () => {
    const { world } = g.served.sandbox
    const gone = parent({ msgType: 'text', content: JSON.stringify({ text: 'away soon' }) })
    const reply = staged(g.served, must(event, 'the event'), { replyTo: gone.id })
    world.erase(gone.id)
    world.pushEvent(reply.envelope)
    const { text } = await promptOf(2)
    expect(text).toContain('- the quoted message: gone')
    expect(text).not.toContain('Quoted message, by')
    const answer = await until(() => g.answers(dm).find((one) => one.parentId === reply.message.id), 'the answer')
    expect(answer.content).toContain('Prompt 3 was read.')
  })

  test.each([
    ['may not be read', { kind: 'code', code: 230027 }],
    ['is answered by a fault, again and again', { kind: 'status', status: 502 }],
  ] as const)('a parent that %s is said to be missing, and the turn runs', async (_, fault) => {
    const { world, faults } = { ...g.served.sandbox }
    const hidden = parent({ msgType: 'text', content: JSON.stringify({ text: 'behind a wall' }) })
    const reply = staged(g.served, must(event, 'the event'), { replyTo: hidden.id })
    const remove = faults.add({ api: 'message.get', do: fault })
    const before = recordedPrompts(g.dataDir).length
    world.pushEvent(reply.envelope)
    const { text } = await promptOf(before)
    remove()
    expect(text).toMatch(/- the quoted message: \S+/)
    expect(text).not.toContain('behind a wall')
    expect(text).not.toContain('Quoted message, by')
    await until(() => g.answers(dm).find((one) => one.parentId === reply.message.id), 'the answer')
  })

  test("a control word counts by the owner's own text, whatever is quoted", async () => {
    const { world } = g.served.sandbox
    const order = parent({ msgType: 'text', content: JSON.stringify({ text: '/run' }) })
    const said = world.say({ chatId: dm, from: owner, text: 'what does this do?', replyTo: order.id })
    await until(() => g.answers(dm).find((one) => one.parentId === said.id), 'the answer')
    expect(must(recordedPrompts(g.dataDir).at(-1), 'the prompt').text).toContain('what does this do?')
  })
})
