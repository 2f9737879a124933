import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Chart, chartTable, MAX_POINTS, MAX_SERIES, readChart } from '../../../src/render/chart/chart.js'
import { drawingOf } from '../../../src/render/chart/draw.js'
import { scaleOf } from '../../../src/render/chart/scale.js'
import { visible } from '../../../src/render/runs.js'

const good = {
  type: 'bar',
  title: 'Requests',
  unit: 'n',
  x: ['Mon', 'Tue'],
  series: [{ name: 'ok', values: [1, null] }],
}
const read = (change: object): Chart | null => readChart(JSON.stringify({ ...good, ...change }))

describe('a chart given as data', () => {
  test('is read, its labels as one line each', () => {
    expect(read({})).toEqual(good)
    expect(read({ title: ' a\n b\u0000 ', x: [2025, 'b'] })).toMatchObject({ title: 'a b\u2400', x: ['2025', 'b'] })
    expect(read({ unit: undefined })?.unit).toBe('')
  })

  test.each([
    ['no JSON', '{'],
    ['another type', { type: 'pie' }],
    ['no title', { title: ' ' }],
    ['no labels', { x: [] }],
    ['labels that are none', { x: ['a', {}] }],
    ['no series', { series: [] }],
    ['lengths that differ', { x: ['a'] }],
    ['values that are no numbers', { series: [{ name: 's', values: ['1', 2] }] }],
    ['numbers beyond any axis', { series: [{ name: 's', values: [1e300, 2] }] }],
    ['nothing but gaps', { series: [{ name: 's', values: [null, null] }] }],
    ['too many series', { series: Array.from({ length: MAX_SERIES + 1 }, () => good.series[0]) }],
    ['too many points', { x: Array.from({ length: MAX_POINTS + 1 }, () => 'a') }],
    ['a label longer than an axis', { title: 'x'.repeat(200) }],
    ['a list', '[]'],
    ['null', 'null'],
  ])('%s is no chart', (_, given) => {
    expect(typeof given === 'string' ? readChart(given) : read(given)).toBeNull()
  })

  test('its data are a table: a row for each point, a gap seen as a gap', () => {
    const table = chartTable(read({}) as Chart)
    const rows = [table.header, ...table.rows].map((row) => row.map(visible))
    expect(rows).toEqual([
      ['', 'ok (n)'],
      ['Mon', '1'],
      ['Tue', '–'],
    ])
  })
})

const value = fc.oneof(
  fc.constant(null),
  fc.integer({ min: -1_000_000, max: 1_000_000 }),
  fc.double({ min: -1e9, max: 1e9, noNaN: true }),
)
const anyChart = fc
  .record({
    type: fc.constantFrom('bar', 'line'),
    title: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    unit: fc.constantFrom('', 'ms', '万次', '<b>'),
    points: fc.integer({ min: 1, max: MAX_POINTS }),
    names: fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { minLength: 1, maxLength: MAX_SERIES }),
  })
  .chain(({ points, names, ...rest }) =>
    fc.record({
      ...Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, fc.constant(one)])),
      x: fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { minLength: points, maxLength: points }),
      series: fc.tuple(
        ...names.map((name) =>
          fc.record({ name: fc.constant(name), values: fc.array(value, { minLength: points, maxLength: points }) }),
        ),
      ),
    }),
  )

describe('the drawing of a chart', () => {
  test('any data: only shapes and words of ours, every number finite, inside the picture', () => {
    fc.assert(
      fc.property(anyChart, (given) => {
        const chart = readChart(JSON.stringify(given))
        if (chart === null) return
        const svg = drawingOf(chart)
        const tags = new Set([...svg.matchAll(/<\/?([a-z]+)/g)].map(([, name]) => name))
        for (const tag of tags) expect(['svg', 'rect', 'text', 'line', 'polyline', 'circle']).toContain(tag)
        expect(svg).not.toMatch(/NaN|Infinity|undefined|href|<script|\son\w+=/)
        for (const [, name, number] of svg.matchAll(/ (x|y|x1|y1|x2|y2|cx|cy|width|height)="([^"]*)"/g)) {
          expect(Number(number), `${name}=${number}`).toBeGreaterThanOrEqual(0)
          expect(Number(number), `${name}=${number}`).toBeLessThanOrEqual(721)
        }
        expect(drawingOf(chart)).toBe(svg)
      }),
      { numRuns: 200 },
    )
  })

  test('bars begin at zero; the longest is as long as its value says', () => {
    const svg = drawingOf(read({ x: ['a', 'b'], series: [{ name: 's', values: [50, 100] }] }) as Chart)
    const heights = [...svg.matchAll(/height="([\d.]+)" fill="#0072b2"/g)].map(([, height]) => Number(height))
    expect(heights).toHaveLength(2)
    expect(heights[1]! / heights[0]!).toBeCloseTo(2, 1)
  })

  test('a gap is a gap in the line', () => {
    const svg = drawingOf(
      read({
        type: 'line',
        x: ['a', 'b', 'c', 'd', 'e'],
        series: [{ name: 's', values: [1, 2, null, 4, 5] }],
      }) as Chart,
    )
    expect(svg.match(/<polyline/g)).toHaveLength(2)
    expect(svg.match(/<circle/g)).toHaveLength(4)
  })

  test('several series are named and differ without colour, too', () => {
    const series = [1, 2, 3].map((n) => ({ name: `series ${n}`, values: [n, n] }))
    const svg = drawingOf(read({ type: 'line', series }) as Chart)
    for (const { name } of series) expect(svg).toContain(`>${name}<`)
    expect(new Set(svg.match(/stroke-dasharray="[^"]+"/g)).size).toBe(2)
  })
})

test('an axis has round numbers around its data', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -1e12, max: 1e12, noNaN: true }), { minLength: 1, maxLength: 30 }),
      fc.boolean(),
      (values, fromZero) => {
        const { low, high, ticks } = scaleOf(values, fromZero)
        expect(low).toBeLessThanOrEqual(Math.min(...values) + 1e-6 * Math.abs(high - low))
        expect(high).toBeGreaterThanOrEqual(Math.max(...values) - 1e-6 * Math.abs(high - low))
        expect(high).toBeGreaterThan(low)
        if (fromZero) expect(low * high).toBeLessThanOrEqual(0)
        expect(ticks.length).toBeGreaterThanOrEqual(2)
        expect(ticks.length).toBeLessThanOrEqual(8)
        expect(new Set(ticks.map((tick) => tick.label)).size).toBe(ticks.length)
      },
    ),
    { numRuns: 500 },
  )
})
