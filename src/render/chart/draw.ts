import { cutAtOrBefore } from '../grapheme.js'
import type { Chart } from './chart.js'
import { type Scale, scaleOf } from './scale.js'

/** Pixels of the drawing; twice as many in the picture. Wide enough for a phone held upright. */
export const WIDTH = 720
const HEIGHT = 420
const LEFT = 76
const RIGHT = 20
const BOTTOM = 56
/** Height of a row of names above the axis, and where its words begin. */
const ROW = 24
const EDGE = 20

/** Colours that people with a colour vision deficiency tell apart (Okabe and Ito); lines differ in their dashes as well. */
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00']
const dashes = ['', '8 4', '2 3', '10 4 2 4', '12 3', '4 4']

/** Fonts in the order in which they are looked for; a sign that the first one lacks comes from another. */
export const FONTS = "'Noto Sans CJK SC', 'WenQuanYi Micro Hei', 'DejaVu Sans', 'Noto Sans', sans-serif"

interface Area {
  readonly top: number
  readonly bottom: number
  /** Width of one point on the axis below. */
  readonly step: number
  readonly y: (value: number) => number
}

/** A chart as SVG: no script, no link, nothing from outside; every word of it escaped. The same chart gives the same text. */
export function drawingOf(chart: Chart): string {
  const values = chart.series.flatMap((one) => one.values.filter((value) => value !== null))
  const scale = scaleOf(values, chart.type === 'bar')
  const legend = legendOf(chart)
  const measured = measuredIn(chart)
  const top = 58 + legend.rows * ROW + (measured === '' ? 0 : ROW)
  const bottom = HEIGHT - BOTTOM
  const area: Area = {
    top,
    bottom,
    step: (WIDTH - LEFT - RIGHT) / chart.x.length,
    y: (value) => bottom - ((value - scale.low) / (scale.high - scale.low)) * (bottom - top),
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="${FONTS}" font-size="14">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(EDGE, 34, clipped(chart.title, 62), 'font-size="19" fill="#1f2328"'),
    ...legend.marks,
    ...(measured === '' ? [] : [text(EDGE, area.top - 14, measured, 'font-size="13" fill="#59636e"')]),
    ...axis(chart, scale, area),
    ...(chart.type === 'bar' ? bars(chart, area) : lines(chart, area)),
    '</svg>',
  ].join('\n')
}

/** Names side by side, in rows; none for a single series, whose name stands at the axis. */
function legendOf(chart: Chart): { rows: number; marks: readonly string[] } {
  if (chart.series.length < 2) return { rows: 0, marks: [] }
  const marks: string[] = []
  let x = EDGE
  let row = 0
  for (const [at, one] of chart.series.entries()) {
    const name = clipped(one.name, 26)
    const width = 34 + widthOf(name) * 14
    if (x + width > WIDTH - RIGHT && x > LEFT) {
      row++
      x = EDGE
    }
    const y = 62 + row * ROW
    marks.push(`<rect x="${x}" y="${y - 11}" width="14" height="12" fill="${colours[at]}"/>`)
    marks.push(text(x + 20, y, name, 'fill="#1f2328"'))
    x = round(x + width)
  }
  return { rows: row + 1, marks }
}

/** What the numbers of the axis are: the unit, before it the name of a single series. */
function measuredIn(chart: Chart): string {
  const [only, another] = chart.series
  const words = another === undefined ? [only?.name ?? '', chart.unit] : [chart.unit]
  return clipped(words.filter((word) => word !== '').join(', '), 70)
}

function axis(chart: Chart, scale: Scale, area: Area): readonly string[] {
  const marks: string[] = []
  for (const tick of scale.ticks) {
    const y = round(area.y(tick.value))
    const colour = tick.value === 0 ? '#59636e' : '#d8dee4'
    marks.push(`<line x1="${LEFT}" y1="${y}" x2="${WIDTH - RIGHT}" y2="${y}" stroke="${colour}" stroke-width="1"/>`)
    marks.push(text(LEFT - 8, y + 5, tick.label, 'text-anchor="end" fill="#59636e" font-size="13"'))
  }
  const widest = Math.max(...chart.x.map((label) => widthOf(clipped(label, 16)))) * 13 + 10
  const every = Math.ceil(widest / area.step)
  for (const [at, label] of chart.x.entries()) {
    // The last one is always named: it is the newest.
    const isLast = at === chart.x.length - 1
    if (!isLast && (at % every !== 0 || chart.x.length - 1 - at < every)) continue
    const x = round(LEFT + area.step * (at + 0.5))
    const half = (widthOf(clipped(label, 16)) * 13) / 2
    const inside = Math.min(Math.max(x, half + 4), WIDTH - half - 4)
    marks.push(
      text(round(inside), area.bottom + 22, clipped(label, 16), 'text-anchor="middle" fill="#59636e" font-size="13"'),
    )
  }
  return marks
}

function bars(chart: Chart, area: Area): readonly string[] {
  const width = (area.step * 0.76) / chart.series.length
  return chart.series.flatMap((one, series) =>
    one.values.flatMap((value, at) => {
      if (value === null) return []
      const x = LEFT + area.step * (at + 0.12) + width * series
      const [y, base] = [area.y(Math.max(value, 0)), area.y(Math.min(value, 0))]
      return [
        `<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(width - 1, 0.5))}" height="${round(base - y)}" fill="${colours[series]}"/>`,
      ]
    }),
  )
}

/** A gap in the data is a gap in the line; a point that stands alone is seen as a dot. */
function lines(chart: Chart, area: Area): readonly string[] {
  return chart.series.flatMap((one, series) => {
    const pieces: string[][] = [[]]
    for (const [at, value] of one.values.entries()) {
      if (value === null) pieces.push([])
      else pieces.at(-1)?.push(`${round(LEFT + area.step * (at + 0.5))},${round(area.y(value))}`)
    }
    const dash = dashes[series] === '' ? '' : ` stroke-dasharray="${dashes[series]}"`
    const dots = one.values.length <= 40
    return pieces.flatMap((points) => [
      ...(points.length < 2
        ? []
        : [
            `<polyline points="${points.join(' ')}" fill="none" stroke="${colours[series]}" stroke-width="2.5" stroke-linejoin="round"${dash}/>`,
          ]),
      ...points
        .filter(() => dots || points.length === 1)
        .map((point) => {
          const [x, y] = point.split(',')
          return `<circle cx="${x}" cy="${y}" r="3.5" fill="${colours[series]}"/>`
        }),
    ])
  })
}

function text(x: number, y: number, said: string, attributes: string): string {
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped(said)}</text>`
}

function escaped(said: string): string {
  return withoutEmoji(said)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Emoji are pictures of their own, which the painter leaves out; the words of the message above the chart keep them. */
function withoutEmoji(said: string): string {
  return said
    .replace(/(?![©®™])[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}]|\u200d|\ufe0f|\u20e3/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** At most so many widths of a letter, the cut seen as an ellipsis. */
function clipped(said: string, widths: number): string {
  if (widthOf(said) <= widths * 0.6) return said
  let end = said.length
  while (end > 1 && widthOf(said.slice(0, end)) > widths * 0.6 - 1) end = cutAtOrBefore(said, end - 1)
  return `${said.slice(0, end).trimEnd()}…`
}

/** About how wide a text is, in units of its font size: nothing here measures fonts. */
function widthOf(said: string): number {
  let width = 0
  for (const char of said) width += (char.codePointAt(0) ?? 0) > 0x2e7f ? 1 : 0.6
  return width
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
