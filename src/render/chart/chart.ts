import { clean } from '../clean.js'
import type { Cell, TableLeaf } from '../leaf.js'

/** A chart given as data: what a block of code named `chart` holds (docs/agents.md). A gap in the data is null. */
export interface Chart {
  readonly type: 'bar' | 'line'
  readonly title: string
  /** What the values are measured in; empty when they are counts. */
  readonly unit: string
  readonly x: readonly string[]
  readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[]
}

/** More cannot be told apart on a phone. */
export const MAX_SERIES = 6
export const MAX_POINTS = 120
const MAX_SOURCE = 40_000
const MAX_LABEL = 120

/** The chart in a block of code, or null: then it stays code, and nothing of it is lost. */
export function readChart(source: string): Chart | null {
  if (source.length > MAX_SOURCE) return null
  const given = parsed(source)
  if (!isRecord(given)) return null
  const { type, title, unit = '', x, series } = given
  if (type !== 'bar' && type !== 'line') return null
  if (!isLabel(title) || title.trim() === '' || !isLabel(unit)) return null
  if (!Array.isArray(x) || x.length === 0 || x.length > MAX_POINTS) return null
  if (!Array.isArray(series) || series.length === 0 || series.length > MAX_SERIES) return null
  const labels = x.map((label: unknown) => (typeof label === 'number' ? String(label) : label))
  if (!labels.every(isLabel)) return null
  const read: Chart['series'][number][] = []
  for (const one of series) {
    if (!isRecord(one) || !isLabel(one['name']) || !Array.isArray(one['values'])) return null
    const values = one['values'] as unknown[]
    if (values.length !== labels.length || !values.every(isValue)) return null
    read.push({ name: line(one['name']), values })
  }
  if (!read.some((one) => one.values.some((value) => value !== null))) return null
  return { type, title: line(title), unit: line(unit), x: labels.map(line), series: read }
}

/** The data of a chart for a reader of text: one row for each point. */
export function chartTable(chart: Chart): TableLeaf {
  const unit = chart.unit === '' ? '' : ` (${chart.unit})`
  return {
    kind: 'table',
    align: [null, ...chart.series.map(() => 'right' as const)],
    header: ['', ...chart.series.map((one) => one.name + unit)].map(cell),
    rows: chart.x.map((label, at) =>
      [label, ...chart.series.map((one) => ((one.values[at] ?? null) === null ? '–' : String(one.values[at])))].map(
        cell,
      ),
    ),
  }
}

function cell(text: string): Cell {
  return text === '' ? [] : [{ kind: 'text', text, marks: [] }]
}

function parsed(source: string): unknown {
  try {
    return JSON.parse(source)
  } catch {
    return null
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isLabel(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_LABEL
}

/** Beyond this the axis has no room for its own numbers. */
function isValue(value: unknown): value is number | null {
  return value === null || (typeof value === 'number' && Number.isFinite(value) && Math.abs(value) < 1e15)
}

function line(text: string): string {
  return clean(text).replace(/\s+/g, ' ').trim()
}
