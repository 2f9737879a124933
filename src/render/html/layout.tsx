import type { Child } from 'hono/jsx'
import type { Language } from '../../collab/delivery.js'
import { pageWords } from './words.js'

/** What every page of the operator needs; `csrf` is null on pages without a session. */
export interface Shell {
  readonly language: Language
  readonly csrf: string | null
  /** The sandbox's chat exists. */
  readonly sandbox: boolean
}

export type Place = 'requests' | 'chat' | 'sign-in' | 'none'

/** The frame of a page: one style sheet, one small script, nothing inline and nothing from outside. */
export function Layout(props: {
  shell: Shell
  title: string
  place: Place
  scripts?: readonly string[]
  styles?: readonly string[]
  live?: boolean
  children?: Child
}) {
  const { shell, place } = props
  const words = pageWords[shell.language]
  const here = (name: Place) => (place === name ? ({ 'aria-current': 'page' } as const) : {})
  return (
    <html lang={shell.language === 'zh' ? 'zh-CN' : 'en'}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {shell.csrf === null ? null : <meta name="csrf" content={shell.csrf} />}
        <title>{`${props.title} · ${words.product}`}</title>
        <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/assets/style.css" />
        {(props.styles ?? []).map((href) => (
          <link rel="stylesheet" href={href} />
        ))}
        {(props.scripts ?? []).map((src) => (
          <script src={src} defer></script>
        ))}
      </head>
      <body>
        <a class="skip" href="#main">
          {words.skip}
        </a>
        {shell.csrf === null ? null : (
          <header class="top">
            <a class="name" href="/" aria-label={words.product}>
              <img src="/assets/icon.svg" alt="" />
              <span>{words.product}</span>
            </a>
            <nav aria-label={words.navigation}>
              <a href="/" {...here('requests')}>
                {words.requests}
              </a>
              {shell.sandbox ? (
                <a href="/sandbox" {...here('chat')}>
                  {words.chat}
                </a>
              ) : null}
              <a href="/queues">{words.queues}</a>
            </nav>
            <form method="post" action="/sign-out">
              <input type="hidden" name="csrf" value={shell.csrf} />
              <button class="plain">{words.signOut}</button>
            </form>
          </header>
        )}
        <main id="main" {...(props.live === true ? { 'data-live': '' } : {})}>
          {props.children}
        </main>
      </body>
    </html>
  )
}
