import { answerWords } from './text/answer.js'
import { clean } from './clean.js'
import { cutAtOrBefore } from './grapheme.js'
import type { Run } from './leaf.js'
import { partOf, sentence } from './part.js'
import { wholeFile } from './report.js'
import type { AnswerView, RenderedAnswer } from './view.js'

/** UTF-16 units of an answer that are shown when none of it was read. */
const SHOWN = 3_000

/**
 * An answer that cannot be rendered here, whole as a file, its first lines as they were written. No mark of it is
 * read, so there is nothing in it that could fail again.
 */
export function attachedWhole(view: AnswerView): RenderedAnswer {
  const words = answerWords[view.language]
  const file = wholeFile(view)
  const label = view.label === undefined || view.label === '' ? '' : `${view.label} `
  const concluded = view.conclusion !== undefined && view.conclusion !== ''
  const said = concluded ? words.conclusionBeginning : words.beginning
  const beginning = beginningOf(concluded ? (view.conclusion ?? '') : view.markdown)
  const part = partOf('text', [sentence(label + said(file.fileName)), { ...sentence(''), runs: linesOf(beginning) }])
  return { parts: [part], attachments: [file], unread: true }
}

/** Cut at the end of a line when one is near. */
function beginningOf(text: string): string {
  const readable = clean(text.slice(0, SHOWN * 2)).trim()
  const cut = cutAtOrBefore(readable, SHOWN)
  const newline = readable.lastIndexOf('\n', cut)
  return readable.slice(0, readable.length > cut && newline > cut / 2 ? newline : cut)
}

function linesOf(text: string): readonly Run[] {
  return text.split('\n').flatMap((line, at): readonly Run[] => {
    const run: Run = { kind: 'text', text: line, marks: [] }
    return at === 0 ? [run] : [{ kind: 'break', text: '\n', marks: [] }, run]
  })
}
