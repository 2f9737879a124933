import { Hono } from 'hono'
import { styleSheet } from '../render/html/style.js'
import { chatStyle } from './sandbox/style.js'
import { chatScript } from './sandbox/client.js'
import { pageScript } from './page-script.js'

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#1a5fb4"/><path d="M8 10h16v10H15l-4 4v-4H8z" fill="none" stroke="#fff" stroke-width="2.4" stroke-linejoin="round"/><path d="M12.5 15l2.5 2.4 4.8-4.8" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/></svg>`

const assets: Readonly<Record<string, { readonly type: string; readonly body: string }>> = {
  'style.css': { type: 'text/css; charset=utf-8', body: styleSheet },
  'page.js': { type: 'text/javascript; charset=utf-8', body: pageScript },
  'chat.css': { type: 'text/css; charset=utf-8', body: chatStyle },
  'chat.js': { type: 'text/javascript; charset=utf-8', body: chatScript },
  'icon.svg': { type: 'image/svg+xml', body: icon },
}

/** Style, script and icon; the same for everyone, so they need no session. */
export function assetRoutes(): Hono {
  const app = new Hono()
  app.get('/assets/:name', (c) => {
    const name = c.req.param('name')
    const asset = Object.hasOwn(assets, name) ? assets[name] : undefined
    if (asset === undefined) return c.notFound()
    return c.body(asset.body, 200, { 'content-type': asset.type, 'cache-control': 'no-cache' })
  })
  return app
}
