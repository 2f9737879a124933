/** A place in a newest-first list: everything after it is older, or as old with a smaller id. */
export interface Place {
  readonly at: number
  readonly id: string
}

/** Opaque to clients. */
export function cursorOf(place: Place): string {
  return Buffer.from(`${place.at}.${place.id}`, 'utf8').toString('base64url')
}

/** Null when it was not made by `cursorOf`. */
export function placeOf(cursor: string): Place | null {
  const match = /^(\d{1,15})\.([\x21-\x7e]{1,100})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'))
  return match?.[1] === undefined || match[2] === undefined ? null : { at: Number(match[1]), id: match[2] }
}

/** Before the first row. */
export const newest: Place = { at: 999_999_999_999_999, id: '\u007f' }
