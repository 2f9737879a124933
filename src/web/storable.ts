import { storableText } from '../lib/storable.js'

/** Neither a NUL nor half a surrogate pair. Postgres keeps neither, so nothing has such an id either. */
export function isStorable(text: string): boolean {
  return storableText(text) === text
}

/** What a schema says of text that cannot be kept. */
export const notStorable = { error: 'holds a character that cannot be kept (NUL, or half a surrogate pair)' }
