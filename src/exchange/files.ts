import type { Channel } from '../collab/channel.js'
import type { Omission } from '../collab/context.js'
import type { IncomingAttachment, IncomingMessage } from '../collab/message.js'
import type { TurnInput } from '../collab/ports.js'
import type { LaneId } from '../collab/refs.js'
import type { WorkRequest } from '../collab/request.js'
import { putArtifact } from '../stores/artifacts/artifacts.js'
import { attachmentIdOf } from './agents/artifact-files.js'
import type { Exchange } from './deps.js'
import { scopeOf } from './open.js'

/** Downloads what came with a message into the artifact store and the lane's workspace; what cannot be had says why. */
export async function fetchFiles(
  x: Exchange,
  channel: Channel,
  message: IncomingMessage,
  request: WorkRequest,
  lane: LaneId,
  omissions: Omission[],
): Promise<TurnInput['attachments']> {
  const files: { path: string; fileName: string; mediaType: string }[] = []
  for (const [n, attachment] of message.attachments.entries()) {
    const file = await fetchFile(x, channel, message, attachment, n + 1, request)
    if ('because' in file) {
      omissions.push(file)
      continue
    }
    // Nobody here turns speech into words, and the agent should not guess them from the name of a file.
    if (attachment.kind === 'audio') omissions.push({ what: `the words of ${file.fileName}`, because: 'unsupported' })
    files.push({ path: await x.workspaces.place(lane, file), fileName: file.fileName, mediaType: file.mediaType })
  }
  return files
}

async function fetchFile(
  x: Exchange,
  channel: Channel,
  message: IncomingMessage,
  attachment: IncomingAttachment,
  n: number,
  request: WorkRequest,
): Promise<Omission | { digest: string; fileName: string; mediaType: string; size: number }> {
  const what = attachment.fileName ?? `${attachment.kind} ${n}`
  if (!attachment.downloadable) return { what, because: 'unsupported' }
  const fetched = await channel.download(
    message.messageId,
    attachment.key,
    attachment.kind === 'image' ? 'image' : 'file',
  )
  if (!fetched.fetched) return { what, because: fetched.because }
  const stored = await x.artifacts.put(fetched.value.bytes, x.settings.attachmentLimitBytes)
  if (!stored.stored) return { what, because: stored.because === 'too-large' ? 'too-large' : 'unavailable' }
  const fileName = attachment.fileName ?? fetched.value.fileName ?? `${attachment.kind}-${n}`
  const { digest, size } = stored
  const mediaType = x.artifacts.typeOf(stored.mediaType, fileName)
  await putArtifact(
    x.db.sql,
    {
      id: attachmentIdOf(message.bot, message.messageId, attachment.key),
      digest,
      size,
      mediaType,
      fileName,
      accessScope: scopeOf(request.conversation),
      source: { message: message.messageId, key: attachment.key },
    },
    x.clock.now(),
  )
  return { digest, fileName, mediaType, size }
}
