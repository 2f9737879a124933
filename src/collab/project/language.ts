import type { Language } from '../delivery.js'

const han = /\p{Script=Han}/u
const letters = /\p{Letter}/u

/** The language in which to speak to the author of a text; null when it has no words to tell by. */
export function languageOf(text: string): Language | null {
  if (han.test(text)) return 'zh'
  return letters.test(text) ? 'en' : null
}
