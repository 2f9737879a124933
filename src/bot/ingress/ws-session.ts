import { EventDispatcher, WSClient } from '@larksuiteoapi/node-sdk'
import type { Logger } from '../../lib/log.js'
import { sdkLogger } from '../sdk-logger.js'

export interface SessionOptions {
  readonly appId: string
  readonly appSecret: string
  readonly baseUrl: string
  readonly log: Logger
  /** Seconds without any frame after a ping until the socket is taken for dead. */
  readonly pingTimeoutS: number
  /** Any frame of the other side: the socket lives, which does not say that events come. */
  readonly onFrame: () => void
  /** What the platform is answered. Throws when the event is not stored: the platform then pushes again. */
  readonly onEnvelope: (envelope: unknown) => Promise<object>
  readonly onConnected: () => void
  readonly onLost: () => void
  /** The SDK gave up for good; only a new session helps. */
  readonly onEnded: (error: Error) => void
}

export interface Session {
  close(): void
}

/** One life of the SDK's client: it reconnects by itself until an error that it takes for final. */
export function openSession(options: SessionOptions): Session {
  const logger = sdkLogger(options.log)
  const client = new WSClient({
    appId: options.appId,
    appSecret: options.appSecret,
    domain: options.baseUrl,
    logger,
    handshakeTimeoutMs: 15_000,
    // Without it a half-open socket is never noticed.
    wsConfig: { pingTimeout: options.pingTimeoutS },
    onReady: options.onConnected,
    onReconnected: options.onConnected,
    onReconnecting: options.onLost,
    onError: options.onEnded,
  })
  takeCardFrames(client)
  hearFrames(client, options.onFrame)
  void client.start({ eventDispatcher: new RawDispatcher(logger, options.onEnvelope) })
  return { close: () => client.close({ force: true }) }
}

/**
 * Gets each event as it was sent, before the SDK flattens header and body into one object, where equal names hide each
 * other, and whatever its type: without a handler the SDK would ack an event and forget it.
 */
class RawDispatcher extends EventDispatcher {
  constructor(
    logger: ReturnType<typeof sdkLogger>,
    private readonly onEnvelope: (envelope: unknown) => Promise<object>,
  ) {
    super({ logger })
  }

  /** The frame is acked when this resolves. `{}` shows nothing to a person who clicked; no result at all shows an error. */
  override async invoke(envelope: unknown): Promise<object> {
    return await this.onEnvelope(envelope)
  }
}

/** The SDK keeps to itself that a pong came. */
function hearFrames(client: WSClient, onFrame: () => void): void {
  // Private in the types, as above.
  const inner = client as unknown as Partial<Record<'handleControlData' | 'handleEventData', (frame: Frame) => unknown>>
  for (const name of ['handleControlData', 'handleEventData'] as const) {
    const handle = inner[name]?.bind(client)
    if (handle === undefined) continue
    inner[name] = (frame) => {
      onFrame()
      return handle(frame)
    }
  }
}

interface Frame {
  readonly headers: { readonly key: string; value: string }[]
}

/** SDK 1.74.0 drops frames of type `card` without an ack; their payload is the same envelope as an event's. */
function takeCardFrames(client: WSClient): void {
  // The method is private in the types; a later SDK without it is left alone.
  const inner = client as unknown as { handleEventData?: (frame: Frame) => unknown }
  const handle = inner.handleEventData?.bind(client)
  if (handle === undefined) return
  inner.handleEventData = (frame) => {
    for (const header of frame.headers) {
      if (header.key === 'type' && header.value === 'card') header.value = 'event'
    }
    return handle(frame)
  }
}
