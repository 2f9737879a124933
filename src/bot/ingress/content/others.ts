import { fillTemplate, postText } from './post.js'
import { Fields, timeText, type Converter } from './read.js'

/** Lark: message_content. What is shared is named by its id; nothing is fetched for it. */
export const shareChat: Converter = (content) => ({ text: about('shared chat', content.string('chat_id')) })
export const shareUser: Converter = (content) => ({ text: about('shared contact', content.string('user_id')) })

export const location: Converter = (content) => {
  const place = content.string('name')
  const at = [content.string('latitude'), content.string('longitude')].filter((one) => one !== '').join(', ')
  return { text: about('location', [place, at === '' ? '' : `(${at})`].filter((one) => one !== '').join(' ')) }
}

export const todo: Converter = (content, mentions) => {
  const summary = postText(content.object('summary'), mentions)
  const due = timeText(content.number('due_time'))
  return {
    text: `${about('task', summary.text)}${due === '' ? '' : `\ndue ${due}`}`,
    attachments: summary.attachments ?? [],
    unknown: summary.unknown ?? [],
  }
}

export const vote: Converter = (content) => ({
  text: [about('poll', content.string('topic')), ...content.strings('options').map((one) => `- ${one}`)].join('\n'),
})

export const meeting: Converter = (content) => {
  const start = timeText(content.number('start_time'))
  return { text: `${about('video meeting', content.string('topic'))}${start === '' ? '' : `\nstarts ${start}`}` }
}

export const calendar: Converter = (content) => {
  const start = timeText(content.number('start_time'))
  const end = timeText(content.number('end_time'))
  const when = [start, end].filter((one) => one !== '').join(' to ')
  return { text: `${about('calendar event', content.string('summary'))}${when === '' ? '' : `\n${when}`}` }
}

export const system: Converter = (content) => {
  const divider = content.object('divider_text').string('text')
  return { text: fillTemplate(content.string('template'), content) || divider || '[system message]' }
}

/** A forwarded bundle says nothing about itself in the event (Lark: merge_forward). */
export const mergeForward: Converter = () => ({ text: '[forwarded messages]', expand: 'merge-forward' })

/** The long connection sometimes says only that it cannot say; the read-back does. */
export const nonsupport: Converter = () => ({ text: '[message]', expand: 'read-back' })

/** A type that came after this program: its readable words, so that it is never an empty message. */
export function unknownType(messageType: string): Converter {
  return (content) => {
    const words = readable(content.raw, 0)
    return { text: about(messageType, words.join('\n').slice(0, 4_000)), unknown: [`type ${messageType}`] }
  }
}

const READABLE = ['title', 'topic', 'summary', 'name', 'text', 'content']

function readable(value: unknown, depth: number): readonly string[] {
  if (typeof value === 'string') return depth === 0 && value !== '' ? [value] : []
  if (depth > 6 || value === null || typeof value !== 'object') return []
  if (Array.isArray(value)) return value.slice(0, 200).flatMap((one) => readable(one, depth + 1))
  const fields = new Fields(value)
  return READABLE.flatMap((name) => {
    const own = fields.string(name)
    if (own !== '') return [own]
    const below = fields.list(name)
    return below.length > 0 ? readable(below, depth + 1) : readable(fields.object(name).raw, depth + 1)
  })
}

function about(what: string, detail: string): string {
  return detail === '' ? `[${what}]` : `[${what}] ${detail}`
}
