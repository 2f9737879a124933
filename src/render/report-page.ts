import type { Token } from 'markdown-it'
import type { OutgoingFile } from '../collab/channel.js'
import { spelledOut, webAddress } from './address.js'
import { type Chart, chartTable, readChart } from './chart/chart.js'
import { drawingOf } from './chart/draw.js'
import { clean } from './clean.js'
import type { Cell } from './leaf.js'
import { parser } from './leaves.js'
import { imageNamed } from './named.js'
import { attribute, runsOf, visible } from './runs.js'
import { taskOf, taskSigns } from './task-list.js'

export interface ReportPageView {
  readonly title: string
  readonly markdown: string
  readonly language: 'en' | 'zh'
  /** Files of the answer: images among them are shown where they are named. */
  readonly files?: readonly OutgoingFile[]
}

export interface ReportPage {
  readonly html: string
  /** Each stands in the page as `src="artifact:DIGEST"`, until `withImages` puts its bytes there. */
  readonly images: readonly OutgoingFile[]
  /** It shows something that nobody reads raw on a phone: a table, code, a picture. */
  readonly rich: boolean
}

/** Image types that every browser shows; a page stays a file that a phone opens. */
const SHOWN_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
const IMAGES_BYTES = 8 * 1024 * 1024

const style = `
:root { color-scheme: light dark; --ink: #1f2328; --paper: #fff; --line: #d0d7de; --soft: #f6f8fa; --link: #0b57d0 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --line: #30363d; --soft: #161b22; --link: #79b8ff } }
body { margin: 0 auto; max-width: 46rem; padding: 1rem 1rem 4rem; font: 1rem/1.65 system-ui, sans-serif; color: var(--ink); background: var(--paper); overflow-wrap: anywhere }
h1, h2, h3 { line-height: 1.3 }
a { color: var(--link) }
pre, code { font-family: ui-monospace, monospace; font-size: .9em }
code { background: var(--soft); border-radius: 4px; padding: .1em .3em }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .8rem; overflow-x: auto }
pre code { padding: 0; background: none; overflow-wrap: normal }
.table { overflow-x: auto }
table { border-collapse: collapse; overflow-wrap: normal }
th, td { border: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top; min-width: 3rem }
img { max-width: 100%; height: auto }
blockquote { margin: 1rem 0; padding: 0 1rem; border-left: 4px solid var(--line) }
`

/**
 * A report as one page that does nothing: no script, no request; everything from the answer is escaped, and its images
 * and charts stand in the page itself. The policy in its head says so once more to the browser.
 */
export function reportPage(view: ReportPageView): ReportPage {
  const images = new Set<OutgoingFile>()
  const env: PageEnv = { files: view.files ?? [], images }
  const tokens = markdown.parse(clean(view.markdown), env)
  const body = markdown.renderer.render(tokens, markdown.options, env)
  const rich = images.size > 0 || tokens.some(({ type }) => ['table_open', 'fence', 'code_block'].includes(type))
  return { html: framed(view, body), images: [...images], rich }
}

/** The page with the bytes of its images in it. Only our own `src` looks like this: quotes of the answer are escaped. */
export function withImages(html: string, bytes: ReadonlyMap<string, { mediaType: string; base64: string }>): string {
  return html.replace(/ src="artifact:([0-9a-f]{64})"/g, (_, digest: string) => {
    const image = bytes.get(digest)
    return image === undefined ? '' : ` src="data:${image.mediaType};base64,${image.base64}"`
  })
}

interface PageEnv extends Record<PropertyKey, unknown> {
  readonly files: readonly OutgoingFile[]
  readonly images: Set<OutgoingFile>
}

function framed(view: ReportPageView, body: string): string {
  const escape = markdown.utils.escapeHtml
  const title = escape(view.title)
  return `<!doctype html>
<html lang="${view.language === 'zh' ? 'zh-CN' : 'en'}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
${body}</main>
</body>
</html>
`
}

const markdown = pageParser()

