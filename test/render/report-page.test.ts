import { describe, expect, test } from 'vitest'
import { reportPage } from '../../src/render/report-page.js'

const hostile = [
  '# <script>alert(1)</script>',
  '<img src=x onerror=alert(1)><svg onload=alert(1)><iframe src="https://evil.test"></iframe>',
  '[click](javascript:alert(1)) [data](data:text/html,<script>alert(1)</script>) [ok](https://e.test/"onmouseover="alert(1))',
  '![pixel](https://tracker.test/p.png) ![x](javascript:alert(1)) [![inner](https://a.test/i.png)](https://b.test)',
  '```"><script>alert(1)</script>\n</code></pre><script>alert(1)</script>\n```',
  '| <b>h</b> |\n|---|\n| </table><script>x</script> |',
  '</main></body><style>*{display:none}</style>',
].join('\n\n')

const page = reportPage({ title: '</title><script>x</script>', markdown: hostile, language: 'zh' }).html

/** Every tag of the page with its attributes, as a browser would open it. */
const tags = [...page.matchAll(/<([a-z][a-z0-9]*)([^>]*)>/gi)].map(([, name, attributes]) => ({
  name,
  attributes: attributes ?? '',
}))

describe('A21 hostile HTML is inert in the page', () => {
  test('only elements of our own are opened', () => {
    const allowed = new Set(
      'html head meta title style body main h1 h2 p a span div table thead tbody tr th td pre code br'.split(' '),
    )
    expect(tags.filter((tag) => !allowed.has(tag.name ?? '')).map((tag) => tag.name)).toEqual([])
    expect(tags.filter((tag) => tag.name === 'style').length).toBe(1)
  })

  test('no handler, no address but http and https, nothing is fetched', () => {
    for (const { name, attributes } of tags.filter(({ name }) => name !== 'meta')) {
      expect(attributes).not.toMatch(/\bon\w+\s*=|src\s*=|srcset|javascript:|data:/i)
      const href = /href="([^"]*)"/.exec(attributes)?.[1]
      if (href !== undefined) expect(href).toMatch(/^https?:\/\//)
      if (name === 'a') expect(attributes).toContain('rel="noopener noreferrer nofollow"')
    }
    expect(page).toContain(
      `content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"`,
    )
  })

  test('what was written can still be read', () => {
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page).toContain('<span>click</span> (javascript:alert(1))')
    expect(page).toContain('<a href="https://tracker.test/p.png"')
  })

  test('entities and escapes show what they mean', () => {
    const shown = reportPage({ title: 't', markdown: 'a &lt;b&gt; C:\\dir \\*x\\*', language: 'en' }).html
    expect(shown).toContain('<p>a &lt;b&gt; C:\\dir *x*</p>')
  })

  test('it reads on a phone, in light and in dark', () => {
    expect(page).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">')
    expect(page).toContain('prefers-color-scheme: dark')
    expect(page).toContain('<html lang="zh-CN">')
  })
})
