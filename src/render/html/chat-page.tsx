import { Clip } from './clip.js'
import { ChatMessage, type ShownMessage } from './chat-message.js'
import { chatWords } from './chat-words.js'
import { Layout, type Shell } from './layout.js'
import type { Language } from '../../collab/delivery.js'

export interface ChatPageProps {
  readonly shell: Shell
  readonly rooms: readonly {
    readonly chatId: string
    readonly name: string
    readonly mode: 'p2p' | 'group' | 'topic'
  }[]
  readonly chatId: string
  readonly mode: 'p2p' | 'group' | 'topic'
  readonly members: readonly { readonly openId: string; readonly name: string }[]
  readonly messages: readonly ShownMessage[]
  readonly directives: readonly { readonly syntax: string; readonly en: string; readonly zh: string }[]
}

/** The messages alone: what the page's script fetches after every change. */
export function Talk(props: { messages: readonly ShownMessage[]; language: Language; mode: ChatPageProps['mode'] }) {
  const words = chatWords[props.language]
  return (
    <>
      {props.messages.length === 0 ? (
        <li class="empty" id="empty">
          {props.mode === 'p2p' ? words.empty : words.emptyGroup}
        </li>
      ) : null}
      {props.messages.map((message) => (
        <ChatMessage message={message} language={props.language} />
      ))}
    </>
  )
}

/** The people's side of the sandbox: three rooms, one composer, everything live. */
export function ChatPage(props: ChatPageProps) {
  const { shell, chatId, mode } = props
  const { language } = shell
  const words = chatWords[language]
  return (
    <Layout shell={shell} title={words.title} place="chat" styles={['/assets/chat.css']} scripts={['/assets/chat.js']}>
      <div
        id="chat"
        class="chat"
        data-chat={chatId}
        data-lost={words.lost}
        data-failed={words.failed}
        data-unanswered={words.unanswered}
      >
        <nav class="rooms" aria-label={words.title}>
          {props.rooms.map((room) => (
            <a
              href={`/sandbox?chat=${encodeURIComponent(room.chatId)}`}
              data-room={room.chatId}
              {...(room.chatId === chatId ? { 'aria-current': 'page' as const } : {})}
            >
              <span class="small muted">{words.modes[room.mode]}</span>
              <span>{room.name}</span>
            </a>
          ))}
        </nav>
        <section class="room">
          <noscript>
            <p class="note bad">{words.needsScript}</p>
          </noscript>
          <ol class="talk" id="talk" aria-live="polite">
            <Talk messages={props.messages} language={language} mode={mode} />
          </ol>
          <p class="toast small" id="toast" role="status" hidden></p>
          <Composer {...props} />
        </section>
        <Hints language={language} directives={props.directives} />
      </div>
    </Layout>
  )
}

/** What can be tried here. With a real agent there are no directives: then it is asked, not directed. */
function Hints(props: { language: Language; directives: ChatPageProps['directives'] }) {
  const words = chatWords[props.language]
  const troubles = Object.entries(words.trouble)
  return (
    <aside class="hints">
      {props.directives.length === 0 ? null : (
        <details open>
          <summary>{words.hints}</summary>
          <p class="small muted">{words.hintsAbout}</p>
          <ul>
            {props.directives.map((directive) => (
              <li>
                <button type="button" class="plain mono" data-directive={directive.syntax}>
                  {directive.syntax}
                </button>
                <span class="small muted">{directive[props.language]}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      <details open>
        <summary>{words.troubles}</summary>
        <p class="small muted">{words.troublesAbout}</p>
        <ul>
          {troubles.map(([what, name]) => (
            <li>
              <button type="button" class="plain" data-trouble={what} data-said={`${words.troubleSet} ${name}`}>
                {name}
              </button>
            </li>
          ))}
        </ul>
      </details>
      <p class="small muted about">{words.about}</p>
    </aside>
  )
}

function Composer(props: ChatPageProps) {
  const words = chatWords[props.shell.language]
  return (
    <form class="say" id="say">
      <p class="note bad small" id="trouble" role="alert" hidden></p>
      <p class="reply small" id="replying" hidden>
        {words.inTopic} <span></span>{' '}
        <button type="button" class="plain" aria-label={words.stopReplying}>
          ✕
        </button>
      </p>
      <p class="reply small" id="attached" hidden>
        {words.attached} <span></span>{' '}
        <button type="button" class="plain" aria-label="✕">
          ✕
        </button>
      </p>
      <textarea id="text" name="text" rows={2} aria-label={words.write} placeholder={words.write}></textarea>
      <div class="acts">
        {props.members.length < 2 ? (
          <input type="hidden" name="from" value={props.members[0]?.openId ?? ''} />
        ) : (
          <label class="inline">
            <span class="small muted">{words.speakAs}</span>{' '}
            <select name="from" aria-label={words.speakAs}>
              {props.members.map((member) => (
                <option value={member.openId}>{member.name}</option>
              ))}
            </select>
          </label>
        )}
        {props.mode === 'p2p' ? null : (
          <label class="inline small">
            <input type="checkbox" name="mention" checked /> {words.mention}
          </label>
        )}
        <label class="button" title={words.attach}>
          <Clip />
          <span class="hidden-text">{words.attach}</span>
          <input type="file" id="file" />
        </label>
        <button class="main">{words.send}</button>
      </div>
    </form>
  )
}
