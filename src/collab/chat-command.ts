import { ownerWorkModes, returnModes, whoModes, type ChatPolicy, type PolicySettings } from './chat-policy.js'
import { quietHoursOf } from './quiet-hours.js'

/** What `/chat` says. */
export type ChatCommand =
  | { readonly does: 'show' }
  | { readonly does: 'set'; readonly settings: PolicySettings }
  | { readonly does: 'remove'; readonly openId: string }
  /** It is meant as this command and cannot be read; nothing of it is done. */
  | { readonly does: 'nothing'; readonly wrong: string }

const names = ['/chat', '/聊天']
const keys: Readonly<Record<string, keyof ChatPolicy | 'remove'>> = {
  who: 'who',
  谁: 'who',
  mention: 'mention',
  提及: 'mention',
  all: 'atAll',
  全员: 'atAll',
  bots: 'bots',
  机器人: 'bots',
  return: 'returns',
  回复: 'returns',
  quiet: 'quiet',
  免打扰: 'quiet',
  language: 'language',
  语言: 'language',
  owner: 'ownerWork',
  所有者: 'ownerWork',
  remove: 'remove',
  移除: 'remove',
}
const switches: Readonly<Record<string, boolean>> = { on: true, 开: true, off: false, 关: false }
const who: Readonly<Record<string, ChatPolicy['who']>> = {
  ...same(whoModes),
  所有者: 'owner',
  成员: 'members',
  所有人: 'humans',
  无人: 'nobody',
}
const returns: Readonly<Record<string, ChatPolicy['returns']>> = { ...same(returnModes), 引用: 'reply', 直接: 'chat' }
const ownerWork: Readonly<Record<string, ChatPolicy['ownerWork']>> = {
  ...same(ownerWorkModes),
  受限: 'restricted',
  私下: 'private-return',
  完整: 'owner',
}
const languages: Readonly<Record<string, { readonly is: ChatPolicy['language'] }>> = {
  en: { is: 'en' },
  英文: { is: 'en' },
  zh: { is: 'zh' },
  中文: { is: 'zh' },
  auto: { is: null },
  自动: { is: null },
}

/**
 * The command of a message that is nothing but `/chat` and settings; null for any other message. Full-width forms of
 * ASCII count, as Chinese keyboards write them; look-alikes of other alphabets, quotes and code do not.
 */
export function chatCommandOf(text: string): ChatCommand | null {
  const said = narrow(text).trim()
  if (/[\n\r]/u.test(said)) return null
  const [name = '', ...args] = said.split(/\s+/u)
  if (!names.includes(name.toLowerCase())) return null
  if (args.length === 0) return { does: 'show' }
  const settings: Record<string, unknown> = {}
  for (const arg of args) {
    const at = arg.indexOf('=')
    const field = keyOf(arg.slice(0, Math.max(0, at)).toLowerCase())
    const value = arg.slice(at + 1)
    const wrong = { does: 'nothing', wrong: arg } as const
    if (field === null || Object.hasOwn(settings, field)) return wrong
    if (field === 'remove')
      return args.length === 1 && /^ou_\w+$/.test(value) ? { does: 'remove', openId: value } : wrong
    const read = valueOf(field, value)
    if (read === null) return wrong
    settings[field] = read.is
  }
  return { does: 'set', settings: settings as PolicySettings }
}

function keyOf(name: string): keyof ChatPolicy | 'remove' | null {
  return Object.hasOwn(keys, name) ? (keys[name] ?? null) : null
}

function valueOf(field: keyof ChatPolicy, said: string): { readonly is: unknown } | null {
  const value = said.toLowerCase()
  switch (field) {
    case 'who':
      return from(who, value)
    case 'returns':
      return from(returns, value)
    case 'ownerWork':
      return from(ownerWork, value)
    case 'atAll':
    case 'bots':
      return from(switches, value)
    case 'mention': {
      const on = from(switches, value)
      return on === null ? null : { is: on.is === true ? 'required' : 'off' }
    }
    case 'language':
      return Object.hasOwn(languages, value) ? (languages[value] ?? null) : null
    case 'quiet': {
      if (switches[value] === false) return { is: null }
      const hours = quietHoursOf(said)
      return hours === null ? null : { is: hours }
    }
  }
}

function from<T>(of: Readonly<Record<string, T>>, value: string): { readonly is: T | undefined } | null {
  return Object.hasOwn(of, value) ? { is: of[value] } : null
}

function same<T extends string>(modes: readonly T[]): Readonly<Record<T, T>> {
  return Object.fromEntries(modes.map((mode) => [mode, mode])) as Record<T, T>
}

/** Full-width ASCII and the wide space as the plain characters. */
export function narrow(text: string): string {
  return text
    .replace(/[\uff01-\uff5e]/gu, (char) => String.fromCodePoint((char.codePointAt(0) ?? 0) - 0xfee0))
    .replaceAll('\u3000', ' ')
}
