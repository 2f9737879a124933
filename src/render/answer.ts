import { answerWords } from './text/answer.js'
import { ELEMENT_BYTES, leafBytes } from './blocks.js'
import { cutAtOrBefore } from './grapheme.js'
import type { Leaf } from './leaf.js'
import { leavesOf } from './leaves.js'
import { named, picturesOf } from './named.js'
import { packPages } from './pack.js'
import { budgetOf, labelled, maxBytes, partOf, sentence } from './part.js'
import { comparable, plainText } from './plain.js'
import { reportFiles } from './report.js'
import type { AnswerView, Picture, RenderedAnswer, RenderedPart } from './view.js'
import { wireBytes } from './wire.js'

export { degrade, shrink } from './degrade.js'
export type { AnswerView, RenderedAnswer, RenderedAttachment, RenderedPart } from './view.js'
export { RENDERER_VERSION } from './wire.js'

/** An answer of more messages than this is a report: its conclusion is said, the whole is attached. */
export const MAX_PARTS = 8
/** A plain answer up to this length (UTF-16 units) goes as `text`. */
export const TEXT_MAX_LENGTH = 1_500
/** Bytes of the first blocks shown of a report without a conclusion: about one screen and a half. */
const BEGINNING_BYTES = 8_000

/**
 * Turns an answer into the messages it is sent as. Pure: the same view gives the same bytes.
 *
 * One unmarked paragraph of at most 1 500 characters is a `text` message; anything else is one or more cards.
 * Nothing is left out: what does not fit eight cards is attached whole.
 *
 * @source RFC §5.10, delivery rules Out 2; Lark: message/create, card JSON 2.0
 */
export function renderAnswer(view: AnswerView): RenderedAnswer {
  const body = named(leavesOf(readable(view.markdown)), view)
  const conclusion = named(leavesOf(readable(view.conclusion ?? '')), view)
  if (isCertainReport(view)) return report(view, body, conclusion)
  const said = comparable(body)
  const concluded = comparable(conclusion)
  const startsWithIt = said.startsWith(concluded)
  // In one message a conclusion found anywhere is found at once; in several it has to be first.
  const full = startsWithIt ? body : [...conclusion, { kind: 'rule' } as const, ...body]
  const leaves = full.length === 0 ? [sentence(answerWords[view.language].empty)] : full

  if (isPlainText(leaves)) return { parts: [partOf('text', labelled(view.label, leaves))], attachments: [] }
  if (!startsWithIt && said.includes(concluded)) {
    const single = cards(body, view, 1)
    if (single !== null) return { parts: single, attachments: [] }
  }
  const parts = cards(leaves, view, MAX_PARTS)
  return parts === null ? report(view, body, conclusion) : { parts, attachments: [] }
}

/** More than eight cards can hold, whatever its marks are: only its beginning is taken apart. In UTF-16 units. */
const CERTAIN_REPORT = 400_000
/** Far more than is shown of it. */
const BEGINNING_READ = 20_000

function isCertainReport(view: AnswerView): boolean {
  return Math.max(view.markdown.length, view.conclusion?.length ?? 0) > CERTAIN_REPORT
}

/** A text that is taken apart whole, or the beginning of one that never fits, up to the end of a block or a line. */
function readable(text: string): string {
  if (text.length <= CERTAIN_REPORT) return text
  const beginning = text.slice(0, cutAtOrBefore(text, BEGINNING_READ))
  const end = Math.max(beginning.lastIndexOf('\n\n'), beginning.lastIndexOf('\n', BEGINNING_READ / 2))
  return end > 0 ? beginning.slice(0, end) : beginning
}

/** Cards for all leaves, or null when they need more than `max` of them. */
function cards(leaves: readonly Leaf[], view: AnswerView, max: number): readonly RenderedPart[] | null {
  for (const extraTables of ['next-page', 'code'] as const) {
    // Planned with upper bounds, then measured: a plan that was too tight is made again with less.
    for (const share of [1, 0.9, 0.75]) {
      const packed = packPages(leaves, { budget: roomFor(view) * share, cost: leafBytes, maxPages: max, extraTables })
      if (!packed.complete) break
      const parts = numbered(packed.pages, view.label)
      if (parts.every(fits)) return parts
    }
  }
  return null
}

/** What is left for the answer itself beside its label and number. */
function roomFor(view: AnswerView): number {
  return budgetOf('interactive') - wireBytes(view.label ?? '') - ELEMENT_BYTES
}

function numbered(pages: readonly (readonly Leaf[])[], label: string | undefined): readonly RenderedPart[] {
  const [only] = pages
  if (pages.length === 1 && only !== undefined) return [illustrated(only, labelled(label, only), new Set())]
  const shown = new Set<Picture>()
  return pages.map((page, at) => {
    const number = `(${at + 1}/${pages.length})`
    const head = sentence(at === 0 && label !== undefined ? `${label} ${number}` : number)
    return illustrated(page, [head, ...page], shown)
  })
}

/** A card and the pictures that it names; what was cut in two names its picture twice and shows it once. */
function illustrated(page: readonly Leaf[], leaves: readonly Leaf[], shown: Set<Picture>): RenderedPart {
  const pictures = picturesOf(page).filter((picture) => !shown.has(picture))
  for (const picture of pictures) shown.add(picture)
  const part = partOf('interactive', leaves)
  return pictures.length === 0 ? part : { ...part, pictures }
}

/** More than eight cards: the conclusion (or the beginning, called so) in the chat, everything in the files. */
function report(view: AnswerView, body: readonly Leaf[], conclusion: readonly Leaf[]): RenderedAnswer {
  const words = answerWords[view.language]
  const attachments = reportFiles(view)
  const names = attachments.map((file) => file.fileName).join(view.language === 'zh' ? '、' : ', ')
  if (conclusion.length > 0 && (view.conclusion?.length ?? 0) <= CERTAIN_REPORT) {
    const parts = cards([...conclusion, sentence(words.fullReport(names))], view, MAX_PARTS)
    if (parts !== null) return { parts, attachments }
  }
  const [source, words1] = conclusion.length > 0 ? [conclusion, words.conclusionBeginning] : [body, words.beginning]
  const budget = Math.min(roomFor(view), BEGINNING_BYTES)
  const first = packPages(source, { budget, cost: leafBytes, maxPages: 1, extraTables: 'code' }).pages[0] ?? []
  const parts = numbered([[sentence(words1(names)), { kind: 'rule' }, ...first]], view.label)
  // One link can be longer than a card and is never cut: then nothing is shown here, and the file has it all.
  if (first.length > 0 && parts.every(fits)) return { parts, attachments }
  return { parts: numbered([[sentence(words.onlyAttached(names))]], view.label), attachments }
}

function fits(part: RenderedPart): boolean {
  return part.bytes <= maxBytes(part.msgType)
}

/** One paragraph, nothing marked, nothing a text message would take for a tag. */
function isPlainText(leaves: readonly Leaf[]): boolean {
  const [leaf] = leaves
  if (leaves.length !== 1 || leaf?.kind !== 'text') return false
  if (leaf.heading !== undefined || leaf.list !== undefined || leaf.quote > 0) return false
  const plain = leaf.runs.every((run) => (run.kind === 'text' || run.kind === 'break') && run.marks.length === 0)
  const text = plainText(leaves)
  return plain && !text.includes('<') && text.length <= TEXT_MAX_LENGTH
}
