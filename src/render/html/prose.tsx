import { proseHtml } from './markdown.js'

/** A text of somebody else's, shown safely. */
export function Prose(props: { text: string }) {
  const html = proseHtml(props.text)
  if (html === null) return <p class="said long">{props.text}</p>
  // Made by our own renderer, with HTML switched off.
  return <div class="prose" dangerouslySetInnerHTML={{ __html: html }} />
}
