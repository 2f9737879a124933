/** Stands between "<" and the name of a tag: not seen, and no tag any more. */
export const BREAKER = '\u200b'

const mentionTag = /<(?=\/?at(?:[\s/>=]|$))/gi
const textTag = /<(?=\/?(?:at|a|b|i|u|s|p|br)(?:[\s/>=]|$))/gi

/**
 * Breaks up `<at …>` where an entity would be shown as typed (code, posts). Only a message that names somebody on
 * purpose may mention them, and no answer does.
 */
export function defuseMentions(text: string): string {
  return text.replace(mentionTag, `<${BREAKER}`)
}

/** Breaks up every tag a `text` message would act on. How to escape there is not documented. */
export function defuseTextTags(text: string): string {
  return text.replace(textTag, `<${BREAKER}`)
}

/**
 * The form in which two texts are the same text for a reader: without breakers, white space folded. Used on what was
 * sent and on what the platform returns.
 */
export function normalisePlain(text: string): string {
  return text
    .replaceAll(BREAKER, '')
    .split(/\s+/)
    .filter((word) => word !== '')
    .join(' ')
}
