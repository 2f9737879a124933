/** Who may import whom: room, or a prefix inside one, to what it may import. Type-only imports count the same. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  collab: ['lib'],
  stores: ['collab', 'lib'],
  render: ['collab', 'lib'],
  runtime: ['collab', 'lib'],
  artifacts: ['collab', 'lib'],
  work: ['collab', 'lib'],
  exchange: ['stores', 'collab', 'lib'],
  queue: ['exchange', 'collab', 'lib'],
  bot: ['exchange', 'render', 'collab', 'lib'],
  web: ['exchange', 'stores/views', 'render', 'collab', 'lib'],
  mcp: ['exchange', 'stores/views', 'render', 'collab', 'lib'],
  cli: ['collab', 'lib'],
  sandbox: ['lib'],
  app: [
    'lib',
    'collab',
    'stores',
    'render',
    'runtime',
    'artifacts',
    'work',
    'exchange',
    'queue',
    'bot',
    'web',
    'mcp',
    'cli',
    'sandbox',
  ],
  'main.ts': ['app', 'cli', 'lib'],
}

/** Who may hold which outside thing; a name ending in `/*` stands for all below it. Absent: any room may. */
export const heldBy: readonly (readonly [string, readonly string[]])[] = [
  ['drizzle-orm', ['stores', 'work/canonical']],
  ['postgres', ['stores', 'work/canonical']],
  ['bullmq', ['queue']],
  ['ioredis', ['queue']],
  ['pg', ['queue']],
  ['@bull-board/api/bullMQAdapter', ['queue']],
  ['@bull-board/*', ['web', 'queue']],
  ['hono/jsx', ['web', 'render/html']],
  ['hono', ['web', 'sandbox']],
  ['@modelcontextprotocol/sdk', ['mcp', 'cli']],
  ['@hono/node-server', ['app', 'web']],
  ['@hono/*', ['web']],
  ['@agentclientprotocol/sdk', ['runtime/acp']],
  ['@anthropic-ai/*', ['runtime/claude']],
  ['@larksuiteoapi/node-sdk', ['bot']],
  ['markdown-it', ['render']],
  ['@resvg/resvg-js', ['render/chart']],
  ['zod', ['queue', 'bot', 'web', 'mcp', 'cli', 'app', 'runtime', 'stores', 'sandbox']],
  ['commander', ['cli', 'app']],
  ['pino', ['app']],
  ['pino-pretty', ['app']],
  ['prom-client', ['app']],
  ['ws', ['sandbox']],
  ['protobufjs', ['sandbox']],
  ['node:child_process', ['runtime', 'stores/embedded']],
  ['node:fs', ['app', 'artifacts', 'runtime', 'stores/embedded', 'stores/driver-guard.ts']],
  ['node:fs/promises', ['app', 'artifacts', 'runtime', 'stores/embedded']],
  ['node:worker_threads', ['render']],
]

/** Names of the global world and who may use them. */
export const globalsHeldBy: Readonly<Record<string, readonly string[]>> = {
  'process.env': ['app', 'main.ts'],
  'process.on': ['app', 'main.ts'],
  'process.exitCode': ['app', 'main.ts'],
  'process.exit': ['app', 'main.ts'],
  'Date.now': ['app', 'sandbox/main.ts'],
  'crypto.randomUUID': ['app'],
  randomUUID: ['app', 'sandbox/main.ts'],
  randomBytes: ['app', 'stores/embedded'],
  'Math.random': ['app', 'stores/client.ts'],
  setTimeout: ['app', 'queue', 'bot', 'runtime', 'sandbox', 'stores/embedded'],
  setInterval: ['app', 'queue', 'bot', 'runtime', 'sandbox'],
}

/** `collab` and `exchange` decide and orchestrate: no npm package at all. */
export const noPackages: readonly string[] = ['collab', 'exchange', 'lib']

/** Node's own modules that are pure functions of their arguments. */
export const pureNode: readonly string[] = ['node:crypto', 'node:assert']
