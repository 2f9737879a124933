import type { MarkdownIt as Parser, StateCore, Token } from 'markdown-it'

/** Whether an item of a task list is done. */
export type Task = 'open' | 'done'

/** Seen in every message type; none of them has a box of its own. */
export const taskSigns: Readonly<Record<Task, string>> = { open: '☐', done: '☑' }

/** Items that begin with `[ ]` or `[x]`: the box leaves the text and stands at the item (GFM, task list items). */
export function readTasks(parser: Parser): void {
  parser.core.ruler.after('inline', 'tasks', (state: StateCore) => {
    for (const [at, item] of state.tokens.entries()) {
      const inline = state.tokens[at + 2]
      if (item.type !== 'list_item_open' || state.tokens[at + 1]?.type !== 'paragraph_open') continue
      const text = inline?.children?.[0]
      const box = text?.type === 'text' ? /^\[([ xX])\](?=[ \t])[ \t]+/.exec(text.content) : null
      if (box === null || text === undefined) continue
      item.meta = { task: box[1] === ' ' ? 'open' : 'done' } satisfies { task: Task }
      text.content = text.content.slice(box[0].length)
    }
  })
}

/** What `readTasks` found at an item. */
export function taskOf(item: Token): Task | undefined {
  return (item.meta as { readonly task?: Task } | null)?.task
}
