import { parentPort } from 'node:worker_threads'
import { perform, type Rendered, type RenderTask } from './task.js'

export interface RenderJob {
  readonly id: number
  readonly task: RenderTask
}

/** Failed: the renderer threw, which is a fault of ours; whoever asked has another way to say it. */
export type RenderReply =
  { readonly id: number; readonly rendered: Rendered<RenderTask> } | { readonly id: number; readonly failed: true }

parentPort?.on('message', ({ id, task }: RenderJob) => {
  let reply: RenderReply
  try {
    reply = { id, rendered: perform(task) }
  } catch {
    reply = { id, failed: true }
  }
  parentPort?.postMessage(reply)
})
