import { program, walk, type Node } from './source.js'

/** Every name that a file exports, types included. */
export function exportsOf(file: string, text: string): ReadonlySet<string> {
  const names = new Set<string>()
  walk(program(file, text), (node) => {
    if (node.type !== 'ExportNamedDeclaration') return
    const declaration = node['declaration'] as Node | null
    for (const name of declaration === null ? [] : declared(declaration)) names.add(name)
    for (const specifier of node['specifiers'] as Node[]) names.add(nameOf(specifier['exported']))
  })
  return names
}

function declared(declaration: Node): readonly string[] {
  if (declaration.type !== 'VariableDeclaration') return [nameOf(declaration['id'])]
  return (declaration['declarations'] as Node[]).map((one) => nameOf(one['id']))
}

const nameOf = (node: unknown): string => String((node as { name?: unknown }).name)

/** What a document names in backticks: `src/file.ts` or `src/file.ts#export`. */
export function namedSources(markdown: string): readonly { readonly file: string; readonly name: string | null }[] {
  return [...markdown.matchAll(/`(src\/[\w./-]+\.(?:tsx?|md))(?:#(\w+))?`/g)].map(([, file, name]) => ({
    file: file ?? '',
    name: name ?? null,
  }))
}
