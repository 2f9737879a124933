import type { MessageType, OtherForm } from '../channel.js'

/** Doubtful uploads of one file after which it is named instead: with their waits, about an hour. */
export const uploadTries = 36

/** What a refused part is, as far as its other forms depend on it. */
export interface RefusedPart {
  readonly msgType: MessageType
  readonly isFile: boolean
  /** Sent as a new message already. */
  readonly detached: boolean
}

/**
 * Which other forms of a part may follow an explicit refusal, in the order in which they are tried; none ends the part.
 *
 * Content that an audit refused has no second form, and nothing but an explicit word about the reply's target leads to
 * a message that does not reply: a doubt would put a topic's answer into its group.
 *
 * @param repliesTo the part's place names a message to reply to
 * @source delivery.md Out 5; Lark: message/create, message/reply
 */
export function otherForms(part: RefusedPart, repliesTo: boolean, because: string): readonly OtherForm[] {
  switch (because) {
    case 'bad-format':
      return part.msgType === 'text' ? [] : ['plainer']
    case 'too-long':
      return part.isFile ? ['plainer'] : ['smaller', 'plainer']
    case 'cannot-reply-here':
      return repliesTo && !part.detached ? ['new-message'] : []
    default:
      // Without its bytes on the platform a file can only be named.
      return part.isFile && because.startsWith('upload-') ? ['plainer'] : []
  }
}

/** Where a row stands: a row that stands for refused ones comes in their place. */
export interface RowPlace {
  readonly index: number
  readonly subIndex: number
  /** The sub-index of the refused row of the same index that it stands for. */
  readonly replaces: number | null
}

/** The rows of a delivery in the order in which a reader gets them, refused ones before those that stand for them. */
export function inReadingOrder<R extends RowPlace>(rows: readonly R[]): readonly R[] {
  const below = new Map<string, R[]>()
  for (const row of [...rows].sort((a, b) => a.index - b.index || a.subIndex - b.subIndex)) {
    const place = row.replaces === null ? '' : `${row.index}.${row.replaces}`
    below.set(place, [...(below.get(place) ?? []), row])
  }
  const withForms = (row: R): R[] => [row, ...(below.get(`${row.index}.${row.subIndex}`) ?? []).flatMap(withForms)]
  return (below.get('') ?? []).flatMap(withForms)
}
