import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { type Chart, readChart } from '../../../src/render/chart/chart.js'
import { drawingOf } from '../../../src/render/chart/draw.js'
import { paint } from '../../../src/render/chart/paint.js'

const drawing = (title: string): string =>
  drawingOf(
    readChart(JSON.stringify({ type: 'bar', title, x: ['1', '2'], series: [{ name: '', values: [1, 2] }] })) as Chart,
  )

const hasCjk = spawnSync('fc-list', [':lang=zh'], { encoding: 'utf8' }).stdout !== ''

describe('a drawing as a picture', () => {
  test('is a PNG twice its size', () => {
    const png = paint(drawing('1 2'))
    if (png === null) return expect(spawnSync('fc-list', { encoding: 'utf8' }).stdout).toBe('')
    expect([...png.subarray(0, 8)]).toEqual([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
    expect(Buffer.from(png).readUInt32BE(16)).toBe(1_440)
  })

  test('is none when no font here has one of its signs', () => {
    expect(paint(drawing('\u{10fffc}'))).toBeNull()
  })

  test.skipIf(!hasCjk)('has Chinese words where a font for them is installed (fonts-noto-cjk)', () => {
    expect(paint(drawing('每日请求数'))).not.toBeNull()
    expect(paint(drawing('每日请求数 📈'))).not.toBeNull()
  })
})
