import type { PartSource } from '../collab/channel.js'
import { renderAnswer } from './answer.js'
import { painted } from './chart/painted.js'
import { degrade, shrink, type Restated } from './degrade.js'
import type { AnswerView, RenderedAnswer } from './view.js'

/** What there is to render: a whole answer, or a part of one in another form. */
export type RenderTask =
  | { readonly render: 'answer'; readonly view: AnswerView }
  | { readonly render: 'post' | 'text'; readonly source: PartSource }
  | { readonly render: 'smaller'; readonly part: Parameters<typeof shrink>[0]; readonly source: PartSource | null }

export type Rendered<T extends RenderTask> = T extends { readonly render: 'answer' }
  ? RenderedAnswer
  : readonly Restated[]

export function perform(task: RenderTask): Rendered<RenderTask> {
  if (task.render === 'answer') return painted(renderAnswer(task.view))
  return task.render === 'smaller' ? shrink(task.part, task.source) : degrade(task.source, task.render)
}