/** Links only to http and https; any other target, and every image that is not the answer's own, is spelled out instead. */
function pageParser(): ReturnType<typeof parser> {
  const page = parser()
  page.set({ breaks: true })
  const { rules } = page.renderer
  const escape = page.utils.escapeHtml
  const opening = (target: string): string => {
    const address = webAddress(target)
    return address === null ? '<span>' : `<a href="${escape(address)}" rel="noopener noreferrer nofollow">`
  }
  const closing = (target: string, label: string): string => {
    if (webAddress(target) !== null) return '</a>'
    return `</span>${escape(visible(spelledOut(target, label, [])))}`
  }
  // Entities and escapes are tokens of their own here; a page shows what they mean.
  rules.text_special = (tokens, at) => escape(tokens[at]?.content ?? '')
  rules.table_open = () => '<div class="table"><table>\n'
  rules.table_close = () => '</table></div>\n'
  rules.link_open = (tokens, at) => opening(attribute(tokens[at], 'href'))
  rules.link_close = (tokens, at) => {
    const from = openLink(tokens, at)
    return closing(attribute(tokens[from], 'href'), visible(runsOf(tokens.slice(from + 1, at))))
  }
  rules.image = (tokens, at, _options, env) => {
    const target = attribute(tokens[at], 'src')
    const label = visible(runsOf(tokens[at]?.children ?? []))
    const own = ownImage(target, env as unknown as PageEnv)
    if (own !== null) return `<img src="artifact:${own.digest}" alt="${escape(label === '' ? own.fileName : label)}">`
    if (openLink(tokens, at) >= 0) return escape(label)
    return `${opening(target)}${escape(label === '' ? target : label)}${closing(target, label === '' ? target : label)}`
  }
  const { fence } = rules
  rules.fence = (tokens, at, options, env, self) => {
    const token = tokens[at]
    const chart = token?.info.trim() === 'chart' ? readChart(token.content) : null
    return chart === null ? (fence?.(tokens, at, options, env, self) ?? '') : chartHtml(chart, escape)
  }
  // The box of a task stands with its words again.
  page.core.ruler.after('tasks', 'boxes', (state) => {
    for (const [at, item] of state.tokens.entries()) {
      const task = item.type === 'list_item_open' ? taskOf(item) : undefined
      const first = state.tokens[at + 2]?.children?.[0]
      if (task !== undefined && first !== undefined) first.content = `${taskSigns[task]} ${first.content}`
    }
  })
  return page
}

/** The image of the answer that a target names, as long as the page has room for it. */
function ownImage(target: string, { files, images }: PageEnv): OutgoingFile | null {
  const file = imageNamed(target, files)
  if (file === null || !SHOWN_TYPES.has(file.mediaType.toLowerCase()) || file.size === 0) return null
  const used = [...images].reduce((sum, each) => sum + each.size, 0)
  if (!images.has(file) && used + file.size > IMAGES_BYTES) return null
  images.add(file)
  return file
}

function chartHtml(chart: Chart, escape: (text: string) => string): string {
  const title = escape(chart.title)
  const source = `data:image/svg+xml;base64,${Buffer.from(drawingOf(chart)).toString('base64')}`
  const table = chartTable(chart)
  const row = (cells: readonly Cell[], tag: 'th' | 'td'): string =>
    `<tr>${cells.map((cell) => `<${tag}>${escape(visible(cell))}</${tag}>`).join('')}</tr>`
  return `<p><strong>${title}</strong></p>
<p><img src="${source}" alt="${title}"></p>
<div class="table"><table>
<thead>${row(table.header, 'th')}</thead>
<tbody>${table.rows.map((cells) => row(cells, 'td')).join('\n')}</tbody>
</table></div>
`
}

/** Index of the link a token stands in or closes, -1 when there is none; links do not nest. */
function openLink(tokens: readonly Token[], at: number): number {
  for (let from = at - 1; from >= 0; from--) {
    if (tokens[from]?.type === 'link_close') return -1
    if (tokens[from]?.type === 'link_open') return from
  }
  return -1
}
