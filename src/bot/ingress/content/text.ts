import type { Converter } from './read.js'

/** Lark: message_content, `text`. Links come as `[text](url)` and stay; styles are lost before they reach us. */
export const text: Converter = (content, mentions) => {
  if (!content.has('text')) return { text: '', unknown: ['text without text'] }
  return { text: mentions.inText(content.string('text')) }
}

/** Lark: `hongbao` holds a text only. */
export const redPacket: Converter = (content) => ({ text: content.string('text') || '[red packet]' })
