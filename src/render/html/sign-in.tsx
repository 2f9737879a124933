import { Layout, type Shell } from './layout.js'
import { pageWords } from './words.js'

/** The way in: a link's code or the admin token. */
export function SignInPage(props: { shell: Shell; next: string; trouble: 'code-spent' | 'token-wrong' | null }) {
  const words = pageWords[props.shell.language]
  const trouble = { 'code-spent': words.codeSpent, 'token-wrong': words.tokenWrong }
  return (
    <Layout shell={props.shell} title={words.signIn} place="sign-in">
      <div class="narrow card">
        <h1>{words.product}</h1>
        {props.trouble === null ? null : (
          <p class="note bad" role="alert">
            {trouble[props.trouble]}
          </p>
        )}
        <p class="muted small">{words.signInHint}</p>
        <form method="post" action="/sign-in">
          <input type="hidden" name="next" value={props.next} />
          <label for="token">{words.token}</label>
          <input id="token" name="token" type="password" autocomplete="current-password" required />
          <div class="acts">
            <button class="main">{words.signIn}</button>
          </div>
        </form>
      </div>
    </Layout>
  )
}

/** For an address that leads nowhere. */
export function NotFoundPage(props: { shell: Shell }) {
  const words = pageWords[props.shell.language]
  return (
    <Layout shell={props.shell} title={words.notFound} place="none">
      <div class="empty">
        <h1>{words.notFound}</h1>
        <p>{words.notFoundHint}</p>
        <p>
          <a href="/">{words.backToList}</a>
        </p>
      </div>
    </Layout>
  )
}
