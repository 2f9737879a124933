import { describe, expect, test } from 'vitest'
import { configOf, type Config } from '../../src/app/config.js'
import { readEnv } from '../../src/app/env.js'
import { settings } from '../../src/app/settings.js'

const app = { LARK_APP_ID: 'cli_a1b2c3d4e5f60718', LARK_APP_SECRET: 'app-secret' }
const split = { ...app, DATABASE_URL: 'postgres://lark:word@127.0.0.1/lark', ADMIN_TOKEN: 'x'.repeat(32) }

function problems(env: Record<string, string>, role = 'all'): readonly string[] {
  const outcome = configOf(readEnv(env), role)
  return outcome.ok ? [] : outcome.problems
}

function config(env: Record<string, string>, role = 'all'): Config {
  const outcome = configOf(readEnv(env), role)
  if (!outcome.ok) throw new Error(outcome.problems.join('\n'))
  return outcome.config
}

describe('addresses', () => {
  const secret = 'hunter2-of-the-owner'

  test.each([
    ['DATABASE_URL', `postgres://lark:${secret}/x@y@db:54x2/lark`],
    ['DATABASE_URL', `mysql://lark:${secret}@db/lark`],
    ['DATABASE_URL', `postgres:lark:${secret}@db/lark`],
    ['DATABASE_URL', `postgres://lark:${secret}%zz@db/lark`],
    ['DATABASE_URL', secret],
    ['DATABASE_DIRECT_URL', `http://lark:${secret}@db/lark`],
    ['REDIS_URL', `http://:${secret}@redis:6379`],
    ['REDIS_URL', `redis://:${secret}@redis:port`],
    ['PUBLIC_URL', `ftp://${secret}`],
    ['PUBLIC_URL', secret],
    ['LARK_BASE_URL', secret],
  ])('a wrong %s is named and not repeated', (name, value) => {
    const found = problems({ DATABASE_URL: 'postgres://lark@db/lark', [name]: value })
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(new RegExp(`^${name} must be`))
    expect(found[0]).not.toContain(secret)
  })

  test.each([
    ['DATABASE_URL', 'postgres://lark:a%40b@db:6432/lark?sslmode=require&pgbouncer=true'],
    ['DATABASE_URL', 'postgresql://lark@[::1]/lark'],
    ['REDIS_URL', 'redis://redis:6379/1'],
    ['REDIS_URL', 'rediss://:word@redis:6380'],
    ['PUBLIC_URL', 'https://manager.example.com/'],
    ['LARK_BASE_URL', 'http://127.0.0.1:7070'],
  ])('%s may be %s', (name, value) => {
    expect(problems({ [name]: value })).toEqual([])
  })
})

describe('processes of one role', () => {
  test.each(['gateway', 'worker'])('%s starts with a database, an app and a token', (role) => {
    expect(config(split, role).role).toBe(role)
  })

  test.each(
    ['gateway', 'worker'].flatMap((role) =>
      (
        [
          ['DATABASE_URL', 'the embedded database belongs to one process'],
          ['ADMIN_TOKEN', 'the same for every process'],
        ] as const
      ).map(([name, because]) => [role, name, because] as const),
    ),
  )('%s refuses to start without %s and says why', (role, name, because) => {
    const { [name]: _, ...rest } = split
    const found = problems(rest, role)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(`--role ${role} needs ${name}`)
    expect(found[0]).toContain(because)
  })

  test.each(['gateway', 'worker'])('%s refuses to start on the sandbox: each process would have its own', (role) => {
    const { DATABASE_URL, ADMIN_TOKEN } = split
    expect(problems({ DATABASE_URL, ADMIN_TOKEN }, role)).toEqual([
      expect.stringContaining(`--role ${role} needs LARK_APP_ID and LARK_APP_SECRET`),
    ])
  })

  test('one process alone needs nothing', () => {
    expect(problems({})).toEqual([])
  })
})

describe('values set to nothing', () => {
  test('they count as not set', () => {
    const empty = Object.fromEntries(Object.values(settings).map(({ env }) => [env, ' ']))
    const reactions = { LARK_REACTION_RECEIVED: 'Get', LARK_REACTION_DONE: '', LARK_REACTION_FAILED: 'CrossMark' }
    expect(config({ ...empty, ...reactions })).toEqual(config({}))
    expect(readEnv({ HOST: '', DATA_DIR: '' }).given.size).toBe(0)
  })

  test('a reaction is turned off by it', () => {
    const { reactions } = config({ LARK_REACTION_RECEIVED: '', LARK_REACTION_FAILED: '' })
    expect(reactions).toEqual({ received: '', done: '', failed: '' })
  })

  test('an empty name does not contradict its other name', () => {
    const outcome = config({ MANAGER_ENDPOINT: '', LOOPX_MANAGER_ENDPOINT: 'acp', MANAGER_COMMAND: 'agent acp' })
    expect(outcome.endpoint).toBe('acp')
  })
})

