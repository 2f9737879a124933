import type { OtherForm, PlannedPart, Restating } from '../../collab/channel.js'
import { unreachable } from '../../lib/assert.js'
import type { Restated } from '../../render/degrade.js'
import { introduced } from '../../render/part.js'
import { renderNotice } from '../../render/text/notice.js'
import { RENDERER_VERSION } from '../../render/wire.js'
import { restateOffThread } from '../../render/worker.js'
import { filePart, textPart } from './plan.js'

/**
 * What stands for a part that was refused, in order. Every form says every word of it; a file that cannot be sent
 * becomes a line that leads to it.
 *
 * @source delivery.md Out 5, 7
 */
export async function restate(part: PlannedPart, as: OtherForm, about: Restating): Promise<readonly PlannedPart[]> {
  switch (as) {
    case 'plainer':
      return part.file === null ? plainer(part) : [plainerFile(part, about)]
    case 'smaller':
      return smaller(part)
    case 'new-message':
      return named(part, about)
    default:
      return unreachable(as)
  }
}

/** Card → post → text; a text has no plainer form. */
async function plainer(part: PlannedPart): Promise<readonly PlannedPart[]> {
  const { msgType, source = null } = part
  if (source === null || (msgType !== 'interactive' && msgType !== 'post')) return []
  const restated = await restateOffThread({ render: msgType === 'interactive' ? 'post' : 'text', source })
  return restated.map(planned)
}

/** A picture that is refused may still go as a file; a file is named with the page where it is kept. */
function plainerFile(part: PlannedPart, { language, page }: Restating): PlannedPart {
  const file = part.file as NonNullable<PlannedPart['file']>
  if (part.msgType === 'image') return filePart({ ...file, mediaType: 'application/octet-stream' })
  const { fileName } = file
  return textPart(renderNotice({ kind: 'file-not-sent', fileName, reason: 'refused', page }, language))
}

async function smaller(part: PlannedPart): Promise<readonly PlannedPart[]> {
  const { msgType, content, bytes, source = null } = part
  if (msgType !== 'interactive' && msgType !== 'post' && msgType !== 'text') return []
  const restated = await restateOffThread({ render: 'smaller', part: { msgType, content, bytes }, source })
  return restated.map(planned)
}

/** In the same message where there is room for it, else in one of its own before. */
function named(part: PlannedPart, { language, answers }: Restating): readonly PlannedPart[] {
  if (answers === null) return [part]
  const words = renderNotice(answers, language)
  const one = introduced(part, words)
  return one === null ? [textPart(words), part] : [{ ...part, ...one }]
}

function planned({ part, source }: Restated): PlannedPart {
  return {
    msgType: part.msgType,
    content: part.content,
    bytes: part.bytes,
    plain: part.msgType === 'interactive' ? null : part.plain,
    file: null,
    renderer: RENDERER_VERSION,
    source,
  }
}
