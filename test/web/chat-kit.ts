import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { createSandbox } from '../../src/sandbox/sandbox.js'
import { seedSandboxWorld } from '../../src/sandbox/seed.js'
import type { SandboxChat } from '../../src/web/sandbox/chat.js'

export const app = { appId: 'cli_sandbox', appSecret: 'sandbox-secret' }

/** The local platform with Alice, Bob, a direct chat, a group and a topic group. */
export function localPlatform(): Sandbox {
  let counter = 0
  const sandbox = createSandbox({
    clock: { now: () => Date.now() },
    newId: () => `${(++counter).toString(16).padStart(12, '0')}-${Math.random().toString(16).slice(2)}`,
    app,
    events: { mode: 'websocket' },
    rates: false,
  })
  seedSandboxWorld(sandbox)
  return sandbox
}

/** The whole adapter: the world has everything but the stream of changes. */
export function chatOf(sandbox: Sandbox): SandboxChat {
  return { ...sandbox.world, trouble: () => {}, onChange: (listener) => sandbox.onChange(listener) }
}

/** What the bot does, over the platform's own REST surface. */
export function botOf(sandbox: Sandbox) {
  let token: Promise<string> | null = null
  const call = async (path: string, body: object, authorization: string | null): Promise<Record<string, unknown>> => {
    const headers = { 'content-type': 'application/json', ...(authorization === null ? {} : { authorization }) }
    const request = new Request(`http://sandbox${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await (await sandbox.handle(request)).json()) as Record<string, unknown>
  }
  const bearer = async (): Promise<string> => {
    const credentials = { app_id: app.appId, app_secret: app.appSecret }
    token ??= call('/open-apis/auth/v3/tenant_access_token/internal', credentials, null).then(
      (answer) => `Bearer ${String(answer['tenant_access_token'])}`,
    )
    return await token
  }
  const api = async (path: string, body: object) => {
    const answer = await call(path, body, await bearer())
    if (answer['code'] !== 0) throw new Error(`the platform refused ${path}: ${JSON.stringify(answer)}`)
    return answer['data'] as Record<string, unknown>
  }
  return {
    send: (chatId: string, type: string, content: object) =>
      api('/open-apis/im/v1/messages?receive_id_type=chat_id', {
        receive_id: chatId,
        msg_type: type,
        content: JSON.stringify(content),
      }),
    reply: (messageId: string, type: string, content: object, inThread = false) =>
      api(`/open-apis/im/v1/messages/${messageId}/reply`, {
        msg_type: type,
        content: JSON.stringify(content),
        reply_in_thread: inThread,
      }),
    async upload(kind: 'file' | 'image', name: string, bytes: Uint8Array): Promise<string> {
      const form = new FormData()
      form.set(kind === 'image' ? 'image_type' : 'file_type', kind === 'image' ? 'message' : 'stream')
      if (kind === 'file') form.set('file_name', name)
      form.set(kind, new File([new Uint8Array(bytes)], name))
      const path = `http://sandbox/open-apis/im/v1/${kind}s`
      const request = new Request(path, { method: 'POST', headers: { authorization: await bearer() }, body: form })
      const answer = (await (await sandbox.handle(request)).json()) as { data?: Record<string, string> }
      return answer.data?.[`${kind}_key`] ?? ''
    },
    async unreact(messageId: string, reactionId: string): Promise<void> {
      const path = `http://sandbox/open-apis/im/v1/messages/${messageId}/reactions/${reactionId}`
      await sandbox.handle(new Request(path, { method: 'DELETE', headers: { authorization: await bearer() } }))
    },
    react: (messageId: string, emoji: string) =>
      api(`/open-apis/im/v1/messages/${messageId}/reactions`, { reaction_type: { emoji_type: emoji } }),
  }
}
