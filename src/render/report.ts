import { reportPage } from './report-page.js'
import type { AnswerView, RenderedAttachment } from './view.js'

/** A page larger than this is no help on a phone, and making it takes long. In UTF-16 units. */
const PAGE_MAX = 1_500_000

/** The whole report: always as Markdown, and as a page when it holds what nobody reads raw on a phone. */
export function reportFiles(view: AnswerView): readonly RenderedAttachment[] {
  const file = wholeFile(view)
  if (file.text.length > PAGE_MAX) return [file]
  const title = fileStem(view.reportName)
  const page = reportPage({ title, markdown: file.text, language: view.language, files: view.files ?? [] })
  if (!page.rich) return [file]
  return [file, { fileName: `${title}.html`, mediaType: 'text/html', text: page.html, images: page.images }]
}

/** The answer as it was written, byte for byte. */
export function wholeFile(view: AnswerView): RenderedAttachment {
  return { fileName: `${fileStem(view.reportName)}.md`, mediaType: 'text/markdown', text: wholeText(view) }
}

function wholeText(view: AnswerView): string {
  const parts: string[] = []
  if (view.label !== undefined && view.label !== '') parts.push(`${view.label}\n\n`)
  if (view.conclusion !== undefined && !view.markdown.startsWith(view.conclusion))
    parts.push(`${view.conclusion}\n\n---\n\n`)
  return parts.join('') + view.markdown
}

/** A file name people can read: letters of any script stay, what a path or a header could misread goes. */
function fileStem(name: string): string {
  const kept = [...name]
    .map((char) => (char < ' ' || char === '\u007f' || '/\\:*?"<>|'.includes(char) ? '-' : char))
    .join('')
    .trim()
  const short = [...kept].slice(0, 80).join('')
  return short === '' || short.startsWith('.') ? `report${short}` : short
}
