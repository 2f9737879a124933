import { createCipheriv, createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { BotIdentity } from '../../src/collab/channel.js'
import type { BotId } from '../../src/collab/refs.js'

const samplesFolder = new URL('../samples/', import.meta.url)
const casesFolder = new URL('../cases/', import.meta.url)

/** The values that all samples share. */
export const sampleBot = 'cli_a1b2c3d4e5f60718' as BotId
export const sampleSelf: BotIdentity = { openId: 'ou_e27e5eef56b1223756b8192d4911aede', name: 'GatewayBot' }
export const sampleEncryptKey = 'lark-sample-encrypt-key-0001'
export const sampleToken = 'vt0Fake0Verification0Token000001'

export interface Envelope {
  readonly schema: string
  readonly header: Readonly<Record<string, string>>
  readonly event: { readonly [key: string]: unknown; readonly sender?: unknown; readonly message?: MessageFields }
}

export type MessageFields = Readonly<Record<string, unknown>> & { readonly content: string }

export function sampleText(name: string): string {
  return readFileSync(new URL(name, samplesFolder), 'utf8')
}

export function sample(name: string): Envelope {
  return JSON.parse(sampleText(`${name}.json`)) as Envelope
}

/** A reply of the platform: the body alone, or with its status and headers. */
export function apiSample(name: string): {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
} {
  const read = JSON.parse(sampleText(`${name}.json`)) as Record<string, unknown>
  if (!('http_status' in read)) return { status: 200, headers: {}, body: read }
  return {
    status: read['http_status'] as number,
    headers: read['headers'] as Record<string, string>,
    body: read['body'] as Record<string, unknown>,
  }
}

/** Every sample that is an event envelope. */
export function eventSamples(): readonly string[] {
  return sampleNames().filter((name) => 'header' in (JSON.parse(sampleText(`${name}.json`)) as object))
}

export function apiSamples(): readonly string[] {
  return sampleNames().filter((name) => name.startsWith('api_'))
}

function sampleNames(): readonly string[] {
  return readdirSync(samplesFolder)
    .filter((name) => name.endsWith('.json') && !name.endsWith('.headers.json'))
    .map((name) => name.slice(0, -'.json'.length))
}

export interface CaseStep {
  readonly kind: string
  readonly payload?: Envelope
}

export function caseSteps(folder: string): readonly CaseStep[] {
  const text = readFileSync(new URL(`${folder}/input.json`, casesFolder), 'utf8')
  return (JSON.parse(text) as { steps: CaseStep[] }).steps
}

/** A body as the platform seals it; the vector of the samples proves that this is the same way. */
export function seal(text: string | Uint8Array, encryptKey: string, iv = Buffer.alloc(16, 7)): string {
  const cipher = createCipheriv('aes-256-cbc', createHash('sha256').update(encryptKey).digest(), iv)
  const encrypt = Buffer.concat([iv, cipher.update(text), cipher.final()]).toString('base64')
  return JSON.stringify({ encrypt })
}

export function signature(body: string | Uint8Array, encryptKey: string, timestamp: string, nonce: string): string {
  return createHash('sha256')
    .update(timestamp + nonce + encryptKey)
    .update(body)
    .digest('hex')
}

/** The request with which the platform pushes `body`, which is already sealed. */
export function signedRequest(body: string | Uint8Array, encryptKey: string, atMs: number): Request {
  const timestamp = String(Math.floor(atMs / 1000))
  return new Request('http://gateway.test/lark/events', {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-lark-request-timestamp': timestamp,
      'x-lark-request-nonce': '842017356',
      'x-lark-signature': signature(body, encryptKey, timestamp, '842017356'),
    },
  })
}
