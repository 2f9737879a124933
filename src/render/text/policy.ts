import type { Catalogue } from './notice.js'

/** What is said about who may start work where; a catalogue holds it with the rest. */
export type PolicyCatalogue = Pick<
  Catalogue,
  | 'start-refused'
  | 'operate-owner-only'
  | 'authority-gone'
  | 'admission-asked'
  | 'admission-given'
  | 'admission-refused'
  | 'chat-policy'
  | 'chat-command-wrong'
  | 'chat-policy-refused'
  | 'member-removed'
>
