import { HOUR, MINUTE, SECOND } from '../lib/time.js'

export interface Setting {
  readonly env: string
  readonly unit: 'ms' | 'count' | 'bytes' | 'text' | 'on/off'
  readonly fallback: string | number
  readonly because: string
  /** The smallest number that makes sense; absent: 1. */
  readonly least?: number
  /** The largest one; absent: as far as a timer (ms) or an exact number reaches. */
  readonly most?: number
  /** Set to nothing is a choice of its own, not an absence. */
  readonly emptyCounts?: true
}

/** Every plain value that may be set, with its reason. `doctor` prints this table with the effective values. */
export const settings = {
  host: {
    env: 'HOST',
    unit: 'text',
    fallback: '127.0.0.1',
    because: 'nothing is reachable from outside until said so',
  },
  port: { env: 'PORT', unit: 'count', fallback: 3000, because: '0 picks a free one', least: 0, most: 65_535 },
  publicUrl: {
    env: 'PUBLIC_URL',
    unit: 'text',
    fallback: '',
    because: 'how links are built; empty: from HOST and PORT',
  },
  dataDir: { env: 'DATA_DIR', unit: 'text', fallback: '.data', because: 'embedded database, workspaces, artifacts' },
  larkBaseUrl: {
    env: 'LARK_BASE_URL',
    unit: 'text',
    fallback: 'https://open.feishu.cn',
    because: 'the brand of the app',
  },
  larkEvents: { env: 'LARK_EVENTS', unit: 'text', fallback: 'websocket', because: 'needs no public address' },
  owners: { env: 'LARK_OWNER_OPEN_IDS', unit: 'text', fallback: '', because: 'who may bind as an owner' },
  received: {
    env: 'LARK_REACTION_RECEIVED',
    unit: 'text',
    fallback: 'Get',
    because: 'RFC §5.6: receipt feedback',
    emptyCounts: true,
  },
  done: {
    env: 'LARK_REACTION_DONE',
    unit: 'text',
    fallback: '',
    because: 'the answer itself says that it is done',
    emptyCounts: true,
  },
  failed: {
    env: 'LARK_REACTION_FAILED',
    unit: 'text',
    fallback: 'CrossMark',
    because: 'a failure must be visible',
    emptyCounts: true,
  },
  receiptPolicy: {
    env: 'LARK_RECEIPT_POLICY',
    unit: 'text',
    fallback: 'clear',
    because: 'a receipt that stays says that something is owed',
  },
  onRecall: {
    env: 'LARK_ON_RECALL',
    unit: 'text',
    fallback: 'hold',
    because: 'a question that was withdrawn may no longer want its answer there',
  },
  larkPacing: {
    env: 'LARK_PACING',
    unit: 'on/off',
    fallback: 'on',
    because: 'Lark allows 50/s, 1000/min and 5/s per chat; off only against a platform without limits',
  },
  endpoint: {
    env: 'MANAGER_ENDPOINT',
    unit: 'text',
    fallback: '',
    because: 'codex on a real tenant, rehearsal in the sandbox',
  },
  command: { env: 'MANAGER_COMMAND', unit: 'text', fallback: '', because: 'command line of an ACP agent' },
  model: { env: 'MANAGER_MODEL', unit: 'text', fallback: '', because: "the runtime's own; codex: gpt-6-astra" },
  effort: { env: 'MANAGER_REASONING_EFFORT', unit: 'text', fallback: '', because: "the runtime's own; codex: high" },
  codexBin: {
    env: 'CODEX_BIN',
    unit: 'text',
    fallback: '',
    because: 'empty: the npm package beside this program, else `codex` on PATH',
  },
  codexSandbox: {
    env: 'CODEX_SANDBOX',
    unit: 'text',
    fallback: 'workspace-write',
    because: 'commands write in their own workspace only; anything more is asked for',
  },
  codexNetwork: {
    env: 'CODEX_NETWORK',
    unit: 'on/off',
    fallback: 'off',
    because: 'what a command may send away is for the owner to decide',
  },
  codexKeyEnv: {
    env: 'CODEX_KEY_ENV',
    unit: 'text',
    fallback: '',
    because: 'a model provider of your own may need a key: the name of its variable, which codex alone then gets',
  },
  claudeBin: {
    env: 'CLAUDE_BIN',
    unit: 'text',
    fallback: '',
    because: 'empty: the program that comes with the agent SDK',
  },
  claudeSdk: {
    env: 'CLAUDE_SDK',
    unit: 'text',
    fallback: '',
    because: 'empty: the npm package beside this program',
  },
  claudePermissions: {
    env: 'CLAUDE_PERMISSIONS',
    unit: 'text',
    fallback: 'acceptEdits',
    because: 'files of its workspace are its own to change; anything more is asked for',
  },
  claudeKeyEnv: {
    env: 'CLAUDE_KEY_ENV',
    unit: 'text',
    fallback: '',
    because: 'empty: your own sign-in; else the name of the variable with a key, which Claude Code alone then gets',
  },
  claudeBaseUrl: {
    env: 'ANTHROPIC_BASE_URL',
    unit: 'text',
    fallback: '',
    because: 'a provider of your own; Claude Code alone gets it',
  },
  lateAfterMs: {
    env: 'LATE_AFTER_MS',
    unit: 'ms',
    fallback: 10 * MINUTE,
    because: 'an older message may be meant for a moment that has passed',
  },
  recall: {
    env: 'RECALL',
    unit: 'text',
    fallback: 'off',
    because: 'agents may ask what they themselves said before in the same chat only where you switch it on: local',
  },
  approvalWaitMs: {
    env: 'APPROVAL_WAIT_MS',
    unit: 'ms',
    fallback: 10 * MINUTE,
    because: 'so long a turn waits for the owner when the agent asks for a permission; 0 refuses at once',
    least: 0,
  },
  progressAfterMs: {
    env: 'PROGRESS_AFTER_MS',
    unit: 'ms',
    fallback: MINUTE,
    because: 'an answer within a minute needs no card before it; 0 turns the card off',
    least: 0,
  },
  lateRunWithinMs: {
    env: 'LATE_RUN_WITHIN_MS',
    unit: 'ms',
    fallback: 2 * HOUR,
    because: 'what was missed while this gateway was down is mostly still wanted; 0 holds all of it',
    least: 0,
  },
  silenceMs: {
    env: 'LARK_SILENCE_MS',
    unit: 'ms',
    fallback: 10 * MINUTE,
    because: 'an open connection that brings nothing for so long may be deaf: the chats are read to see',
    least: 1_000,
  },
  atAllChats: {
    env: 'LARK_AT_ALL_CHATS',
    unit: 'text',
    fallback: '',
    because: 'an announcement to everybody is seldom meant for the bot',
  },
  openChats: {
    env: 'LARK_OPEN_CHATS',
    unit: 'text',
    fallback: '',
    because: 'in a group, who wants the bot says so by naming it',
  },
  botChats: {
    env: 'LARK_BOT_CHATS',
    unit: 'text',
    fallback: '',
    because: 'two bots can answer each other for ever',
  },
  followUpsWaiting: {
    env: 'FOLLOW_UPS_WAITING',
    unit: 'count',
    fallback: 20,
    because: 'who has written so much meanwhile says what of it shall run; 0 queues all of it',
    least: 0,
  },
  followUpsHoldMs: {
    env: 'FOLLOW_UPS_HOLD_AFTER_MS',
    unit: 'ms',
    fallback: HOUR,
    because: 'what waited behind a turn for so long may not be wanted any more',
  },
  receiptSlotMs: {
    env: 'RECEIPT_SLOT_MS',
    unit: 'ms',
    fallback: 2 * SECOND,
    because: 'RFC §10: a receipt after that is late',
  },
  turnTries: {
    env: 'TURN_TRIES',
    unit: 'count',
    fallback: 2,
    because: 'one fault may pass by itself, a second one is told',
  },
  turnSilenceMs: {
    env: 'TURN_SILENCE_MS',
    unit: 'ms',
    fallback: 10 * MINUTE,
    because: 'a runtime that says nothing for so long hangs',
  },
  turnLimitMs: {
    env: 'TURN_LIMIT_MS',
    unit: 'ms',
    fallback: 2 * HOUR,
    because: 'a single turn is not meant to run longer',
  },
  holdMs: {
    env: 'HOLD_MS',
    unit: 'ms',
    fallback: 15 * SECOND,
    because: 'a run that does not renew for so long has died',
  },
  sweepGraceMs: {
    env: 'SWEEP_GRACE_MS',
    unit: 'ms',
    fallback: 5 * SECOND,
    because: 'a job that was just put is not yet lost',
    least: 0,
  },
  sweepBatch: {
    env: 'SWEEP_BATCH',
    unit: 'count',
    fallback: 100,
    because: 'one sweep must end before the next one starts',
  },
  attachmentLimit: {
    env: 'ATTACHMENT_LIMIT_BYTES',
    unit: 'bytes',
    fallback: 100 * 1024 * 1024,
    because: 'Lark hands out at most 100 MB',
  },
  requestConcurrency: {
    env: 'REQUEST_CONCURRENCY',
    unit: 'count',
    fallback: 4,
    because: 'turns that one process runs at the same time',
  },
  deliveryConcurrency: {
    env: 'DELIVERY_CONCURRENCY',
    unit: 'count',
    fallback: 8,
    because: 'chats are independent; within one the parts keep their order',
  },
  upkeepConcurrency: {
    env: 'UPKEEP_CONCURRENCY',
    unit: 'count',
    fallback: 8,
    because: 'nothing here waits for a model',
  },
  logLevel: { env: 'LOG_LEVEL', unit: 'text', fallback: 'info', because: '' },
  logFormat: { env: 'LOG_FORMAT', unit: 'text', fallback: '', because: 'json or pretty; empty: pretty on a terminal' },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settings

/** Read apart: `doctor` says only whether they are set. */
export const secretNames = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'REDIS_URL',
  'ADMIN_TOKEN',
  'LARK_APP_ID',
  'LARK_APP_SECRET',
  'LARK_ENCRYPT_KEY',
  'LARK_VERIFICATION_TOKEN',
] as const
export type SecretName = (typeof secretNames)[number]

/** Names under which the same value may also stand; different values under both are refused. */
export const aliases: Readonly<Partial<Record<string, string>>> = {
  MANAGER_ENDPOINT: 'LOOPX_MANAGER_ENDPOINT',
  MANAGER_COMMAND: 'LOOPX_MANAGER_COMMAND',
  MANAGER_MODEL: 'LOOPX_MANAGER_MODEL',
  MANAGER_REASONING_EFFORT: 'LOOPX_MANAGER_REASONING_EFFORT',
}
