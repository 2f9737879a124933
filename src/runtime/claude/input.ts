import type { TurnInput } from '../../collab/ports.js'
import { uuidFrom } from '../../lib/digest.js'
import { readOwn } from '../own-file.js'
import type { ContentBlock, UserMessage } from './sdk.js'

/** Bytes of a picture that is shown to the model itself and not only named. */
const LARGEST_SHOWN = 5 * 1024 * 1024

/** The open end of a conversation: messages are put in while the program reads. */
export class Input implements AsyncIterable<UserMessage> {
  readonly #waiting: UserMessage[] = []
  #wake: (() => void) | null = null
  #closed = false

  put(message: UserMessage): void {
    this.#waiting.push(message)
    this.#wake?.()
  }

  close(): void {
    this.#closed = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<UserMessage, void, void> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) yield next
      else if (this.#closed) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/iu

export const isUuid = (id: string): boolean => uuid.test(id)

/** The id of a turn's message in the transcript: the turn's own where that is a UUID, else one that follows from it. */
export function messageIdOf(turn: string): string {
  return isUuid(turn) ? turn.toLowerCase() : uuidFrom('claude-message', turn)
}

/** A turn's text, which names every file already, and the pictures that are small enough to be shown. */
export async function userMessage(
  input: TurnInput,
  id: string,
  session: string,
  workspace: string,
): Promise<UserMessage> {
  const pictures: ContentBlock[] = []
  for (const { path, mediaType } of input.attachments) {
    if (!/^image\/(?:png|jpeg|gif|webp)$/u.test(mediaType)) continue
    const picture = await readOwn(path, workspace, LARGEST_SHOWN)
    if (picture === null) continue
    const source = { type: 'base64', media_type: mediaType, data: picture.toString('base64') } as const
    pictures.push({ type: 'image', source })
  }
  return {
    type: 'user',
    uuid: id,
    session_id: session,
    parent_tool_use_id: null,
    message: { role: 'user', content: [...pictures, { type: 'text', text: input.text }] },
  }
}
