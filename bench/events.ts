import { randomBytes } from 'node:crypto'
import { encrypt, sign } from '../src/sandbox/seal.js'
import { seedIds } from '../src/sandbox/seed.js'
import { postRequest } from './load.js'
import { APP_ID } from './rig.js'

export const ENCRYPT_KEY = 'bench-encrypt-key'
export const VERIFICATION_TOKEN = 'bench-verification-token'

const hex = (bytes: number): string => randomBytes(bytes).toString('hex')

/** An event as Lark sends it: an owner's text of two lines in one of 500 direct chats. */
function envelope(nth: number): string {
  const now = String(Date.now())
  return JSON.stringify({
    schema: '2.0',
    header: {
      event_id: hex(16),
      event_type: 'im.message.receive_v1',
      create_time: now,
      token: VERIFICATION_TOKEN,
      app_id: APP_ID,
      tenant_key: '1a2b3c4d5e6f7081',
    },
    event: {
      sender: {
        sender_id: {
          union_id: 'on_a49148d140e05e05020ec22ebda3bd39',
          user_id: 'df9f4f66',
          open_id: seedIds.alice,
        },
        sender_type: 'user',
        tenant_key: '1a2b3c4d5e6f7081',
      },
      message: {
        message_id: `om_${hex(16)}`,
        create_time: now,
        update_time: now,
        chat_id: `oc_${String(nth % 500).padStart(32, '0')}`,
        chat_type: 'p2p',
        message_type: 'text',
        content: JSON.stringify({
          text: `今天发布前还差什么？ Please read the release notes of the last two weeks and name what is missing.\n第 ${nth} 条：只要结论和依据。`,
        }),
      },
    },
  })
}

/** Requests for the floor: the event as it is. */
export function plainRequests(count: number): Buffer[] {
  return Array.from({ length: count }, (_, nth) => postRequest('/lark/events', {}, envelope(nth)))
}

/** Requests for the gateway: sealed with the Encrypt Key and signed over the raw body. */
export function sealedRequests(count: number): Buffer[] {
  return Array.from({ length: count }, (_, nth) => {
    const body = JSON.stringify({ encrypt: encrypt(ENCRYPT_KEY, envelope(nth), randomBytes(16)) })
    const timestamp = String(Math.floor(Date.now() / 1000))
    const nonce = hex(6)
    const signature = sign(ENCRYPT_KEY, timestamp, nonce, body)
    const headers = {
      'x-lark-request-timestamp': timestamp,
      'x-lark-request-nonce': nonce,
      'x-lark-signature': signature,
    }
    return postRequest('/lark/events', headers, body)
  })
}
