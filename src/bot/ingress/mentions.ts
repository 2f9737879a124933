import type { BotIdentity } from '../../collab/channel.js'
import type { Mention } from '../../collab/message.js'
import { enclosed, inLine } from '../../collab/project/outside.js'
import type { RawMention } from './raw.js'

/** Who "we" are while one message is read. */
export interface Self {
  /** The app id: a bot is sometimes named by it instead of its open id. */
  readonly bot: string
  readonly self: BotIdentity | null
}

export interface Mentions {
  /** The people of one message, once each; an entry for each placeholder key or open id. */
  readonly list: readonly Mention[]
  /** Replaces placeholders by names and takes out our own. */
  inText(text: string): string
  /** What a reader sees for one at-node of a rich text; empty for ourselves. */
  atNode(userId: string, userName: string): string
  /** What a reader sees for an `<at>` inside Markdown: it never makes a mention, it only shows a known one. */
  atMarkup(userId: string, userName: string): string
  mentionsSelf(): boolean
  mentionsAll(): boolean
}

const ALL = '@_all'

/** People choose their names: one stays a name on its line, inside whatever text it is put. */
const nameIn = (name: string): string => enclosed(inLine(name)).replaceAll(/\s+/gu, ' ').trim().slice(0, 100)

/**
 * The mentions of one message. The provider's list and the at-nodes of a rich text count; a text that only looks
 * like "@Name" does not.
 */
export function mentionsOf(raw: readonly RawMention[], who: Self): Mentions {
  const byKey = new Map<string, RawMention>()
  const found = new Map<string, Mention>()
  let all = false
  for (const one of raw) {
    if (one.key === ALL) all = true
    else {
      byKey.set(one.key, one)
      add(one)
    }
  }

  function add(one: RawMention): Mention {
    const isSelf =
      (one.appId !== null && one.appId === who.bot) || (one.openId !== null && one.openId === who.self?.openId)
    const openId = one.openId ?? one.appId ?? ''
    const made = { openId, name: nameIn(one.name) || openId, isBot: one.isBot || isSelf, isSelf }
    if (openId !== '' && !found.has(openId)) found.set(openId, made)
    return made
  }

  const shown = (one: Mention): string => (one.isSelf ? '' : `@${one.name}`)

  return {
    get list() {
      return [...found.values()]
    },
    inText(text) {
      const keys = [...byKey.keys(), ALL].filter((key) => key !== '').sort((a, b) => b.length - a.length)
      return replaceTokens(text, keys, (key) => {
        if (key === ALL) {
          all = true
          return '@all'
        }
        const one = byKey.get(key)
        return one === undefined ? key : shown(add(one))
      })
    },
    atNode(userId, userName) {
      if (userId === 'all' || userId === ALL) {
        all = true
        return '@all'
      }
      const listed = byKey.get(userId)
      if (listed !== undefined) return shown(add(listed))
      const known = found.get(userId)
      if (known !== undefined) return shown(known)
      // An open id, or an app id, stands where the documentation has a placeholder.
      if (/^(ou_|cli_)/.test(userId)) {
        const isApp = userId.startsWith('cli_')
        const openId = isApp ? null : userId
        return shown(add({ key: userId, openId, appId: isApp ? userId : null, name: userName, isBot: isApp }))
      }
      return userName === '' ? '' : `@${nameIn(userName)}`
    },
    atMarkup(userId, userName) {
      if (userId === 'all' || userId === ALL) return '@all'
      const listed = byKey.get(userId)
      const known = listed === undefined ? found.get(userId) : add(listed)
      if (known !== undefined) return shown(known)
      return userName === '' ? '' : `@${nameIn(userName)}`
    },
    mentionsSelf: () => [...found.values()].some((one) => one.isSelf),
    mentionsAll: () => all,
  }
}

/**
 * Replaces each key where it stands alone. In `ops@_user_1.example` it is part of a mail address, and in
 * `@_user_12` it is part of another key; both stay. One pass, so a name that looks like a key is not read again.
 */
export function replaceTokens(text: string, keys: readonly string[], by: (key: string) => string): string {
  if (keys.length === 0 || !text.includes('@')) return text
  const pattern = new RegExp(keys.map(escapeRegExp).join('|'), 'g')
  let out = ''
  let from = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const key = match[0]
    const end = match.index + key.length
    if (!standsAlone(text, match.index, end)) continue
    const name = by(key)
    out += text.slice(from, match.index) + name
    from = end
    if (name === '') {
      // Taking a word out takes one of the two blanks around it, so that no gap stays.
      const gapBefore = out === '' || /\s/.test(out.slice(-1))
      if (gapBefore && /^[ \u00a0]/.test(text.slice(end, end + 1))) from = end + 1
    }
  }
  return out + text.slice(from)
}

function standsAlone(text: string, start: number, end: number): boolean {
  if (/^[0-9A-Za-z_]/.test(text.slice(end, end + 1))) return false
  const inAddress = /[0-9A-Za-z._%+-]$/.test(text.slice(0, start).slice(-1)) && /^[.-]\w/.test(text.slice(end, end + 2))
  return !inAddress
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
