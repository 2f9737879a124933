/**
 * Keeps an open page fresh without a reload: every few seconds, while it is seen and nobody types in it, the same
 * address is read again and its content swapped when it differs. Everything works without it.
 */
export const pageScript = `
'use strict'
const localTimes = (node) => {
  for (const time of node.querySelectorAll('time')) time.title = new Date(time.dateTime).toLocaleString()
}
const main = document.querySelector('main[data-live]')
if (main !== null) {
  localTimes(main)
  const busy = () => document.hidden || (main.contains(document.activeElement) && document.activeElement !== main)
    || main.querySelector('details[open] textarea') !== null || String(getSelection()) !== ''
  const withoutKeys = (node) => {
    const copy = node.cloneNode(true)
    for (const field of copy.querySelectorAll('input[name=key]')) field.remove()
    return copy.innerHTML
  }
  setInterval(async () => {
    if (busy()) return
    try {
      const response = await fetch(location.href, { headers: { accept: 'text/html' }, redirect: 'error' })
      if (!response.ok || busy()) return
      const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('main[data-live]')
      if (fresh !== null) localTimes(fresh)
      if (fresh !== null && withoutKeys(fresh) !== withoutKeys(main)) main.replaceChildren(...fresh.childNodes)
    } catch { /* The next round tries again. */ }
  }, 3000)
}
`
