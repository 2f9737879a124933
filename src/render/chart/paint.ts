import { createRequire } from 'node:module'
import { FONTS, WIDTH } from './draw.js'

type Library = typeof import('@resvg/resvg-js')

/** Undefined: not tried yet. Null: this platform has no binary of it. */
let library: Library | null | undefined

/**
 * A drawing as PNG, twice its size. Null when it cannot be had, or when this machine has no font for one of its signs:
 * a chart whose labels are boxes says nothing, and its data stands in the message anyway. Takes some 0.3 s, most of it
 * for the fonts of the system: for the render thread only.
 */
export function paint(svg: string): Uint8Array | null {
  library ??= load()
  if (library === undefined || library === null) return null
  try {
    if (!allDrawn(library, signsIn(svg))) return null
    return new library.Resvg(svg, { fitTo: { mode: 'width', value: WIDTH * 2 }, font }).render().asPng()
  } catch {
    return null
  }
}

/** Signs that were looked for, and whether a font has them: each look reads all fonts again. */
const drawn = new Map<string, boolean>()

const font = { loadSystemFonts: true, defaultFontFamily: 'DejaVu Sans' } as const

function load(): Library | null {
  try {
    return createRequire(import.meta.url)('@resvg/resvg-js') as Library
  } catch {
    return null
  }
}

/** Every sign of its texts once. */
function signsIn(svg: string): readonly string[] {
  const texts = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, said = '']) => said.replace(/&\w+;/g, ' '))
  return [...new Set(texts.join(''))].filter((sign) => sign.trim() !== '' && !/[\p{M}\p{Cf}\u{fe0f}]/u.test(sign))
}

/** Whether each sign has a shape of its own: what no font has is drawn as the same box as a character nobody assigned. */
function allDrawn(from: Library, signs: readonly string[]): boolean {
  const fresh = signs.filter((sign) => !drawn.has(sign))
  if (fresh.length > 0) {
    const rows = ['\u{10fffd}', ...fresh].map((sign, at) => `<text id="s${at}" y="20">&#${sign.codePointAt(0)};</text>`)
    const flat = new from.Resvg(
      `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" font-family="${FONTS}">${rows.join('')}</svg>`,
      { font },
    ).toString()
    const shapes = new Map([...flat.matchAll(/<g id="(s\d+)">([\s\S]*?)<\/g>/g)].map(([, id, shape]) => [id, shape]))
    for (const [at, sign] of fresh.entries()) {
      const shape = shapes.get(`s${at + 1}`)
      drawn.set(sign, shape !== undefined && shape !== shapes.get('s0'))
    }
  }
  return signs.every((sign) => drawn.get(sign) === true)
}
