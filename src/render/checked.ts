import MarkdownIt from 'markdown-it'
import { BREAKER } from './defuse.js'
import type { Run } from './leaf.js'
import { parser } from './leaves.js'
import { type Dialect, personTag, writeRuns } from './prose.js'
import { runsOf, visible } from './runs.js'

const readers = { card: new MarkdownIt('default', { html: false }), source: parser() } as const

/**
 * Writes runs and reads them back. Where stars stand so close to other stars that a reader would see them, the
 * paragraph is written without emphasis: its words matter more. Rare, so everything is tried with emphasis first.
 */
export function writeChecked(runs: readonly Run[], dialect: Dialect): string {
  const text = writeRuns(runs, dialect)
  if (!runs.some((run) => run.marks.some((mark) => mark.kind !== 'link'))) return text
  const said = runs.filter((run) => dialect === 'card' || run.kind !== 'text' || run.added !== true)
  // A tag is text to every reader but the platform.
  const seen = said.map((run) => (run.kind === 'person' && dialect === 'card' ? personTag(run.id) : run.text))
  if (letters(readBack(text, dialect)) === letters(seen.join(''))) return text
  return writeRuns(
    runs.map((run) => ({ ...run, marks: run.marks.filter((mark) => mark.kind === 'link') })),
    dialect,
  )
}

function readBack(text: string, dialect: Dialect): string {
  const children = readers[dialect].parseInline(text, {})[0]?.children ?? []
  return visible(runsOf(children).filter((run) => run.kind !== 'text' || run.added !== true))
}

function letters(text: string): string {
  return text.replaceAll(BREAKER, '').split(/\s+/).join('')
}
