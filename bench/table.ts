/** One line of the report. */
export interface Row {
  readonly id: string
  readonly what: string
  readonly measured: string
  readonly target: string
  /** For a rate the measured ratio itself, for a time the part of its limit that was used. Null: no target. */
  readonly ratio: number | null
  /** Null where there is no target. */
  readonly pass: boolean | null
  readonly note?: string
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

export const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`

export function spread(values: readonly number[]): string {
  const [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1].map((part) => ms(quantile(values, part)))
  return `p50 ${p50}, p90 ${p90}, p99 ${p99}, max ${max}`
}

/** A Markdown table that also reads well in a terminal. */
export function tableOf(rows: readonly Row[]): string {
  const head = ['id', 'what', 'measured', 'target', 'ratio', '']
  const body = rows.map((row) => [
    row.id,
    row.what,
    row.measured,
    row.target,
    row.ratio === null ? '–' : row.ratio.toFixed(2),
    row.pass === null ? 'no target' : row.pass ? 'pass' : 'MISS',
  ])
  const widths = head.map((_, column) => Math.max(...[head, ...body].map((cells) => cells[column]?.length ?? 0)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  const notes = rows.flatMap((row) => (row.note === undefined ? [] : [`${row.id}: ${row.note}`]))
  return [line(head), rule, ...body.map(line), ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')
}
