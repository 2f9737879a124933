import type { Token } from 'markdown-it'
import { directed } from './clean.js'
import { spelledOut, webAddress } from './address.js'
import type { Mark, Run } from './leaf.js'

const emphasis = { strong_open: 'strong', em_open: 'em', s_open: 'strike' } as const

/** Flattens the inline tokens of one block: each run knows the marks around it, outermost first. */
export function runsOf(tokens: readonly Token[], marks: readonly Mark[] = []): Run[] {
  const runs: Run[] = []
  let around: readonly Mark[] = marks
  let linkStart = 0
  for (const token of tokens) {
    switch (token.type) {
      case 'text':
        pushText(runs, token.content, around)
        break
      case 'text_special':
        // A backslash that escapes nothing is a letter: before a line end it would become a mark.
        if (token.markup === '\\') pushText(runs, token.content, around)
        else runs.push({ kind: 'typed', text: token.content, typed: token.markup, marks: around })
        break
      case 'code_inline':
        runs.push({ kind: 'code', text: directed(token.content), marks: around })
        break
      case 'softbreak':
      case 'hardbreak':
        runs.push({ kind: 'break', text: '\n', marks: around })
        break
      case 'strong_open':
      case 'em_open':
      case 's_open':
        around = [...around, { kind: emphasis[token.type], markup: token.markup }]
        break
      case 'link_open':
        around = [...around, linkMark(attribute(token, 'href'), false)]
        linkStart = runs.length
        break
      case 'link_close': {
        const mark = around.at(-1)
        const label = visible(runs.slice(linkStart))
        // A link without words is named by its address.
        if (mark?.kind === 'link' && label.trim() === '') pushText(runs, mark.target, around)
        around = around.slice(0, -1)
        if (mark?.kind === 'link' && label.trim() !== '') runs.push(...spelledOut(mark.target, label, around))
        break
      }
      case 'strong_close':
      case 'em_close':
      case 's_close':
        around = around.slice(0, -1)
        break
      case 'image':
        runs.push(...imageRuns(token, around))
        break
      default:
        // A token kind this list does not know still shows what it holds.
        pushText(runs, token.content, around)
    }
  }
  return runs
}

/** A remote image becomes a link to it: the platform shows only images it was given itself (200570). */
function imageRuns(token: Token, around: readonly Mark[]): Run[] {
  const target = attribute(token, 'src')
  // Links do not nest: inside one, the image's address is text that belongs to the outer link.
  const nested = around.some((mark) => mark.kind === 'link')
  const marks = nested ? around : [...around, linkMark(target, true)]
  const alt = visible(runsOf(token.children ?? []))
  if (alt.trim() === '') return target === '' ? [] : [{ kind: 'text', text: target, marks }]
  const [address] = spelledOut(target, alt, around)
  if (nested) return [{ kind: 'text', text: alt + (address?.text ?? ''), marks }]
  return [{ kind: 'text', text: alt, marks }, ...(address === undefined ? [] : [address])]
}

function linkMark(target: string, image: boolean): Mark {
  return { kind: 'link', target, address: webAddress(target), image }
}

/** An attribute of a token, empty when it has none. */
export function attribute(token: Token | undefined, name: string): string {
  return String(token?.attrs?.find(([key]) => key === name)?.[1] ?? '')
}

function pushText(runs: Run[], text: string, marks: readonly Mark[]): void {
  if (text === '') return
  const last = runs.at(-1)
  if (last?.kind === 'text' && last.added === undefined && last.marks === marks) {
    runs[runs.length - 1] = { ...last, text: last.text + text }
  } else runs.push({ kind: 'text', text, marks })
}

/** What a reader sees, without any markup. */
export function visible(runs: readonly Run[]): string {
  return runs.map((run) => run.text).join('')
}
