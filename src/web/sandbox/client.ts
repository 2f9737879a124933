/**
 * The script of the chat page: sends what people say, fetches the room again after each change that the stream
 * names, and swaps only the messages that differ, so that nothing jumps. Plain JavaScript, no build.
 */
export const chatScript = `
'use strict'
const root = document.getElementById('chat')
const talk = document.getElementById('talk')
const form = document.getElementById('say')
const text = document.getElementById('text')
const file = document.getElementById('file')
const trouble = document.getElementById('trouble')
const replying = document.getElementById('replying')
const attached = document.getElementById('attached')
const chatId = root.dataset.chat
const csrf = document.querySelector('meta[name=csrf]').content
let threadOf

const say = (message) => {
  trouble.textContent = message
  trouble.hidden = message === ''
}
const atEnd = () => talk.scrollHeight - talk.scrollTop - talk.clientHeight < 80
const toEnd = () => { talk.scrollTop = talk.scrollHeight }
// Whoever reads further up is left there; everybody else follows, also when a picture gets its height late.
let following = true
talk.addEventListener('scroll', () => { following = atEnd() })
talk.addEventListener('load', () => { if (following) toEnd() }, true)

/* ---- the room ---- */
const localTimes = (node) => {
  for (const time of node.querySelectorAll('time')) {
    const at = new Date(time.dateTime)
    time.textContent = at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
    time.title = at.toLocaleString()
  }
}
const patch = (now, fresh) => {
  const wanted = [...fresh.children]
  const known = new Map([...now.children].map((item) => [item.id, item]))
  let place = now.firstElementChild
  for (const item of wanted) {
    const old = known.get(item.id)
    known.delete(item.id)
    if (old !== undefined && old.outerHTML === item.outerHTML) {
      if (old === place) place = place.nextElementSibling
      else now.insertBefore(old, place)
    } else if (old !== undefined && old.querySelector(':scope > .thread') !== null && item.querySelector(':scope > .thread') !== null) {
      const bubble = old.querySelector(':scope > .bubble')
      const freshBubble = item.querySelector(':scope > .bubble')
      if (bubble.outerHTML !== freshBubble.outerHTML) bubble.replaceWith(freshBubble)
      patch(old.querySelector(':scope > .thread'), item.querySelector(':scope > .thread'))
      if (old === place) place = place.nextElementSibling
      else now.insertBefore(old, place)
    } else {
      item.classList.add(old === undefined ? 'new' : 'changed')
      if (old !== undefined) {
        if (old === place) place = place.nextElementSibling
        old.remove()
      }
      now.insertBefore(item, place)
    }
  }
  for (const gone of known.values()) gone.remove()
}
let loading = false
let again = false
const load = async () => {
  if (loading) { again = true; return }
  loading = true
  try {
    const response = await fetch('/sandbox/chats/' + encodeURIComponent(chatId), { headers: { accept: 'text/html' } })
    if (response.status === 401) { location.reload(); return }
    const fresh = document.createElement('ol')
    fresh.append(...new DOMParser().parseFromString('<ol>' + await response.text() + '</ol>', 'text/html').querySelector('ol').children)
    localTimes(fresh)
    const follow = following
    patch(talk, fresh)
    if (follow) toEnd()
  } catch { again = true } finally {
    loading = false
    if (again) { again = false; setTimeout(load, 60) }
  }
}
const events = new EventSource('/sandbox/events')
events.addEventListener('hello', () => { if (trouble.textContent === root.dataset.lost) say(''); load() })
events.addEventListener('change', (event) => {
  const changed = JSON.parse(event.data).chatId
  if (changed === chatId) load()
  else document.querySelector('[data-room="' + CSS.escape(changed) + '"]')?.classList.add('unread')
})
events.addEventListener('error', () => say(root.dataset.lost))

/* ---- the composer ---- */
const write = async (path, options) => {
  const response = await fetch(path, { method: 'POST', ...options, headers: { 'x-csrf-token': csrf, ...options.headers } })
  if (!response.ok) throw new Error(String(response.status))
  return response
}
const send = (path, body) => write(path, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
const speaker = () => new FormData(form).get('from')
const replyTo = (id, excerpt) => {
  threadOf = id
  replying.hidden = id === undefined
  replying.querySelector('span').textContent = excerpt ?? ''
  if (id !== undefined) text.focus()
}
const showAttached = () => {
  const [chosen] = file.files
  attached.hidden = chosen === undefined
  attached.querySelector('span').textContent = chosen?.name ?? ''
}
const grow = () => {
  text.style.height = 'auto'
  text.style.height = Math.min(text.scrollHeight + 2, innerHeight * .4) + 'px'
}
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const words = text.value
  const [chosen] = file.files
  if (words.trim() === '' && chosen === undefined) { text.focus(); return }
  say('')
  const thread = threadOf === undefined ? {} : { threadOf }
  try {
    if (chosen !== undefined) {
      const body = new FormData()
      body.set('chatId', chatId)
      body.set('from', speaker())
      body.set('threadOf', threadOf ?? '')
      body.set('file', chosen)
      await write('/sandbox/file', { body })
      file.value = ''
      showAttached()
    }
    if (words.trim() !== '') {
      const mention = form.elements.mention?.checked === true
      await send('/sandbox/say', { chatId, from: speaker(), text: words, mention, ...thread })
      text.value = ''
      grow()
    }
    following = true
    toEnd()
    text.focus()
  } catch { say(root.dataset.failed) }
})
text.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && !event.shiftKey && !event.isComposing && matchMedia('(pointer: fine)').matches) {
    event.preventDefault()
    form.requestSubmit()
  }
})
text.addEventListener('input', grow)
file.addEventListener('change', showAttached)
replying.querySelector('button').addEventListener('click', () => replyTo(undefined))
attached.querySelector('button').addEventListener('click', () => { file.value = ''; showAttached() })
text.addEventListener('paste', (event) => {
  if (event.clipboardData.files.length > 0) { file.files = event.clipboardData.files; showAttached() }
})

/* ---- buttons of cards ---- */
const toast = document.getElementById('toast')
let toastEnds
const showToast = (tone, words) => {
  clearTimeout(toastEnds)
  toast.dataset.tone = tone
  toast.textContent = words
  toast.hidden = false
  toastEnds = setTimeout(() => { toast.hidden = true }, 6000)
}
/** What the platform's own client shows after a press: the app's toast, or the number of what went wrong. */
const pressed = ({ shown, answer, code }) => {
  if (shown === 'error') showToast('error', root.dataset.unanswered + ' ' + code)
  else if (answer.toast) showToast(answer.toast.type, answer.toast.content)
}

/* ---- messages and hints ---- */
document.addEventListener('click', async (event) => {
  const button = event.target.closest('button')
  if (button === null) return
  const { reply, excerpt, recall, by, click, value, directive, trouble: fault, said } = button.dataset
  try {
    if (reply !== undefined) replyTo(reply, excerpt)
    else if (recall !== undefined) await send('/sandbox/recall', { messageId: recall, by })
    else if (click !== undefined) {
      button.disabled = true
      const response = await send('/sandbox/click', { messageId: click, by: speaker(), value: JSON.parse(value) })
      pressed((await response.json()).answer)
      button.disabled = false
    } else if (fault !== undefined) {
      await send('/sandbox/trouble', { what: fault })
      showToast('info', said)
    } else if (directive !== undefined) {
      text.value = text.value.trim() === '' ? directive : text.value.trimEnd() + '\\n' + directive
      grow()
      text.focus()
      const blank = text.value.lastIndexOf('<')
      if (blank > text.value.lastIndexOf('\\n') && text.value.endsWith('>')) text.setSelectionRange(blank, text.value.length)
    }
  } catch { button.disabled = false; say(root.dataset.failed) }
})
localTimes(talk)
toEnd()
document.querySelector('.rooms [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
if (matchMedia('(pointer: fine)').matches) text.focus()
else if (matchMedia('(max-width: 60rem)').matches) for (const hint of document.querySelectorAll('.hints details')) hint.open = false
`
