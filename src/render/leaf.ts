import type { Task } from './task-list.js'
import type { Picture } from './view.js'

/**
 * An answer, taken apart. A leaf is the smallest block that is never nested: lists and quotes become leaves that
 * carry their depth, because Lark wants code fences and tables at the start of a line.
 */

/** Something around text; two marks are the same mark only if they are the same object. */
export type Mark =
  | { readonly kind: 'strong' | 'em' | 'strike'; readonly markup: string }
  | {
      readonly kind: 'link'
      /** As written. */
      readonly target: string
      /** The encoded http or https address, or null when the platform would refuse it and the link becomes text. */
      readonly address: string | null
      readonly image: boolean
      /** The picture that it shows, when it is one of this answer's own. */
      readonly picture?: Picture
    }

export type Run =
  | { readonly kind: 'text'; readonly text: string; readonly marks: readonly Mark[]; readonly added?: true }
  /** An entity or a backslash escape: `text` is what it means, `typed` what stands in the source. Never cut. */
  | { readonly kind: 'typed'; readonly text: string; readonly typed: string; readonly marks: readonly Mark[] }
  | { readonly kind: 'code'; readonly text: string; readonly marks: readonly Mark[] }
  /** A person whom the message calls. `id` is theirs on the platform; `text` begins with "@". */
  | { readonly kind: 'person'; readonly text: string; readonly id: string; readonly marks: readonly Mark[] }
  /** A newline of the source inside a paragraph. */
  | { readonly kind: 'break'; readonly text: '\n'; readonly marks: readonly Mark[] }

export interface TextLeaf {
  readonly kind: 'text'
  readonly runs: readonly Run[]
  /** 1 to 6 for a heading. */
  readonly heading?: number
  /** How many block quotes are around it. */
  readonly quote: number
  /** In a list: depth from 0, and the marker (`-`, `3.`), null for a later paragraph of the same item. */
  readonly list?: { readonly depth: number; readonly marker: string | null; readonly task?: Task }
  /** No blank line before it (a tight list). */
  readonly tight: boolean
  /** A picture that belongs under it: a chart. */
  readonly picture?: Picture
}

export interface CodeLeaf {
  readonly kind: 'code'
  readonly language: string
  /** Without the newline before the closing fence. */
  readonly text: string
}

export type Cell = readonly Run[]

export interface TableLeaf {
  readonly kind: 'table'
  readonly align: readonly ('left' | 'center' | 'right' | null)[]
  readonly header: readonly Cell[]
  readonly rows: readonly (readonly Cell[])[]
}

export interface RuleLeaf {
  readonly kind: 'rule'
}

export type Leaf = TextLeaf | CodeLeaf | TableLeaf | RuleLeaf
