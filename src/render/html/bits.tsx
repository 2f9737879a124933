import type { Language } from '../../collab/delivery.js'
import { DAY, HOUR, MINUTE, SECOND } from '../../lib/time.js'
import type { Term } from './terms.js'

export function Badge(props: { term: Term; language: Language }) {
  return <span class={`badge ${props.term.tone}`}>{props.term[props.language]}</span>
}

/** How long ago, with the exact time beside it for those who ask. Times in milliseconds since the epoch. */
export function When(props: { at: number; now: number; language: Language }) {
  const iso = new Date(props.at).toISOString()
  return (
    <time datetime={iso} title={`${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`}>
      {ageText(props.now - props.at, props.language) ?? `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`}
    </time>
  )
}

/** Null for what is better said as a date. */
export function ageText(ageMs: number, language: Language): string | null {
  const zh = language === 'zh'
  if (ageMs < 45 * SECOND) return zh ? '刚刚' : 'just now'
  if (ageMs < HOUR) return amount(Math.max(1, Math.round(ageMs / MINUTE)), zh ? ' 分钟前' : ' min ago')
  if (ageMs < DAY) return amount(Math.round(ageMs / HOUR), zh ? ' 小时前' : ' h ago')
  if (ageMs < 7 * DAY) return amount(Math.round(ageMs / DAY), zh ? ' 天前' : ' d ago')
  return null
}

const amount = (count: number, unit: string): string => `${count}${unit}`

/** The first line with words in it, cut at a whole character. */
export function firstLine(text: string, limit = 140): string {
  const line =
    text
      .split('\n')
      .find((part) => part.trim() !== '')
      ?.trim() ?? ''
  const characters = [...line]
  return characters.length <= limit ? line : `${characters.slice(0, limit - 1).join('')}…`
}

/** Bytes in words. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