describe('chats that are wider than the default', () => {
  test('are lists of chat ids; blanks and empty places do not count', () => {
    expect(config({ LARK_AT_ALL_CHATS: ' oc_a, ,oc_b', LARK_BOT_CHATS: 'oc_c' }).chats).toEqual({
      atAll: new Set(['oc_a', 'oc_b']),
      open: new Set(),
      bots: new Set(['oc_c']),
    })
  })

  test.each(['LARK_AT_ALL_CHATS', 'LARK_OPEN_CHATS', 'LARK_BOT_CHATS'])('a name in %s is refused', (name) => {
    expect(problems({ [name]: 'The team' })).toEqual([expect.stringContaining(`${name} must be chat ids`)])
  })
})

describe('numbers', () => {
  test.each([
    ['PORT', '0'],
    ['PORT', '65535'],
    ['SWEEP_GRACE_MS', '0'],
    ['TURN_LIMIT_MS', '2147483647'],
    ['REQUEST_CONCURRENCY', '1'],
  ])('%s may be %s', (name, value) => {
    expect(problems({ [name]: value })).toEqual([])
  })

  test.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', 'http'],
    ['REQUEST_CONCURRENCY', '0'],
    ['TURN_TRIES', '0'],
    ['SWEEP_BATCH', '0'],
    ['HOLD_MS', '0'],
    ['HOLD_MS', '1.5'],
    ['ATTACHMENT_LIMIT_BYTES', '0'],
    // A timer of Node that is set for longer ends at once.
    ['TURN_LIMIT_MS', '2147483648'],
  ])('%s may not be %s', (name, value) => {
    expect(problems({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} must be a whole number`))])
  })

  test('every mistake is named at once', () => {
    expect(problems({ PORT: 'x', TURN_TRIES: '0', REDIS_URL: 'x', LARK_EVENTS: 'x' })).toHaveLength(4)
  })
})

describe('what only Claude Code gets', () => {
  const key = { ANTHROPIC_API_KEY: 'sk-ant-canary', CLAUDE_CODE_OAUTH_TOKEN: 'oauth-canary' }

  test('a key is handed on when it is named, and to nobody else', () => {
    const env = readEnv({ ...key, CLAUDE_KEY_ENV: 'ANTHROPIC_API_KEY' })
    expect(env.forClaude).toEqual({ ANTHROPIC_API_KEY: 'sk-ant-canary' })
    expect(JSON.stringify(env.forAgents)).not.toContain('canary')
    expect(env.forCodex).toEqual({})
  })

  test('a key that lies about chooses nothing and goes nowhere', () => {
    expect(readEnv(key).forClaude).toEqual({})
    expect(config(key)).toMatchObject({ endpoint: 'rehearsal', claude: { credential: {} } })
  })

  test('its provider goes with it, and must be an address', () => {
    const url = 'https://models.example.com'
    expect(config({ ANTHROPIC_BASE_URL: url }).claude.credential).toEqual({ ANTHROPIC_BASE_URL: url })
    expect(problems({ ANTHROPIC_BASE_URL: 'models' })).toEqual([
      'ANTHROPIC_BASE_URL must be a URL such as https://api.anthropic.com',
    ])
  })

  test.each([
    ['DATABASE_URL', 'CLAUDE_KEY_ENV must be the name of the variable that holds the key of a model provider'],
    [
      'HOME',
      'CLAUDE_KEY_ENV must be one of ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, CLAUDE_CODE_OAUTH_TOKEN: the program reads no other',
    ],
    ['ANTHROPIC_AUTH_TOKEN', 'CLAUDE_KEY_ENV names ANTHROPIC_AUTH_TOKEN, which is not set'],
  ])('CLAUDE_KEY_ENV=%s is refused', (name, problem) => {
    expect(problems({ ...key, CLAUDE_KEY_ENV: name })).toEqual([problem])
  })

  test('what it may do unasked is one of its own words', () => {
    expect(config({}).claude.permissionMode).toBe('acceptEdits')
    expect(problems({ CLAUDE_PERMISSIONS: 'everything' })).toEqual([
      'CLAUDE_PERMISSIONS must be one of acceptEdits, default, dontAsk, bypassPermissions',
    ])
  })
})

test('a host that holds no conversation starts, so that its chat says why it cannot answer', () => {
  expect(config({ MANAGER_ENDPOINT: 'dsh' }).endpoint).toBe('dsh')
  expect(problems({ MANAGER_ENDPOINT: 'nothing' })).toEqual([
    'MANAGER_ENDPOINT must be one of rehearsal, acp, codex, claude',
  ])
})
