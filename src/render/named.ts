import type { OutgoingFile } from '../collab/channel.js'
import { type Chart, chartTable, readChart } from './chart/chart.js'
import { drawingOf } from './chart/draw.js'
import type { Cell, Leaf, Mark, Run, TextLeaf } from './leaf.js'
import { MENTION } from './address.js'
import type { AnswerView, Picture } from './view.js'

/** Painting one takes about as long as rendering the answer; the data of the others is there as tables. */
export const MAX_CHARTS = 6

/**
 * What an answer names, put in its place: people whom it may call, images among its own files, charts given as data.
 * Everything else that looks like one of them stays the words it was.
 */
export function named(leaves: readonly Leaf[], view: Pick<AnswerView, 'files' | 'people'>): readonly Leaf[] {
  const names = new Names(view)
  let charts = 0
  return leaves.flatMap((leaf): readonly Leaf[] => {
    if (leaf.kind === 'text') return [{ ...leaf, runs: names.inRuns(leaf.runs) }]
    if (leaf.kind === 'table') {
      const cells = (row: readonly Cell[]): readonly Cell[] => row.map((cell) => names.inRuns(cell))
      return [{ ...leaf, header: cells(leaf.header), rows: leaf.rows.map(cells) }]
    }
    const chart = leaf.kind === 'code' && leaf.language === 'chart' ? readChart(leaf.text) : null
    return chart === null ? [leaf] : chartLeaves(chart, ++charts)
  })
}

/** Its title with the picture, then its data. */
function chartLeaves(chart: Chart, at: number): readonly Leaf[] {
  const picture: Picture = { kind: 'chart', fileName: `chart-${at}.png`, svg: drawingOf(chart) }
  const title: TextLeaf = {
    kind: 'text',
    runs: [{ kind: 'text', text: chart.title, marks: [{ kind: 'strong', markup: '**' }] }],
    quote: 0,
    tight: false,
    ...(at > MAX_CHARTS ? {} : { picture }),
  }
  return [title, chartTable(chart)]
}

/** The pictures of some leaves, each once, in the order in which they are named. */
export function picturesOf(leaves: readonly Leaf[]): readonly Picture[] {
  const found = new Set<Picture>()
  const look = (runs: readonly Run[]): void => {
    for (const run of runs) {
      for (const mark of run.marks) if (mark.kind === 'link' && mark.picture !== undefined) found.add(mark.picture)
    }
  }
  for (const leaf of leaves) {
    if (leaf.kind === 'text') {
      if (leaf.picture !== undefined) found.add(leaf.picture)
      look(leaf.runs)
    } else if (leaf.kind === 'table') for (const row of [leaf.header, ...leaf.rows]) row.forEach(look)
  }
  return [...found]
}

/** The image among the files of an answer that a target names: by digest, by name, or by a path that ends in it. */
export function imageNamed(target: string, files: readonly OutgoingFile[]): OutgoingFile | null {
  const digest = /^(?:artifact|sha256):([0-9a-f]{64})$/i.exec(target)?.[1]?.toLowerCase()
  const images = files.filter((file) => file.mediaType.toLowerCase().startsWith('image/'))
  if (digest !== undefined) return images.find((file) => file.digest === digest) ?? null
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return null
  const path = decoded(target)
  const name = path.slice(path.lastIndexOf('/') + 1)
  const [only, another] = images.filter((file) => file.fileName === path || file.fileName === name)
  return another === undefined ? (only ?? null) : null
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target)
  } catch {
    return target
  }
}

class Names {
  private readonly people: ReadonlyMap<string, string>
  private readonly pictures = new Map<string, FilePicture>()
  private readonly images = new Map<Mark, ImageMark>()

  constructor(private readonly view: Pick<AnswerView, 'files' | 'people'>) {
    this.people = new Map(view.people?.map((person) => [person.openId, person.name]))
  }

  inRuns(runs: readonly Run[]): readonly Run[] {
    if (!runs.some((run) => run.marks.some(isNaming))) return runs
    const out: Run[] = []
    let before: LinkMark | null = null
    for (const run of runs) {
      const mark = run.marks.find(isNaming) ?? null
      if (mark !== null) out.push(...(mark.image ? this.image(run, mark) : this.person(run, mark, mark === before)))
      else out.push(...this.beside(run, before))
      before = mark
    }
    return out
  }

  private image(run: Run, mark: LinkMark): readonly Run[] {
    const shown = this.shown(mark)
    if (shown === null) return [run]
    const text = run.text === mark.target ? shown.target : run.text
    return [{ ...run, text, marks: run.marks.map((each) => (each === mark ? shown : each)) } as Run]
  }

  /** What stands behind the words of an image is its target; here it is the name under which the picture follows. */
  private beside(run: Run, before: LinkMark | null): readonly Run[] {
    const shown = before?.image === true ? this.shown(before) : null
    if (shown === null || run.kind !== 'text' || run.added !== true) return [run]
    return [{ ...run, text: ` (${shown.target})` }]
  }

  /** The same mark with the picture that it shows, one and the same object each time. */
  private shown(mark: LinkMark): ImageMark | null {
    const known = this.images.get(mark)
    if (known !== undefined) return known
    const file = imageNamed(mark.target, this.view.files ?? [])
    if (file === null) return null
    const picture = this.pictures.get(file.digest) ?? { kind: 'file', file }
    this.pictures.set(file.digest, picture)
    const shown: ImageMark = { ...mark, target: file.fileName, picture }
    this.images.set(mark, shown)
    return shown
  }

  /** Somebody whom this answer may call, once for all the words of the link; a name in words for anybody else. */
  private person(run: Run, mark: LinkMark, again: boolean): readonly Run[] {
    const id = mark.target.slice(MENTION.length)
    const marks = run.marks.filter((each) => each !== mark)
    const name = /^ou_\w{1,64}$/.test(id) ? this.people.get(id) : undefined
    if (name === undefined) return [{ ...run, marks }]
    // Whose name is not known here is named in the words of the answer; in a card the platform shows its own.
    const text = name === '' ? run.text : `@${name}`
    return again ? [] : [{ kind: 'person', text, id, marks }]
  }
}

type LinkMark = Extract<Mark, { readonly kind: 'link' }>
type FilePicture = Extract<Picture, { readonly kind: 'file' }>
type ImageMark = LinkMark & { readonly picture: FilePicture }

function isNaming(mark: Mark): mark is LinkMark {
  return mark.kind === 'link' && (mark.image || mark.target.startsWith(MENTION))
}
