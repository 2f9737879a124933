import { choicesOf, valueOfChoice, type Choice } from '../collab/choice.js'
import type { Language } from '../collab/delivery.js'
import type { Notice } from '../collab/notice.js'
import { buttonWords } from './text/control.js'
import { renderNotice } from './text/notice.js'
import { offeredButton } from './text/permission.js'

/**
 * The `content` of a notice that asks for a choice: a small card 2.0 with its sentence and a button for each choice;
 * null for a notice that asks for none, which is a text. The sentence names the control words, so a reader whose client
 * shows no buttons, or gets the text instead, can decide as well.
 *
 * Lark: card JSON 2.0, button with a `callback` behaviour
 */
export function noticeCard(notice: Notice, language: Language): string | null {
  const choices = choicesOf(notice)
  // The live card stays a card when nothing is left to press: it is the same message.
  if (choices.length === 0) return notice.kind === 'progress' ? card([sentence(renderNotice(notice, language))]) : null
  const row = {
    tag: 'column_set',
    flex_mode: 'flow',
    columns: choices.map((choice, n) => ({
      tag: 'column',
      width: 'auto',
      // One button alone is not advice to press it, and none is advice to allow something.
      elements: [
        button(choice, n === 0 && choices.length > 1 && !gives.has(notice.kind), labelOf(choice, notice, language)),
      ],
    })),
  }
  return card([sentence(renderNotice(notice, language)), row])
}

/** The same card once the choice is made: what was asked, and what became of it; nothing is left to press. */
export function chosenCard(asked: Notice, became: Notice, language: Language): string {
  return card([sentence(renderNotice(asked, language)), { tag: 'hr' }, sentence(renderNotice(became, language))])
}

/** What these ask for is a right: no button of theirs is the usual one. */
const gives: ReadonlySet<Notice['kind']> = new Set(['approval', 'admission-asked'])

/** What is offered is named on its button. */
function labelOf(choice: Choice, notice: Notice, language: Language): string {
  const offer = choice.act === 'allow-offered' && notice.kind === 'approval' ? notice.offer : undefined
  return offer === undefined ? buttonWords[language][choice.act] : offeredButton(offer, language)
}

function button(choice: Choice, usual: boolean, label: string): object {
  return {
    tag: 'button',
    text: { tag: 'plain_text', content: label },
    type: usual ? 'primary' : 'default',
    behaviors: [{ type: 'callback', value: valueOfChoice(choice) }],
  }
}

/** Plain text: names in our own sentences come from elsewhere, and in Markdown one of them could mention somebody. */
function sentence(content: string): object {
  return { tag: 'div', text: { tag: 'plain_text', content } }
}

/** `update_multi`: the card is replaced for everybody once the choice is made. */
function card(elements: readonly object[]): string {
  return JSON.stringify({ schema: '2.0', config: { update_multi: true }, body: { elements } })
}
