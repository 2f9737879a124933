import type { ServedSandbox } from '../../src/sandbox/serve.js'
import type { SayOptions, WorldMessage } from '../../src/sandbox/world.js'
import { must } from '../../src/lib/assert.js'
import { bindOwner } from '../../src/stores/principals/principals.js'
import type { Db } from '../../src/stores/db.js'
import { caseSteps, type Envelope, type MessageFields } from '../replay/samples.js'
import { APP_ID, testGateway, type TestGateway, type TestGatewayOptions } from '../kit/gateway.js'

/** The ids that all cases share; the sandbox is seeded with them. The app id alone is one that the SDK takes. */
export const caseApp = { appId: APP_ID, botOpenId: 'ou_test_bot_manager', botName: 'Manager' }
export const caseIds = {
  owner: 'ou_test_owner',
  colleague: 'ou_test_colleague',
  dm: 'oc_test_dm',
  groupA: 'oc_test_group_a',
  groupPlain: 'oc_test_group_plain',
} as const

export async function seedCaseWorld(served: ServedSandbox, db: Db): Promise<void> {
  const { world } = served.sandbox
  const { owner, colleague, dm, groupA, groupPlain } = caseIds
  world.addPerson({ name: 'Owner', openId: owner })
  world.addPerson({ name: '测试同事', openId: colleague })
  world.addChat({ mode: 'p2p', name: 'Owner', members: [owner], chatId: dm })
  world.addChat({ mode: 'group', name: 'Group A', members: [owner, colleague], chatId: groupA })
  world.addChat({ mode: 'group', name: 'Plain group', members: [owner, colleague], chatId: groupPlain })
  await bindOwner(db.sql, { bot: caseApp.appId, openId: owner, directChat: dm }, Date.now())
}

export function caseGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  return testGateway({
    ...options,
    env: { LARK_OWNER_OPEN_IDS: caseIds.owner, ...options.env },
    app: { ...caseApp, ...options.app },
    owners: false,
    before: async (served, db) => {
      await seedCaseWorld(served, db)
      await options.before?.(served, db)
    },
  })
}

/** The events of one case, in order. */
export function caseEvents(folder: string): readonly Envelope[] {
  return caseSteps(folder)
    .filter((step) => step.kind === 'event')
    .map((step) => must(step.payload, 'the payload of an event'))
}

/**
 * Puts the message of a case's event into the sandbox, unheard, and gives the event as the platform would push it.
 *
 * What changes: the message's id (the sandbox makes its own, and replies and reactions must find it), its place in a
 * thread when `place` names one, and its times: a case's fixed time is older than ten minutes, and would be held.
 */
export function staged(
  served: ServedSandbox,
  envelope: Envelope,
  place: Pick<SayOptions, 'replyTo' | 'threadOf'> = {},
  content?: string,
): { readonly message: WorldMessage; readonly envelope: Envelope } {
  const given = must(envelope.event.message, 'a message event')
  const sender = envelope.event.sender as { readonly sender_id: { readonly open_id: string } }
  const fields: MessageFields = content === undefined ? given : { ...given, content }
  const message = served.sandbox.world.say({
    chatId: String(given['chat_id']),
    from: sender.sender_id.open_id,
    raw: { msgType: String(given['message_type']), content: fields.content },
    silent: true,
    ...place,
  })
  const now = String(message.createTime)
  const ids = {
    message_id: message.id,
    ...(message.rootId === null ? {} : { root_id: message.rootId }),
    ...(message.parentId === null ? {} : { parent_id: message.parentId }),
    ...(message.threadId === null ? {} : { thread_id: message.threadId }),
  }
  return {
    message,
    envelope: {
      ...envelope,
      header: { ...envelope.header, create_time: now, app_id: APP_ID },
      event: { ...envelope.event, message: { ...fields, ...ids, create_time: now, update_time: now } },
    },
  }
}
