import { refused, type Refused } from './answer.js'
import { checkCard, isObject, parseObject } from './card-check.js'
import { shownCard } from './card-shown.js'
import { mentionOf, type MentionBook } from './mentions.js'
import { checkPost } from './post.js'
import type { CardEntity, Mention, State } from './state.js'

/** A content the platform takes: as it is stored, as others read it, and whom it mentions. */
export interface AcceptedContent {
  readonly content: string
  readonly shown: string
  readonly mentions: readonly Mention[]
}

/** Bytes of the whole request body. Source: message/create (230025). */
export const bodyLimits = { text: 150 * 1024, other: 30 * 1024 } as const

/** The request is measured as sent: content is JSON inside JSON, quotes and newlines count twice, CJK three times. */
export function checkSize(msgType: string, bodyBytes: number): Refused | null {
  return bodyBytes > (msgType === 'text' ? bodyLimits.text : bodyLimits.other) ? refused(230025) : null
}

/**
 * What a bot may send, by msg_type. Refusals: 230001 bad content, 230017 a key that is not ours,
 * 230055 a file that does not fit the type, 230099 a bad card with its sub-code.
 */
export function checkContent(
  state: State,
  book: MentionBook,
  msgType: string,
  content: string,
): AcceptedContent | Refused {
  const bad = (detail: string): Refused => refused(230001, `ext=${detail}`)
  if (msgType === 'interactive') return checkInteractive(state, content)
  const parsed = parseObject(content)
  if (parsed === null) return bad('content is not a json object')
  const plain = (): AcceptedContent => ({ content, shown: content, mentions: [] })
  switch (msgType) {
    case 'text': {
      const text = parsed['text']
      if (typeof text !== 'string' || text.trim() === '') return bad('text is empty')
      const { shown, mentions } = shownText(text, book)
      return { content, shown: JSON.stringify({ text: shown }), mentions }
    }
    case 'post': {
      const post = checkPost(parsed, book, ownImages(state))
      return 'refused' in post ? post : { content, ...post }
    }
    case 'image':
      return ownUpload(state, parsed['image_key'], ['image']) ?? plain()
    case 'file':
      return ownUpload(state, parsed['file_key'], ['pdf', 'doc', 'xls', 'ppt', 'stream']) ?? plain()
    case 'audio':
      return ownUpload(state, parsed['file_key'], ['opus']) ?? plain()
    case 'media': {
      const cover = parsed['image_key'] === undefined ? null : ownUpload(state, parsed['image_key'], ['image'])
      return ownUpload(state, parsed['file_key'], ['mp4']) ?? cover ?? plain()
    }
    case 'sticker':
      return typeof parsed['file_key'] === 'string' ? plain() : bad('file_key is required')
    case 'share_chat':
      return state.chats.has(String(parsed['chat_id'])) ? plain() : bad('chat_id is invalid')
    case 'share_user':
      return state.people.has(String(parsed['user_id'])) ? plain() : bad('user_id is invalid')
    default:
      return bad('msg_type is invalid')
  }
}

/** A card in full, or a reference to a card entity made before. */
function checkInteractive(state: State, content: string): AcceptedContent | Refused {
  const parsed = parseObject(content)
  if (parsed?.['type'] !== 'card') {
    const card = checkCard(content, cardReferences(state))
    return 'refused' in card ? (card as Refused) : { content, shown: shownCard(content), mentions: [] }
  }
  const id = isObject(parsed['data']) ? parsed['data']['card_id'] : undefined
  const entity = typeof id === 'string' ? state.cards.get(id) : undefined
  if (entity === undefined) return refused(230099, 'ext=ErrCode: 200740; ErrMsg: card not exist; ErrorValue: card_id; ')
  return { content, shown: shownCard(currentCard(entity)), mentions: [] }
}

export const cardReferences = (state: State): Parameters<typeof checkCard>[1] => ({
  imageKeys: ownImages(state),
  people: state.people,
})

/** The entity's card with the streamed texts in their elements. */
export function currentCard(entity: CardEntity): string {
  return JSON.stringify(
    JSON.parse(entity.data, (_key, value: unknown) => {
      if (!isObject(value)) return value
      const text = typeof value['element_id'] === 'string' ? entity.texts.get(value['element_id']) : undefined
      return text === undefined ? value : { ...value, content: text }
    }),
  )
}

const ownImages = (state: State): { has(key: string): boolean } => ({
  has: (key) => state.uploads.get(key)?.kind === 'image' && state.uploads.get(key)?.by === 'bot',
})

function ownUpload(state: State, key: unknown, types: readonly string[]): Refused | null {
  if (typeof key !== 'string' || key === '') return refused(230001, 'ext=key is required')
  const upload = state.uploads.get(key)
  if (upload === undefined || upload.by !== 'bot') return refused(230017)
  return types.includes(upload.fileType) ? null : refused(230055)
}

/** Well-formed `<at user_id>` becomes a mention; styles are lost on reading; anything malformed stays as typed. */
function shownText(text: string, book: MentionBook): { shown: string; mentions: Mention[] } {
  const mentions: Mention[] = []
  const shown = text
    .replace(/<at user_id="([^"]*)">([^<]*)<\/at>/g, (raw, id: string) => {
      if (id === 'all') return '@_all'
      const mention = mentionOf(mentions, book, id)
      return mention?.key ?? raw
    })
    .replace(/<(b|i|u|s)>([^<]*)<\/\1>/g, '$2')
  return { shown, mentions }
}
