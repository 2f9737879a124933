import type { Server } from 'node:http'
import type { BotId } from '../collab/refs.js'
import { createSandbox, type Sandbox } from '../sandbox/sandbox.js'
import { seedIds, seedSandboxWorld } from '../sandbox/seed.js'
import { directives } from '../runtime/rehearsal/directives.js'
import type { FaultAction } from '../sandbox/faults.js'
import type { SandboxChat, Trouble } from '../web/sandbox/chat.js'
import type { DirectiveHint } from '../web/deps.js'
import { newId, newSecret, systemClock } from './chance.js'
import type { LarkApp } from './config.js'

/** The local Lark platform of this process: its people live as long as the process. */
export interface LocalLark {
  readonly sandbox: Sandbox
  readonly bot: BotId
  readonly appSecret: string
  readonly owner: string
  readonly ownerChat: string
  readonly chat: SandboxChat
  readonly directives: readonly DirectiveHint[]
  attach(server: Server): void
}

/** Lark: 230028, the content audit; 99991400, the gateway's rate limit. */
const faultOf: Readonly<Record<Trouble, FaultAction>> = {
  refused: { kind: 'code', code: 230028, msg: 'the messages do NOT pass the audit', httpStatus: 400 },
  'line-cut': { kind: 'accept-then-reset' },
  'slow-down': { kind: 'rate-limit', resetSeconds: 5 },
}

/** An app id of the platform's form: the SDK refuses to connect with any other. */
const SANDBOX_APP = 'cli_a1b2c3d4e5f60718'

export function createLocalLark(): LocalLark {
  const appSecret = newSecret()
  const sandbox = createSandbox({
    clock: systemClock,
    newId,
    app: { appId: SANDBOX_APP, appSecret, botName: 'Manager' },
    events: { mode: 'websocket', client: { ReconnectNonce: 1, ReconnectInterval: 2 } },
  })
  seedSandboxWorld(sandbox)
  const { world } = sandbox
  return {
    sandbox,
    bot: SANDBOX_APP as BotId,
    appSecret,
    owner: seedIds.alice,
    ownerChat: seedIds.dm,
    chat: {
      people: () => world.people(),
      chats: () => world.chats(),
      messages: (chatId) => world.messages(chatId),
      say: (said) => world.say(said),
      sayFile: (file) => world.sayFile(file),
      recall: (messageId, by) => world.recall(messageId, by),
      react: (messageId, by, emoji) => world.react(messageId, by, emoji),
      unreact: (messageId, by, emoji) => world.unreact(messageId, by, emoji),
      click: (click) => world.click(click),
      uploads: () => world.uploads(),
      // A call that sends a message, whichever it is: a reaction and a change carry no type.
      trouble: (what) =>
        void sandbox.faults.add({ api: 'any', when: { contains: '"msg_type"', nth: 1 }, do: faultOf[what] }),
      onChange: (listener) => sandbox.onChange((change) => listener({ chatId: change.chatId })),
    },
    directives: directives.map(({ usage, help }) => ({ syntax: usage, en: help.en, zh: help.zh })),
    attach: (server) => sandbox.attach(server),
  }
}

export function localApp(local: LocalLark, baseUrl: string): LarkApp {
  return { appId: local.bot, appSecret: local.appSecret, baseUrl, encryptKey: null, verificationToken: null }
}
