import type { Language } from '../../collab/delivery.js'
import type { Notice } from '../../collab/notice.js'
import { en } from './en.js'
import { zh } from './zh.js'

/** One sentence or two for every notice; a kind without words does not compile. */
export type Catalogue = {
  readonly [Kind in Notice['kind']]: (notice: Extract<Notice, { readonly kind: Kind }>) => string
}

const catalogues: Readonly<Record<Language, Catalogue>> = { en, zh }

/** What the gateway says in a chat: plain text, says what happened and what comes next, asks nobody to send twice. */
export function renderNotice(notice: Notice, language: Language): string {
  // The kind picks the words for exactly this member; the compiler cannot follow the pair through the record.
  const words = catalogues[language][notice.kind] as (notice: Notice) => string
  return words(notice)
}
