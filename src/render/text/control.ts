import type { Choice } from '../../collab/choice.js'
import type { Language } from '../../collab/delivery.js'
import type { Catalogue } from './notice.js'
import { buttonsEn } from './control-en.js'
import { buttonsZh } from './control-zh.js'

/** What is said around control words and buttons; a catalogue holds it with the rest. */
export type ControlCatalogue = Pick<
  Catalogue,
  | 'late-released'
  | 'late-skipped'
  | 'newest-released'
  | 'nothing-held'
  | 'late-control'
  | 'stopping'
  | 'stopped'
  | 'nothing-running'
  | 'fresh-context'
  | 'result-withheld'
  | 'edit-taken-up'
  | 'edited-after-answer'
  | 'edit-left'
  | 'status'
  | 'help'
  | 'agents'
  | 'choice-not-yours'
  | 'choice-unknown'
  | 'choice-made'
  | 'choice-under-way'
>

export const buttonWords: Readonly<Record<Language, Readonly<Record<Choice['act'], string>>>> = {
  en: buttonsEn,
  zh: buttonsZh,
}
