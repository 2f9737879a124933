import type { Picture, RenderedAnswer } from '../view.js'
import { paint } from './paint.js'

/** The same answer with its charts as pictures, as far as this machine can paint them. Not pure: fonts are looked for. */
export function painted(answer: RenderedAnswer): RenderedAnswer {
  if (!answer.parts.some((part) => part.pictures?.some((picture) => picture.kind === 'chart'))) return answer
  const png = (picture: Picture): Picture =>
    picture.kind === 'chart' ? { ...picture, png: paint(picture.svg) } : picture
  return {
    ...answer,
    parts: answer.parts.map((part) =>
      part.pictures === undefined ? part : { ...part, pictures: part.pictures.map(png) },
    ),
  }
}
