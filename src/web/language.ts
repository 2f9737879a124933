import type { Language } from '../collab/delivery.js'

/** The first of `en` and `zh` that the header prefers; English when it names neither. */
export function languageOf(acceptLanguage: string | undefined): Language {
  const wished = (acceptLanguage ?? '')
    .split(',')
    .map((part, at) => {
      const [tag = '', ...params] = part.trim().toLowerCase().split(';')
      const q = params.map((param) => /^\s*q=([0-9.]+)\s*$/.exec(param)?.[1]).find((value) => value !== undefined)
      return { tag: tag.split('-')[0] ?? '', q: q === undefined ? 1 : Number(q), at }
    })
    .filter(({ tag, q }) => (tag === 'en' || tag === 'zh') && q > 0)
    .sort((a, b) => b.q - a.q || a.at - b.at)
  return wished[0]?.tag === 'zh' ? 'zh' : 'en'
}
