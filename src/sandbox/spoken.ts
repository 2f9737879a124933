import type { MentionBook } from './mentions.js'
import { mentionOf } from './mentions.js'
import type { Mention } from './state.js'
import type { SayOptions } from './world.js'

/** What a person said, in the shape events carry: mentions as `@_user_N` keys and a list beside the text. */
export interface Spoken {
  readonly msgType: string
  readonly content: string
  readonly mentions: readonly Mention[]
}

export function spoken(options: SayOptions, book: MentionBook): Spoken {
  const mentions: Mention[] = []
  const asked = [...(options.mentionBot === true ? [book.botOpenId] : []), ...(options.mentions ?? [])]
  for (const openId of asked)
    if (mentionOf(mentions, book, openId) === null) throw new Error(`missing: mentioned person ${openId}`)
  if (options.raw !== undefined) return { ...options.raw, mentions }
  if (options.post !== undefined) {
    const { title = '', content } = options.post
    const [first = [], ...rest] = content
    const lead = mentions.map(({ key, name }) => ({ tag: 'at', user_id: key, user_name: name, style: [] }))
    return { msgType: 'post', content: JSON.stringify({ title, content: [[...lead, ...first], ...rest] }), mentions }
  }
  // Longest name first, so that "@Bob" does not take the head of "@Bobby".
  const longestFirst = [...mentions].sort((a, b) => b.name.length - a.name.length)
  let text = options.text ?? ''
  const inFront: string[] = []
  for (const { key, name } of longestFirst)
    if (text.includes(`@${name}`)) text = text.replace(`@${name}`, key)
    else inFront.push(key)
  const order = mentions.map(({ key }) => key).filter((key) => inFront.includes(key))
  return { msgType: 'text', content: JSON.stringify({ text: [...order, text].join(' ') }), mentions }
}
