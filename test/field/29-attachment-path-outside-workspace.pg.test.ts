import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textOf, until, type TestGateway } from '../kit/gateway.js'
import { scriptedAgent } from '../kit/scripted-command.js'
import { caseGateway, caseIds } from './replay.js'

const { owner, dm } = caseIds
const input = new URL('../cases/29-attachment-path-outside-workspace/input.json', import.meta.url)
const { result } = JSON.parse(readFileSync(input, 'utf8')) as {
  result: { text: string; attachments: readonly string[] }
}
/** The note beside a link says what it is; it is not part of the path. */
const paths = result.attachments.map((path) => path.replace(/ \(.*$/, ''))

let g: TestGateway
beforeAll(async () => {
  g = await caseGateway({ env: { MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: (await scriptedAgent())() } })
  const question = [...paths.map((path) => `!attach ${path}`), `!reply ${result.text}`].join('\n')
  g.served.sandbox.world.say({ chatId: dm, from: owner, text: question })
  await until(() => g.answers(dm).length === 3, 'the answer, its file and what was left out')
  await g.quiet()
})
afterAll(() => g.stop())

describe('case 29, files outside of the workspace', () => {
  test('the text is delivered, and the one file that lies inside is uploaded', () => {
    const [text, file] = g.answers(dm)
    expect(textOf(text!)).toContain(result.text)
    expect(file?.msgType).toBe('file')
    expect(g.served.sandbox.world.uploads().map((upload) => upload.fileName)).toEqual(['report.pdf'])
  })

  test('the others are listed to the owner by their last name alone; no path of the host is in the chat', () => {
    const said = textOf(g.answers(dm)[2]!)
    for (const name of ['passwd', 'id_ed25519', 'link-to-outside', 'x.csv']) expect(said).toContain(name)
    for (const answer of g.answers(dm)) {
      expect(answer.content).not.toMatch(/\/etc|\/root|\.ssh|other-agent|workspaces|\/tmp|\.\./)
    }
  })

  test('each refusal is on record, with why and without the path', async () => {
    const lines = await g.db.sql<{ who: string; act: string; subject: string }[]>`
      select who, act, subject from collab.audit_lines where act like 'file left out%'`
    expect(lines).toHaveLength(4)
    expect(lines.every((line) => line.who === 'manager')).toBe(true)
    expect(JSON.stringify(lines)).not.toMatch(/etc|ssh|csv/)
  })
})
