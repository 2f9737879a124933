import { fileTypeFromFile } from 'file-type'
import { lookup } from 'mime-types'

/** What is said of bytes that nothing recognises. */
export const UNKNOWN_MEDIA_TYPE = 'application/octet-stream'

/** The media type that the first bytes of a file prove; never guessed from its name. */
export async function sniffFile(path: string): Promise<string> {
  try {
    return (await fileTypeFromFile(path))?.mime ?? UNKNOWN_MEDIA_TYPE
  } catch {
    // A damaged or hostile file is a file of unknown type, not a failure to store it.
    return UNKNOWN_MEDIA_TYPE
  }
}

/** The sniffed type; where the bytes prove nothing, the one that the name suggests. */
export function mediaTypeOf(sniffed: string, fileName: string): string {
  if (sniffed !== UNKNOWN_MEDIA_TYPE) return sniffed
  return lookup(fileName) || UNKNOWN_MEDIA_TYPE
}
