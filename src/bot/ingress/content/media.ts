import type { Converter } from './read.js'

/** Lark: message_content. A video's own file is fetched with the resource type `file`, its cover is not needed. */
export const image: Converter = (content) => {
  const key = content.string('image_key')
  if (key === '') return { text: '[image]', unknown: ['image without key'] }
  return {
    text: '[image 1]',
    attachments: [{ kind: 'image', key, fileName: null, durationMs: null, downloadable: true }],
  }
}

export const file: Converter = (content) => {
  const key = content.string('file_key')
  const fileName = content.string('file_name') || null
  if (key === '') return { text: named('file', fileName), unknown: ['file without key'] }
  return {
    text: named('file 1', fileName),
    attachments: [{ kind: 'file', key, fileName, durationMs: null, downloadable: true }],
  }
}

/** A folder has a key but cannot be fetched (Lark: get-message-resource). */
export const folder: Converter = (content) => {
  const key = content.string('file_key')
  const fileName = content.string('file_name') || null
  return {
    text: `${named('folder', fileName)} (its content cannot be fetched)`,
    attachments: key === '' ? [] : [{ kind: 'file', key, fileName, durationMs: null, downloadable: false }],
  }
}

export const audio: Converter = (content) => {
  const key = content.string('file_key')
  const durationMs = content.number('duration')
  if (key === '') return { text: '[audio]', unknown: ['audio without key'] }
  return {
    text: named('audio 1', seconds(durationMs)),
    attachments: [{ kind: 'audio', key, fileName: null, durationMs, downloadable: true }],
  }
}

export const media: Converter = (content) => {
  const key = content.string('file_key')
  const fileName = content.string('file_name') || null
  const durationMs = content.number('duration')
  if (key === '') return { text: named('video', fileName), unknown: ['media without key'] }
  const about = [fileName, seconds(durationMs)].filter((one) => one !== null).join(', ')
  return {
    text: named('video 1', about),
    attachments: [{ kind: 'media', key, fileName, durationMs, downloadable: true }],
  }
}

/** A sticker can be sent again by its key, but its picture cannot be fetched. */
export const sticker: Converter = (content) => {
  const key = content.string('file_key')
  return {
    text: '[sticker]',
    attachments: key === '' ? [] : [{ kind: 'sticker', key, fileName: null, durationMs: null, downloadable: false }],
  }
}

function named(what: string, about: string | null): string {
  return about === null || about === '' ? `[${what}]` : `[${what}: ${about}]`
}

function seconds(ms: number | null): string | null {
  return ms === null ? null : `${Math.round(ms / 100) / 10} s`
}
