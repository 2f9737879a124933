import type { OutgoingFile, PlannedPart } from '../../collab/channel.js'
import { withImages } from '../../render/report-page.js'
import type { Picture, RenderedAnswer, RenderedAttachment } from '../../render/view.js'
import { RENDERER_VERSION } from '../../render/wire.js'

export interface FileStore {
  readonly storeFile: (bytes: Uint8Array, fileName: string, mediaType: string) => Promise<OutgoingFile>
  /** The bytes of a file of the answer; without it a page shows the words of an image. */
  readonly readFile?: (digest: string) => AsyncIterable<Uint8Array>
}

/** The messages of an answer, each followed by the pictures that it shows; `shown` are digests of the answer's files. */
export async function illustratedParts(
  rendered: RenderedAnswer,
  store: FileStore,
  filePart: (file: OutgoingFile) => PlannedPart | null,
): Promise<{ readonly planned: PlannedPart[]; readonly shown: ReadonlySet<string> }> {
  const planned: PlannedPart[] = []
  const shown = new Set<string>()
  const renderer = rendered.unread === true ? `${RENDERER_VERSION} unread` : RENDERER_VERSION
  for (const part of rendered.parts) {
    planned.push({
      msgType: part.msgType,
      content: part.content,
      bytes: part.bytes,
      // The platform gives a card back in a simpler form, so there is nothing to compare it with.
      plain: part.msgType === 'interactive' ? null : part.plain,
      file: null,
      renderer,
      source: { markdown: part.markdown },
    })
    for (const picture of part.pictures ?? []) {
      const file = await fileOf(picture, store)
      const message = file === null ? null : filePart(file)
      if (file === null || message === null) continue
      planned.push(message)
      shown.add(file.digest)
    }
  }
  return { planned, shown }
}

/** Null for a chart that could not be painted: its data stands in the message as a table. */
async function fileOf(picture: Picture, store: FileStore): Promise<OutgoingFile | null> {
  if (picture.kind === 'file') return picture.file
  const png = picture.png ?? null
  return png === null ? null : await store.storeFile(png, picture.fileName, 'image/png')
}

/** The files of a report in the store, the images of its page inside the page. */
export async function storeReports(
  attachments: readonly RenderedAttachment[],
  store: FileStore,
): Promise<readonly OutgoingFile[]> {
  const stored: OutgoingFile[] = []
  for (const { fileName, mediaType, text, images = [] } of attachments) {
    const bytes = new Map<string, { mediaType: string; base64: string }>()
    for (const image of images) {
      const read = await bytesOf(image, store)
      if (read !== null) bytes.set(image.digest, { mediaType: image.mediaType, base64: read.toString('base64') })
    }
    const whole = mediaType === 'text/html' ? withImages(text, bytes) : text
    stored.push(await store.storeFile(Buffer.from(whole, 'utf8'), fileName, mediaType))
  }
  return stored
}

/** Null when they cannot be read: the page then has the words of the image, and the image is sent beside it anyway. */
async function bytesOf(image: OutgoingFile, store: FileStore): Promise<Buffer | null> {
  if (store.readFile === undefined) return null
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of store.readFile(image.digest)) chunks.push(chunk)
  } catch {
    return null
  }
  return Buffer.concat(chunks)
}
