import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface SourceFile {
  /** Relative to `src`, with `/`. */
  readonly path: string
  readonly text: string
}

/** Every TypeScript file below a folder of the project, with its path relative to that folder. */
export function filesBelow(folder: string): readonly SourceFile[] {
  const base = join(root, folder)
  return readdirSync(base, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: relative(base, file).replaceAll('\\', '/'), text: readFileSync(file, 'utf8') }))
}

export interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

/** Every module specifier of a file: static, dynamic, type, re-export, `import()` types, `require`. */
export function importsOf(file: string, text: string): readonly string[] {
  const found: string[] = []
  walk(program(file, text), (node) => {
    const source = (node['source'] ?? null) as Node | null
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ExportNamedDeclaration':
      case 'ExportAllDeclaration':
      case 'ImportExpression':
        found.push(...literal(source))
        break
      case 'TSImportType':
        found.push(...literal((source ?? (node['argument'] as Node | null)) as Node | null))
        break
      case 'TSExternalModuleReference':
        found.push(...literal(node['expression'] as Node))
        break
      case 'CallExpression': {
        const callee = node['callee'] as Node
        if (callee.type === 'Identifier' && callee['name'] === 'require') {
          found.push(...literal((node['arguments'] as Node[])[0] ?? null))
        }
        break
      }
      default:
    }
  })
  return found
}

/** Names used as values: `setTimeout`, `Date.now`, `process.env`; not properties of other things. */
export function namesUsed(file: string, text: string): ReadonlySet<string> {
  const used = new Set<string>()
  const skip = new Set<unknown>()
  walk(program(file, text), (node) => {
    if (node.type === 'MemberExpression') {
      const object = node['object'] as Node
      const property = node['property'] as Node
      if (object.type === 'Identifier' && node['computed'] === false) {
        used.add(`${String(object['name'])}.${String(property['name'])}`)
      }
      if (node['computed'] === false) skip.add(property)
    }
    if (node.type === 'Property' && node['computed'] === false && node['shorthand'] === false) skip.add(node['key'])
    if (node.type.startsWith('TS')) for (const child of Object.values(node)) skip.add(child)
    if (node.type === 'Identifier' && !skip.has(node)) used.add(String(node['name']))
  })
  return used
}

/** Where a relative specifier leads, relative to `src`; null for packages. */
export function resolveInside(from: string, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null
  const base = join(root, 'src')
  return relative(base, resolve(join(base, dirname(from)), specifier)).replaceAll('\\', '/')
}

/** The room of a path: its first folder, or the file itself on the top floor. */
export function roomOf(path: string): string {
  return path.split('/')[0] ?? path
}

export function program(file: string, text: string): Node {
  return parseSync(file, text).program as unknown as Node
}

function literal(node: Node | null): readonly string[] {
  if (node === null) return []
  if (node.type === 'Literal' && typeof node['value'] === 'string') return [node['value']]
  if (node.type === 'TSLiteralType') return literal(node['literal'] as Node)
  if (node.type === 'TemplateLiteral' && (node['quasis'] as Node[]).length === 1) {
    return [String((((node['quasis'] as Node[])[0] as Node)['value'] as { cooked: string }).cooked)]
  }
  return []
}

export function walk(node: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(node)) {
    for (const child of node) walk(child, visit)
    return
  }
  if (node === null || typeof node !== 'object') return
  if (typeof (node as Node).type === 'string') visit(node as Node)
  for (const child of Object.values(node)) walk(child, visit)
}
