import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { must } from '../../src/lib/assert.js'
import { codexBinary, hasCodex } from '../kit/codex-bench.js'

type Schema = { readonly [key: string]: unknown }

/** Methods that we call, with the fields that we send and those that we read of the answer. */
const calls = [
  [
    'thread/start',
    ['cwd', 'model', 'sandbox', 'approvalPolicy', 'developerInstructions', 'config'],
    ['thread', 'model', 'reasoningEffort'],
  ],
  [
    'thread/resume',
    ['threadId', 'excludeTurns', 'cwd', 'model', 'sandbox', 'config'],
    ['thread', 'model', 'reasoningEffort'],
  ],
  ['thread/turns/list', ['threadId', 'limit', 'itemsView', 'sortDirection', 'cursor'], ['data', 'nextCursor']],
  ['turn/start', ['threadId', 'clientUserMessageId', 'input', 'model', 'effort'], ['turn']],
  ['turn/steer', ['threadId', 'expectedTurnId', 'clientUserMessageId', 'input'], ['turnId']],
  ['turn/interrupt', ['threadId', 'turnId'], []],
  ['thread/backgroundTerminals/clean', ['threadId'], []],
] as const

/** Notifications, with the fields that we read. */
const told = [
  ['turn/started', ['threadId', 'turn']],
  ['turn/completed', ['threadId', 'turn']],
  ['item/started', ['threadId', 'turnId', 'item']],
  ['item/completed', ['threadId', 'turnId', 'item']],
  ['item/agentMessage/delta', ['threadId', 'turnId']],
  ['item/reasoning/textDelta', ['threadId', 'turnId']],
  ['item/reasoning/summaryTextDelta', ['threadId', 'turnId']],
  ['thread/tokenUsage/updated', ['threadId', 'turnId', 'tokenUsage']],
  ['error', ['threadId', 'turnId', 'error', 'willRetry']],
] as const

/** What codex asks, with what we read; and the fields of our answer. */
const asked = [
  [
    'item/commandExecution/requestApproval',
    ['threadId', 'itemId', 'kind', 'command', 'cwd', 'reason', 'networkApprovalContext', 'additionalPermissions'],
    'CommandExecutionRequestApprovalResponse',
    ['decision'],
  ],
  [
    'item/fileChange/requestApproval',
    ['threadId', 'itemId', 'reason', 'grantRoot'],
    'FileChangeRequestApprovalResponse',
    ['decision'],
  ],
  [
    'mcpServer/elicitation/request',
    ['threadId', 'serverName', '_meta'],
    'McpServerElicitationRequestResponse',
    ['action', 'content', '_meta'],
  ],
  [
    'item/permissions/requestApproval',
    ['threadId', 'permissions', 'reason'],
    'PermissionsRequestApprovalResponse',
    ['permissions', 'scope'],
  ],
] as const

const optedOut = [
  'turn/diff/updated',
  'item/fileChange/outputDelta',
  'item/fileChange/patchUpdated',
  'account/rateLimits/updated',
]

describe.skipIf(!hasCodex)('the protocol of the installed codex', () => {
  let folder = ''
  let all: Schema = {}
  let requests: ReadonlyMap<string, Schema>
  let questions: ReadonlyMap<string, Schema>
  let notices: ReadonlyMap<string, Schema>
  beforeAll(() => {
    folder = mkdtempSync('/var/tmp/lark-manager-schema-')
    const args = ['app-server', 'generate-json-schema', '--experimental', '--out', folder]
    execFileSync(codexBinary ?? '', args, { env: { PATH: process.env['PATH'] ?? '', HOME: folder }, stdio: 'ignore' })
    const file = (name: string): Schema => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Schema
    requests = methodsOf(file('ClientRequest.json'))
    questions = methodsOf(file('ServerRequest.json'))
    notices = methodsOf(file('ServerNotification.json'))
    all = file('codex_app_server_protocol.schemas.json')
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.each(calls)('%s takes what we send and gives what we read', (method, sent, read) => {
    expect(missing(must(requests.get(method), method), sent)).toEqual([])
    const response = `${method.split('/').map(capital).join('')}Response`
    expect(missing(definition(all, response), read)).toEqual([])
  })

  test.each(told)('%s tells what we read', (method, read) => {
    expect(missing(must(notices.get(method), method), read)).toEqual([])
  })

  test.each(asked)('%s tells what we read, and takes our answer', (method, read, response, sent) => {
    expect(missing(must(questions.get(method), method), read)).toEqual([])
    expect(missing(definition(all, response), sent)).toEqual([])
  })

  test('the comparison can fail', () => {
    expect(missing(must(requests.get('turn/start'), 'turn/start'), ['threadId', 'noSuchField'])).toEqual([
      'noSuchField',
    ])
    expect(requests.has('turn/no-such-method')).toBe(false)
  })

  test('what we do not want to hear of exists', () => {
    expect(optedOut.filter((method) => !notices.has(method))).toEqual([])
  })

  test.each([
    ['SandboxMode', ['read-only', 'workspace-write', 'danger-full-access']],
    ['TurnStatus', ['completed', 'interrupted', 'failed']],
    ['CommandExecutionApprovalDecision', ['accept', 'decline']],
    ['FileChangeApprovalDecision', ['accept', 'decline']],
    ['McpServerElicitationAction', ['accept', 'decline']],
    ['MessagePhase', ['final_answer']],
    ['PermissionGrantScope', ['turn']],
    [
      'CodexErrorInfo',
      [
        'contextWindowExceeded',
        'sessionBudgetExceeded',
        'usageLimitExceeded',
        'rateLimitExceeded',
        'unauthorized',
        'httpStatusCode',
      ],
    ],
    [
      'ThreadItem',
      [
        'agentMessage',
        'reasoning',
        'commandExecution',
        'fileChange',
        'mcpToolCall',
        'collabAgentToolCall',
        'subAgentActivity',
      ],
    ],
    ['UserInput', ['text', 'localImage', 'path']],
  ])('%s has the words that we know', (name, words) => {
    const text = JSON.stringify(definition(all, name))
    expect(words.filter((word) => !text.includes(`"${word}"`))).toEqual([])
  })
})

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** The parameters of each method of a schema that is one of many. */
function methodsOf(schema: Schema): ReadonlyMap<string, Schema> {
  const found = new Map<string, Schema>()
  for (const one of (schema['oneOf'] ?? schema['anyOf'] ?? []) as readonly Schema[]) {
    const { method, params } = one['properties'] as { method: { enum: string[] }; params?: Schema }
    const reference = params?.['$ref']
    const name = typeof reference === 'string' ? must(reference.split('/').at(-1), 'a name') : null
    found.set(method.enum[0] ?? '', name === null ? (params ?? {}) : definition(schema, name))
  }
  return found
}

function definition(schema: Schema, name: string): Schema {
  const definitions = (schema['definitions'] ?? {}) as Schema
  const own = definitions[name] ?? (definitions['v2'] as Schema | undefined)?.[name]
  return must(own as Schema | undefined, name)
}

/** Fields that an object does not have, in any of its forms. */
function missing(schema: Schema, names: readonly string[]): readonly string[] {
  const forms = [schema, ...(['oneOf', 'anyOf', 'allOf'] as const).flatMap((key) => (schema[key] ?? []) as Schema[])]
  const known = new Set(forms.flatMap((form) => Object.keys((form['properties'] ?? {}) as Schema)))
  return names.filter((name) => !known.has(name))
}
