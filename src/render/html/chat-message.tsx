import type { Language } from '../../collab/delivery.js'
import { Clip } from './clip.js'
import { Card, objectIn } from './card.js'
import { chatWords } from './chat-words.js'
import { firstLine } from './bits.js'
import { Post } from './post.js'

/** One message of the chat, with what its readers see of it. */
export interface ShownMessage {
  readonly id: string
  readonly sender: string
  /** Null for the bot. */
  readonly senderName: string | null
  /** Of the owner: it stands on the right. */
  readonly mine: boolean
  readonly msgType: string
  readonly content: string
  /** Of a file: the bot's own messages carry its key alone. */
  readonly fileName: string | null
  readonly at: number
  readonly deleted: boolean
  readonly edited: boolean
  readonly quote: string | null
  readonly canReply: boolean
  readonly reactions: readonly { readonly emoji: string; readonly names: string }[]
  readonly replies: readonly ShownMessage[]
}

const fileHref = (key: string): string => `/sandbox/files/${encodeURIComponent(key)}`

export function ChatMessage(props: { message: ShownMessage; language: Language }) {
  const { message, language } = props
  const words = chatWords[language]
  const iso = new Date(message.at).toISOString()
  return (
    <li id={message.id} class={`msg ${message.mine ? 'mine' : 'theirs'}`}>
      <div class="bubble">
        <p class="by small muted">
          <strong>{message.senderName ?? words.bot}</strong> <time datetime={iso}>{iso.slice(11, 16)}</time>
          {message.edited ? <span>· {words.edited}</span> : null}
          <span class="tools">
            {message.canReply && !message.deleted ? (
              <button class="plain" data-reply={message.id} data-excerpt={excerptOf(message)}>
                {words.reply}
              </button>
            ) : null}
            {message.senderName !== null && !message.deleted ? (
              <button class="plain" data-recall={message.id} data-by={message.sender}>
                {words.recall}
              </button>
            ) : null}
          </span>
        </p>
        {message.quote === null ? null : <p class="quote small muted">↪ {message.quote}</p>}
        {message.deleted ? <p class="muted">{words.recalled}</p> : <Content message={message} language={language} />}
        <p class="under small">
          {message.reactions.map((reaction) => (
            <span class="reaction" title={reaction.names} data-emoji={reaction.emoji}>
              {reactionText(reaction.emoji)}
            </span>
          ))}
        </p>
      </div>
      {message.replies.length === 0 ? null : (
        <ol class="thread">
          {message.replies.map((reply) => (
            <ChatMessage message={reply} language={language} />
          ))}
        </ol>
      )}
    </li>
  )
}

function Content(props: { message: ShownMessage; language: Language }) {
  const { message, language } = props
  const words = chatWords[language]
  const content = objectIn(message.content) ?? {}
  switch (message.msgType) {
    case 'text':
      return (
        <p class="said">
          <Linked text={namesIn(String(content['text'] ?? ''), words.bot)} />
        </p>
      )
    case 'post':
      return <Post content={content} pictureOf={fileHref} />
    case 'interactive':
      return (
        <Card
          content={message.content}
          pictureOf={fileHref}
          button={(button) => (
            <button class={button.usual ? 'choice usual' : 'choice'} data-click={message.id} data-value={button.value}>
              {button.label}
            </button>
          )}
        />
      )
    case 'image':
      return <img src={fileHref(String(content['image_key'] ?? ''))} alt="" />
    case 'file':
    case 'audio':
    case 'media': {
      const key = String(content['file_key'] ?? '')
      const name = message.fileName ?? key
      return (
        <p class="file">
          <a href={fileHref(key)} download={name}>
            <Clip /> {name}
          </a>
        </p>
      )
    }
    default:
      return (
        <p class="muted">
          {words.unknownType} {message.msgType}
        </p>
      )
  }
}

/** A text whose addresses can be followed, as the platform's clients show it. */
function Linked(props: { text: string }) {
  return (
    <>
      {props.text.split(/(https?:\/\/[^\s<>"“”，。；：！？）]+)/).map((piece, at) =>
        at % 2 === 0 ? (
          piece
        ) : (
          <a href={piece} rel="noopener noreferrer nofollow" target="_blank">
            {piece}
          </a>
        ),
      )}
    </>
  )
}

/** The page's own messages mention nobody but the bot. */
function namesIn(text: string, bot: string): string {
  return text.replaceAll(/@_user_\d+/g, `@${bot}`)
}

/** Names of the platform with a sign that every font has. */
const signs: Readonly<Record<string, string>> = { Get: '✓', DONE: '✓✓', CrossMark: '✕', THUMBSUP: '+1', OK: '✓' }

function reactionText(emoji: string): string {
  const sign = signs[emoji]
  return sign === undefined ? emoji : `${sign} ${emoji}`
}

/** What a message said, in one short line. */
export function excerptOf(message: { readonly msgType: string; readonly content: string }): string {
  const content = objectIn(message.content) ?? {}
  if (message.msgType === 'text') return firstLine(String(content['text'] ?? '').replaceAll(/@_user_\d+ ?/g, ''), 60)
  if (message.msgType === 'file') return String(content['file_name'] ?? message.msgType)
  const texts = [...message.content.matchAll(/"(?:content|text)":"((?:[^"\\]|\\.){1,300})"/g)].map(([, text]) => text)
  const [found] = texts
  if (found === undefined) return message.msgType
  return firstLine(String(objectIn(`{"t":"${found}"}`)?.['t'] ?? message.msgType), 60)
}
