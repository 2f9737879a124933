import type { Language } from '../collab/delivery.js'
import type { Answer, AnyReason } from './answer.js'
import { challenge, json } from './guard.js'
import { refusalWords } from './refusal-words.js'
import { statusOf } from './statuses.js'

/** What this door refuses before a tool is asked. */
export const doorWords = {
  'not-allowed-here': { en: 'A page of another site cannot call this', zh: '不接受来自其他网站页面的调用' },
  'idempotency-key-missing': { en: 'Send an Idempotency-Key', zh: '请附上 Idempotency-Key' },
  'body-too-large': {
    en: 'That is more than can be taken at once; a file is put as plain bytes (lark-manager artifact put)',
    zh: '内容超出了单次可接收的大小；文件请以原始字节存入（lark-manager artifact put）',
  },
  'body-unreadable': { en: 'The body is not JSON', zh: '请求内容不是 JSON' },
  'key-reused': {
    en: 'This key was used with other content, or something changed first',
    zh: '这个键已用于其他内容，或内容已先被更改',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<Language, string>>>>

export function responseOf(answer: Answer, language: Language): Response {
  switch (answer.outcome) {
    case 'shown':
      return json(200, answer.shown)
    case 'accepted':
    case 'already-applied':
      return json(200, answer)
    case 'conflict':
      return problem(409, 'conflict', doorWords['key-reused'][language], language, answer)
    case 'rejected': {
      const { reason, ...more } = answer.refusal
      return problem(statusOf(reason), reason, refusalWords[reason][language], language, more)
    }
  }
}

/** A problem document (RFC 9457). */
export function problem(
  status: number,
  code: AnyReason | keyof typeof doorWords | 'conflict' | 'not-signed-in',
  title: string,
  language: Language,
  more: Readonly<Record<string, unknown>> = {},
): Response {
  const document = { ...more, type: `urn:lark-manager:problem:${code}`, title, status, code }
  return json(status, document, {
    'content-type': 'application/problem+json; charset=utf-8',
    'content-language': language,
    vary: 'accept-language',
    ...(status === 401 ? challenge : {}),
    ...(status === 503 ? { 'retry-after': '2' } : {}),
  })
}

export function languageOf(request: Request): Language {
  return /^\s*zh\b/i.test(request.headers.get('accept-language') ?? '') ? 'zh' : 'en'
}
