const kinds: readonly { readonly type: string; readonly at: number; readonly bytes: readonly number[] }[] = [
  { type: 'image/png', at: 0, bytes: [0x89, 0x50, 0x4e, 0x47] },
  { type: 'image/jpeg', at: 0, bytes: [0xff, 0xd8, 0xff] },
  { type: 'image/gif', at: 0, bytes: [0x47, 0x49, 0x46, 0x38] },
  { type: 'image/webp', at: 8, bytes: [0x57, 0x45, 0x42, 0x50] },
]

/** The type of a picture that a browser may show in place, by its first bytes; null for everything else, also SVG. */
export function pictureType(bytes: Uint8Array): string | null {
  return kinds.find(({ at, bytes: mark }) => mark.every((byte, n) => bytes[at + n] === byte))?.type ?? null
}
