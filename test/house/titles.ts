import { filesBelow, importsOf, program, walk, type Node } from './source.js'

/** A test that names an acceptance row at the beginning of its title. */
export interface Title {
  readonly id: string
  readonly title: string
  /** Relative to the top of the project: `test/…`. */
  readonly file: string
}

/** The rows of docs/acceptance.md, in their order. */
export const rows: readonly string[] = [
  ...Array.from({ length: 24 }, (_, n) => `A${n + 1}`),
  ...Array.from({ length: 5 }, (_, n) => `S${n + 1}`),
  'P1',
  'P1b',
  ...Array.from({ length: 6 }, (_, n) => `P${n + 2}`),
  'R1',
  'R2',
]

const known = new Set(rows)
const makers = new Set(['test', 'it', 'describe', 'acceptance'])

/** Every title of a file that begins with a row's id, except those of tests that never run (`skip`, `todo`). */
export function titlesOf(file: string, text: string): readonly Title[] {
  const found: Title[] = []
  walk(program(file, text), (node) => {
    if (node.type !== 'CallExpression') return
    const names = namesOf(node['callee'] as Node)
    const [maker = '', ...rest] = names
    if (!makers.has(maker) || rest.includes('skip') || rest.includes('todo')) return
    const [first, second] = (node['arguments'] as Node[]).map(wordsOf)
    const title = maker === 'acceptance' ? `${first ?? ''} ${second ?? ''}` : (first ?? '')
    const id = title.split(' ', 1)[0] ?? ''
    if (known.has(id) && title.length > id.length + 1) found.push({ id, title, file })
  })
  return found
}

/** `test.skipIf(x)` is `test`, `skipIf`: the names that a call is made of, from the left. */
function namesOf(callee: Node): readonly string[] {
  switch (callee.type) {
    case 'Identifier':
      return [String(callee['name'])]
    case 'MemberExpression':
      return [...namesOf(callee['object'] as Node), ...namesOf(callee['property'] as Node)]
    case 'CallExpression':
      return namesOf(callee['callee'] as Node)
    default:
      return []
  }
}

function wordsOf(node: Node): string {
  if (node.type === 'Literal') return String(node['value'])
  if (node.type !== 'TemplateLiteral') return ''
  return (node['quasis'] as { readonly value: { readonly cooked: string } }[]).map((it) => it.value.cooked).join('…')
}

/** All titles of the project, and the suites of `test/contracts` that a test file really runs. */
export function allTitles(): readonly Title[] {
  const files = filesBelow('test').map((file) => ({ path: `test/${file.path}`, text: file.text }))
  const used = new Set(
    files
      .filter((file) => /\.test\.tsx?$/.test(file.path))
      .flatMap((file) => importsOf(file.path, file.text).map((specifier) => nameOf(specifier))),
  )
  return files
    .filter((file) => /\.test\.tsx?$/.test(file.path) || used.has(nameOf(file.path)))
    .flatMap((file) => titlesOf(file.path, file.text))
}

const nameOf = (path: string): string =>
  path
    .split('/')
    .slice(-2)
    .join('/')
    .replace(/\.[jt]sx?$/, '')

/** The files whose titles name a row, sorted. */
export function filesOf(id: string, titles: readonly Title[]): readonly string[] {
  return [...new Set(titles.filter((title) => title.id === id).map((title) => title.file))].toSorted()
}
