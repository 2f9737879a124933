import { Worker } from 'node:worker_threads'
import type { Restated } from './degrade.js'
import { perform, type Rendered, type RenderTask } from './task.js'
import type { AnswerView, RenderedAnswer } from './view.js'
import { attachedWhole } from './whole.js'
import type { RenderJob, RenderReply } from './worker-entry.js'

/** Below this many bytes rendering takes a few milliseconds, less than handing it over. */
export const INLINE_BYTES = 8 * 1024

/** An answer that needs more than this is sent as a file; the process that takes events keeps its memory. */
const LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32 } as const

interface Waiting {
  readonly job: RenderJob
  readonly resolve: (rendered: Rendered<RenderTask>) => void
  readonly reject: (error: Error) => void
}

interface Running {
  readonly thread: Worker
  /** A thread that never came up says nothing about its first job. */
  up: boolean
}

let worker: Running | null = null
let lastId = 0
/** In the order in which they were handed over: the first is the one that the thread is at. */
const waiting = new Map<number, Waiting>()

/**
 * Renders like `renderAnswer`, a large answer on a thread of its own: the thread that takes events has 3 s to ack.
 * One that takes too much memory, or longer than the caller waits, is attached whole with its beginning as text.
 *
 * @param patience aborted when the caller waits no longer
 */
export function renderAnswerOffThread(view: AnswerView, patience?: AbortSignal): Promise<RenderedAnswer> {
  const bytes = Buffer.byteLength(view.markdown) + Buffer.byteLength(view.conclusion ?? '')
  // A chart is painted, and that takes as long as a large answer.
  const large = bytes >= INLINE_BYTES || /(?:```|~~~) *chart/.test(view.markdown + (view.conclusion ?? ''))
  return offThread({ render: 'answer', view } as const, large, patience)
}

/** A part in another form (`degrade`, `shrink`), a large one on a thread of its own. */
export function restateOffThread(
  task: Exclude<RenderTask, { readonly render: 'answer' }>,
): Promise<readonly Restated[]> {
  const text =
    task.render === 'smaller' ? task.part.content : 'text' in task.source ? task.source.text : task.source.markdown
  return offThread(task, Buffer.byteLength(text) >= INLINE_BYTES)
}

/** One thread, started when first needed; it never keeps the process alive by itself. */
function offThread<T extends RenderTask>(task: T, large: boolean, patience?: AbortSignal): Promise<Rendered<T>> {
  return new Promise((resolve, reject) => {
    const job: RenderJob = { id: ++lastId, task }
    const asked: Waiting = { job, resolve: (rendered) => resolve(rendered as Rendered<T>), reject }
    if (!large) return settle(asked, perform)
    waiting.set(job.id, asked)
    hand(job)
    patience?.addEventListener('abort', () => giveUp(job.id), { once: true })
    if (patience?.aborted === true) giveUp(job.id)
  })
}

function hand(job: RenderJob): void {
  const { thread } = (worker ??= start())
  thread.ref()
  thread.postMessage(job)
}

/** The caller waits no longer: a job that the thread is at ends with its thread, and the others get a new one. */
function giveUp(id: number): void {
  const [first] = waiting.keys()
  const job = waiting.get(id)
  if (job === undefined) return
  waiting.delete(id)
  settle(job, plainly)
  if (first === id) replace()
}

/** Ends the thread; a render that still runs is done here instead, so nobody waits for ever. */
export async function closeRenderWorker(): Promise<void> {
  const running = worker
  worker = null
  const left = [...waiting.values()]
  waiting.clear()
  for (const each of left) settle(each, weight(each.job.task) > MOST_HERE ? plainly : perform)
  await running?.thread.terminate()
}

/** Characters that are rendered on the thread of the events when there is no other; some ten milliseconds. */
const MOST_HERE = 64 * 1024

function weight(task: RenderTask): number {
  return task.render === 'answer' ? task.view.markdown.length + (task.view.conclusion?.length ?? 0) : 0
}

/** From source the entry is TypeScript and needs a loader, which a thread does not take over from its process. */
function start(): Running {
  const fromSource = import.meta.url.endsWith('.ts')
  const entry = new URL(fromSource ? './worker-entry.ts' : './worker-entry.js', import.meta.url)
  const thread = fromSource
    ? new Worker(
        `import('tsx/esm/api').then(({ register }) => { register(); return import(${JSON.stringify(entry.href)}) })`,
        { eval: true, execArgv: [], env: {}, resourceLimits: LIMITS },
      )
    : new Worker(entry, { execArgv: [], env: {}, resourceLimits: LIMITS })
  const started: Running = { thread, up: false }
  thread.on('message', (reply: RenderReply) => {
    started.up = true
    const job = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (waiting.size === 0) thread.unref()
    if (job === undefined) return
    if ('rendered' in reply) job.resolve(reply.rendered)
    else settle(job, plainly)
  })
  const lost = (): void => {
    if (worker !== started) return
    const [first] = waiting.values()
    if (first !== undefined) {
      waiting.delete(first.job.id)
      settle(first, started.up || weight(first.job.task) > MOST_HERE ? plainly : perform)
    }
    replace()
  }
  thread.on('error', lost)
  thread.on('exit', lost)
  return started
}

/** A new thread for what still waits. */
function replace(): void {
  const old = worker
  worker = null
  void old?.thread.terminate()
  for (const { job } of waiting.values()) hand(job)
}

/** An answer that cannot be rendered is a fault of ours and no reason to lose it. */
function settle({ job, resolve, reject }: Waiting, how: (task: RenderTask) => Rendered<RenderTask>): void {
  for (const each of how === plainly ? [plainly] : [how, plainly]) {
    try {
      return resolve(each(job.task))
    } catch (error) {
      if (each === plainly) reject(error instanceof Error ? error : new Error('rendering failed'))
    }
  }
}

/** Without reading its marks. A part is small, so it is done as always. */
function plainly(task: RenderTask): Rendered<RenderTask> {
  return task.render === 'answer' ? attachedWhole(task.view) : perform(task)
}
