import { stat } from 'node:fs/promises'
import type { TurnInput } from '../../collab/ports.js'

/** Bytes of a picture that is shown to the model itself and not only named. */
const LARGEST_SHOWN = 5 * 1024 * 1024

/** The message, and the pictures that are small enough to be shown; every file is named in the message already. */
export async function inputOf(input: TurnInput): Promise<readonly unknown[]> {
  const parts: unknown[] = [{ type: 'text', text: input.text, text_elements: [] }]
  for (const { path, mediaType } of input.attachments) {
    if (!/^image\/(?:png|jpeg|gif|webp)$/u.test(mediaType)) continue
    const size = (await stat(path).catch(() => null))?.size ?? Infinity
    if (size <= LARGEST_SHOWN) parts.push({ type: 'localImage', path })
  }
  return parts
}
