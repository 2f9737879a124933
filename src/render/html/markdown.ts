import MarkdownIt from 'markdown-it'

/** Above this many characters a text is shown as it was written: parsing it would hold up the events. */
const limit = 32_000

const md = new MarkdownIt({ html: false, linkify: true, breaks: true })
// `file:` and the like are no use to a reader, and everything that runs is out of the question.
md.validateLink = (url) => /^(https?:\/\/|mailto:)/i.test(url.trim())
md.renderer.rules['link_open'] = (tokens, at, options, _env, self) => {
  tokens[at]?.attrSet('rel', 'noopener noreferrer nofollow')
  tokens[at]?.attrSet('target', '_blank')
  return self.renderToken(tokens, at, options)
}
// A remote image would tell its server who reads; it becomes a link.
md.renderer.rules['image'] = (tokens, at) => {
  const token = tokens[at]
  const source = String(token?.attrGet('src') ?? '')
  const label = md.utils.escapeHtml(token?.content === undefined || token.content === '' ? source : token.content)
  return `<a href="${md.utils.escapeHtml(source)}" rel="noopener noreferrer nofollow" target="_blank">${label}</a>`
}
// What language a block of code is in stands in its corner.
md.renderer.rules['fence'] = (tokens, at) => {
  const token = tokens[at]
  const language = (token?.info ?? '').trim().split(/\s/, 1)[0] ?? ''
  const code = `<pre><code>${md.utils.escapeHtml(token?.content ?? '')}</code></pre>`
  const label = language === '' ? '' : `<span class="lang">${md.utils.escapeHtml(language)}</span>`
  return `<div class="code-block">${label}${code}</div>\n`
}
// A box is a mark of its own; a point before it says nothing.
md.renderer.rules['list_item_open'] = (tokens, at, options, _env, self) => {
  const first = tokens[at + 2]
  if (first?.type === 'inline' && /^[☐☑] /.test(first.content)) tokens[at]?.attrSet('class', 'task')
  return self.renderToken(tokens, at, options)
}
md.renderer.rules['table_open'] = () => '<div class="scroll"><table>'
md.renderer.rules['table_close'] = () => '</table></div>'
// The pages allow no style attributes, and that is how columns come with their alignment.
for (const cell of ['th_open', 'td_open']) {
  md.renderer.rules[cell] = (tokens, at, options, _env, self) => {
    const token = tokens[at]
    const side = /^text-align:(left|center|right)$/.exec(String(token?.attrGet('style') ?? ''))?.[1]
    if (token !== undefined) token.attrs = side === undefined ? null : [['class', side]]
    return self.renderToken(tokens, at, options)
  }
}

/** Markdown as inert HTML: written HTML stays visible text. Null when the text is too long to be parsed here. */
export function proseHtml(markdown: string): string | null {
  return markdown.length > limit ? null : md.render(markdown)
}
