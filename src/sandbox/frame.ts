import protobuf from 'protobufjs'
import { z } from 'zod'

/**
 * `pbbp2.Frame`, the unit of the long connection. Field numbers as the SDK's own encoder writes them.
 * Source: node-sdk ws-client/proto-buf.
 */
export interface Frame {
  readonly seqId: number
  readonly service: number
  /** 0 control (ping, pong), 1 data (event, card). */
  readonly method: 0 | 1
  readonly headers: Readonly<Record<string, string>>
  readonly payload: Uint8Array
}

const root = protobuf.Root.fromJSON({
  nested: {
    pbbp2: {
      nested: {
        Header: {
          fields: {
            key: { rule: 'required', type: 'string', id: 1 },
            value: { rule: 'required', type: 'string', id: 2 },
          },
        },
        Frame: {
          fields: {
            SeqID: { rule: 'required', type: 'uint64', id: 1 },
            LogID: { rule: 'required', type: 'uint64', id: 2 },
            service: { rule: 'required', type: 'int32', id: 3 },
            method: { rule: 'required', type: 'int32', id: 4 },
            headers: { rule: 'repeated', type: 'Header', id: 5 },
            payloadEncoding: { type: 'string', id: 6 },
            payloadType: { type: 'string', id: 7 },
            payload: { type: 'bytes', id: 8 },
            LogIDNew: { type: 'string', id: 9 },
          },
        },
      },
    },
  },
})
const frameType = root.lookupType('pbbp2.Frame')

const wireFrame = z.object({
  SeqID: z.number(),
  service: z.number(),
  method: z.union([z.literal(0), z.literal(1)]),
  headers: z.array(z.object({ key: z.string(), value: z.string() })),
  payload: z.instanceof(Uint8Array),
})

export function encodeFrame(frame: Frame): Uint8Array {
  const headers = Object.entries(frame.headers).map(([key, value]) => ({ key, value }))
  const message = { SeqID: frame.seqId, LogID: 0, service: frame.service, method: frame.method, headers }
  return frameType.encode(frameType.fromObject({ ...message, payload: frame.payload })).finish()
}

/** null when the bytes are no frame: a client that sends nonsense is ignored, as the platform does. */
export function decodeFrame(bytes: Uint8Array): Frame | null {
  try {
    const decoded = frameType.decode(bytes)
    const plain = frameType.toObject(decoded, { longs: Number, defaults: true, arrays: true })
    const wire = wireFrame.safeParse({ ...plain, payload: new Uint8Array(plain['payload'] ?? []) })
    if (!wire.success) return null
    const headers = Object.fromEntries(wire.data.headers.map(({ key, value }) => [key, value]))
    return {
      seqId: wire.data.SeqID,
      service: wire.data.service,
      method: wire.data.method,
      headers,
      payload: wire.data.payload,
    }
  } catch {
    return null
  }
}
