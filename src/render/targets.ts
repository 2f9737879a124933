import type { RenderedPart } from './view.js'
import { CARD_MAX_BYTES, CARD_MAX_ELEMENTS, CARD_MAX_TABLES, TABLE_MAX_COLUMNS, TEXT_MAX_BYTES } from './wire.js'

/** What Markdown can say. */
export const constructs = [
  'heading',
  'emphasis',
  'list',
  'task',
  'quote',
  'rule',
  'table',
  'code block',
  'inline code',
  'footnote',
  'formula',
  'link',
  'image',
  'person',
  'html',
] as const
export type Construct = (typeof constructs)[number]

/**
 * How it arrives: `native`, shown by the client as what it is; `style`, by the look of its words; `sign`, by a sign
 * before or behind its words; `code`, as code; `message`, as a message of its own; `text`, its words alone, an address
 * spelled out.
 */
export type Form = 'native' | 'style' | 'sign' | 'code' | 'message' | 'text'

/** Bytes of a request; how many tables, columns and elements one message may hold. */
export interface Limits {
  readonly bytes: number
  readonly tables: number
  readonly columns: number
  readonly elements: number
}

export interface Target {
  readonly limits: Limits
  readonly forms: Readonly<Record<Construct, Form>>
}

/** What each message type can show, once. Lark: card JSON 2.0, message/create_json; measured limits in `wire.ts`. */
export const targets: Readonly<Record<RenderedPart['msgType'], Target>> = {
  interactive: {
    limits: {
      bytes: CARD_MAX_BYTES,
      tables: CARD_MAX_TABLES,
      columns: TABLE_MAX_COLUMNS,
      elements: CARD_MAX_ELEMENTS,
    },
    forms: {
      heading: 'native',
      emphasis: 'native',
      list: 'native',
      task: 'sign',
      quote: 'native',
      rule: 'native',
      table: 'native',
      'code block': 'native',
      'inline code': 'native',
      footnote: 'sign',
      formula: 'code',
      link: 'native',
      image: 'message',
      person: 'native',
      html: 'text',
    },
  },
  post: {
    limits: { bytes: CARD_MAX_BYTES, tables: 0, columns: 0, elements: Number.POSITIVE_INFINITY },
    forms: {
      heading: 'style',
      emphasis: 'style',
      list: 'sign',
      task: 'sign',
      quote: 'sign',
      rule: 'native',
      table: 'code',
      'code block': 'native',
      'inline code': 'text',
      footnote: 'sign',
      formula: 'code',
      link: 'native',
      image: 'message',
      person: 'text',
      html: 'text',
    },
  },
  text: {
    limits: { bytes: TEXT_MAX_BYTES, tables: 0, columns: 0, elements: Number.POSITIVE_INFINITY },
    forms: {
      heading: 'text',
      emphasis: 'text',
      list: 'sign',
      task: 'sign',
      quote: 'sign',
      rule: 'sign',
      table: 'text',
      'code block': 'text',
      'inline code': 'text',
      footnote: 'sign',
      formula: 'text',
      link: 'text',
      image: 'message',
      person: 'text',
      html: 'text',
    },
  },
}
