import { SECOND } from '../../lib/time.js'
import type { Outgoing, OutgoingFile, PlannedPart } from '../../collab/channel.js'
import type { AnswerView, RenderedAnswer } from '../../render/view.js'
import { defuseTextTags } from '../../render/defuse.js'
import { chosenCard, noticeCard } from '../../render/notice-card.js'
import { RENDERER_VERSION, requestBytes } from '../../render/wire.js'
import { renderAnswerOffThread } from '../../render/worker.js'
import { limited, moreFiles, moreOperations } from '../../render/text/limited.js'
import { answerLabel } from '../../render/text/label.js'
import { renderNotice } from '../../render/text/notice.js'
import { comparable } from './comparable.js'
import { illustratedParts, storeReports, type FileStore } from './illustrated.js'

/** Where reports and charts that are made while planning are kept. */
export interface PlanParts extends FileStore {
  /** Left out: off the thread that takes events, above 8 KB. */
  readonly renderAnswer?: (view: AnswerView) => Promise<RenderedAnswer>
}

/** An answer that takes longer to render is sent as it was written: some fifty times what 120 KB take. */
const RENDER_PATIENCE = 30 * SECOND

/** Lark: file/create and image/create. */
export const FILE_LIMIT = 30 * 1024 * 1024
export const IMAGE_LIMIT = 10 * 1024 * 1024

/** Bytes of the last text for operations and for files; together with their counts they fit one text message. */
const OPERATIONS_BYTES = 100_000
const FILES_BYTES = 30_000

/** Characters of an operation that the end of an answer names. */
const NAMED = 2_000

/** Lark: image/create. Anything else that is a picture goes as a file. */
const imageTypes: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/gif',
  'image/bmp',
  'image/x-icon',
  'image/vnd.microsoft.icon',
  'image/tiff',
  'image/heic',
])

/**
 * What is to be said as an ordered list of messages: the answer with the pictures that it names, its report, the
 * agent's other files, and last a line for each operation that was not done, with whose refusal it was, and each file
 * that the platform cannot carry.
 */
export async function planParts(content: Outgoing, parts: PlanParts): Promise<readonly PlannedPart[]> {
  if (content.kind === 'notice') return [noticePart(content)]
  const label = answerLabel(content, content.language)
  const render = parts.renderAnswer ?? ((view) => renderAnswerOffThread(view, AbortSignal.timeout(RENDER_PATIENCE)))
  const rendered = await render({
    markdown: content.markdown,
    ...(content.conclusion === null ? {} : { conclusion: content.conclusion }),
    ...(label === '' ? {} : { label }),
    language: content.language,
    reportName: content.reportName,
    files: content.attachments,
    ...(content.people === undefined ? {} : { people: content.people }),
  })
  const { planned, shown } = await illustratedParts(rendered, parts, (file) =>
    whyNotSent(file) === null ? filePart(file) : null,
  )
  const reports = await storeReports(rendered.attachments, parts)
  // Said last and by us, so that nothing an agent wrote can hide it.
  const operations = [
    ...content.refusedOperations.map((operation) =>
      renderNotice({ kind: 'agent-asked-permission', operation: beginningOf(operation) }, content.language),
    ),
    ...(content.refusedByHost ?? []).map((one) => {
      const operation = one.operation === null ? null : beginningOf(one.operation)
      return renderNotice({ ...one, kind: 'refused-by-host', operation }, content.language)
    }),
  ]
  const files = (content.leftOut ?? []).map(({ fileName, reason }) =>
    renderNotice({ kind: 'file-left-out', fileName: baseNameOf(fileName), reason }, content.language),
  )
  for (const file of [...reports, ...content.attachments.filter(({ digest }) => !shown.has(digest))]) {
    const reason = whyNotSent(file)
    if (reason === null) planned.push(filePart(file))
    else {
      const { page = null } = content
      const fileName = baseNameOf(file.fileName)
      files.push(renderNotice({ kind: 'file-not-sent', fileName, reason, page }, content.language))
    }
  }
  const { endedWithTurn = [] } = content
  const ended =
    endedWithTurn.length === 0
      ? []
      : [renderNotice({ kind: 'ended-with-turn', commands: endedWithTurn }, content.language)]
  const said = [
    ...ended,
    ...limited(operations, OPERATIONS_BYTES, moreOperations[content.language]),
    ...limited(files, FILES_BYTES, moreFiles[content.language]),
  ]
  if (said.length > 0) planned.push(textPart(said.join('\n')))
  return planned
}

/** A card when there is something to choose, or to show what was chosen; else a text. The card has its words as one. */
function noticePart({ notice, language, became }: Extract<Outgoing, { kind: 'notice' }>): PlannedPart {
  const words = renderNotice(notice, language)
  const content = became === undefined ? noticeCard(notice, language) : chosenCard(notice, became, language)
  if (content === null) return textPart(words)
  return {
    msgType: 'interactive',
    content,
    bytes: requestBytes(content),
    plain: null,
    file: null,
    renderer: RENDERER_VERSION,
    source: { text: words },
  }
}

/** What was not done is named, and not told whole: it is kept with its request. */
function beginningOf(operation: string): string {
  const characters = [...operation]
  return characters.length <= NAMED ? operation : `${characters.slice(0, NAMED).join('')}…`
}

/** Null for a file that can go. A name that is a path would tell where something lies on a machine. */
function whyNotSent({ fileName, size }: OutgoingFile): 'empty' | 'too-large' | 'bad-name' | null {
  if (/[/\\]|^\.{1,2}$|^file:/iu.test(fileName)) return 'bad-name'
  if (size === 0) return 'empty'
  return size > FILE_LIMIT ? 'too-large' : null
}

function baseNameOf(fileName: string): string {
  const base = fileName.split(/[/\\]/u).at(-1) ?? ''
  return /^\.{0,2}$/u.test(base) ? 'file' : base
}

/** A picture above the image limit goes as a file: it still arrives. */
export function filePart(file: OutgoingFile): PlannedPart {
  const isImage = imageTypes.has(file.mediaType.toLowerCase()) && file.size <= IMAGE_LIMIT
  const msgType = isImage ? 'image' : 'file'
  const content = uploadContent(msgType, '')
  return { msgType, content, bytes: requestBytes(content) + 100, plain: null, file, renderer: RENDERER_VERSION }
}

/** The content of a part once its bytes are on the platform. */
export function uploadContent(msgType: string, key: string): string {
  return JSON.stringify(msgType === 'image' ? { image_key: key } : { file_key: key })
}

/** Names in our own sentences come from elsewhere: a well-formed `<at>` in one would mention somebody. */
export function textPart(text: string): PlannedPart {
  const content = JSON.stringify({ text: defuseTextTags(text) })
  return {
    msgType: 'text',
    content,
    bytes: requestBytes(content),
    plain: comparable(text),
    file: null,
    renderer: RENDERER_VERSION,
  }
}
