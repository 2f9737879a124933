import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createMetrics } from '../../src/app/meter.js'
import { ownCommands } from '../../src/app/own-commands.js'
import { secretNames, settings } from '../../src/app/settings.js'
import { runCli } from '../../src/cli/main.js'
import { endpoints } from '../../src/runtime/registry.js'
import { directives } from '../../src/runtime/rehearsal/directives.js'
import { exportsOf, namedSources } from './exports.js'
import { root } from './source.js'

const documents = [
  'README.md',
  'README.zh.md',
  'CONTRIBUTING.md',
  'docs/walkthrough.md',
  'docs/acceptance.md',
  'docs/operations.md',
  'docs/decisions.md',
  'src/collab/README.md',
  'src/sandbox/README.md',
]
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const texts = documents.map((path) => ({ path, text: read(path) }))
const textOf = (path: string) => texts.find((document) => document.path === path)?.text ?? ''

/** The anchors of a document, as GitHub makes them. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...outsideCode(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => heading ?? '')
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

const outsideCode = (text: string): string => text.replaceAll(/^\s*```[\s\S]*?^\s*```$/gm, '')

/** Links of a document that lead nowhere inside the project. */
function brokenLinks(path: string, text: string): readonly string[] {
  const links = [...outsideCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link ?? '')
  return links
    .filter((link) => !/^https?:/.test(link))
    .filter((link) => {
      const [file = '', anchor] = link.split('#')
      const target = file === '' ? path : normalize(join(dirname(path), file))
      if (!existsSync(join(root, target))) return true
      return anchor !== undefined && !anchorsOf(read(target)).has(anchor)
    })
}

/** Lines of code blocks: what a reader types or sees. */
const typed = (text: string): readonly string[] =>
  [...text.matchAll(/^\s*```\w*\n([\s\S]*?)^\s*```$/gm)].flatMap(([, block]) => (block ?? '').split('\n'))

const rows = (text: string): readonly string[] => text.split('\n').filter((line) => line.startsWith('| '))
const words = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word ?? '')

describe('documents', () => {
  test.each(texts)('$path: every link leads somewhere', ({ path, text }) => {
    expect(brokenLinks(path, text)).toEqual([])
  })

  // A decision is history: the file that it speaks of may have moved since.
  const present = texts.filter(({ path }) => path !== 'docs/decisions.md')
  test.each(present)('$path: every source file and export that it names exists', ({ text }) => {
    const missing = namedSources(text).filter(
      ({ file, name }) =>
        !file.includes('ROOM') &&
        (!existsSync(join(root, file)) || (name !== null && !exportsOf(file, read(file)).has(name))),
    )
    expect(missing).toEqual([])
  })

  test.each(texts)('$path: every npm script that it names exists', ({ text }) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> }
    const named = [...text.matchAll(/\bnpm run (?:-s )?([\w:]+)/g)].map(([, name]) => name ?? '')
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
  })

  test('every command of the command line that they print is one', async () => {
    const lines = texts.flatMap(({ text }) => [
      ...typed(text),
      ...[...text.matchAll(/`(npm run -s cli -- [^`]+)`/g)].map(([, line]) => line ?? ''),
    ])
    const calls = lines.flatMap((line) => {
      const call = /npm run -s cli -- ([^#\n]+)/.exec(line)?.[1]
      return call === undefined ? [] : [call.trim()]
    })
    expect(calls.length).toBeGreaterThan(8)
    const wrong: string[] = []
    for (const call of calls) if (!(await isCommand(call))) wrong.push(call)
    expect(wrong).toEqual([])
    expect(await isCommand('request shew ID')).toBe(false)
    expect(await isCommand('delivery retry ID --decision maybe')).toBe(false)
  })

  test('every variable that they name is read, and every setting is named in one table', () => {
    const known = new Set<string>([...Object.values(settings).map((setting) => setting.env), ...secretNames])
    const tables = [...rows(textOf('README.md')), ...rows(textOf('docs/operations.md'))]
    const named = tables.flatMap((row) => words(row.split('|')[1] ?? '')).filter((word) => /^[A-Z][A-Z_]+$/.test(word))
    expect(named.filter((name) => !known.has(name))).toEqual([])
    expect([...known].filter((name) => !named.includes(name))).toEqual([])
    expect(named.filter((name, at) => named.indexOf(name) !== at)).toEqual([])
  })

  test('the defaults that operations prints are the defaults', () => {
    const table = rows(textOf('docs/operations.md'))
      .map((row) => row.split('|').map((cell) => cell.trim()))
      .flatMap(([, name = '', value = '']) => {
        const setting = Object.values(settings).find((it) => `\`${it.env}\`` === name)
        return setting === undefined ? [] : [[setting.env, value.replaceAll('`', ''), String(setting.fallback)]]
      })
    expect(table.length).toBeGreaterThan(10)
    expect(table.filter(([, said, real]) => said !== real)).toEqual([])
  })

  test('operations explains every count of doctor, and no other', () => {
    const block = /const stuckNames[^{]*\{([^}]*)\}/.exec(read('src/app/health.ts'))?.[1] ?? ''
    const real = [...block.matchAll(/'([^']+)'/g)].map(([, name]) => name ?? '')
    const part = textOf('docs/operations.md').split('## When something stands still')[1]?.split('\n### ')[0] ?? ''
    const named = rows(part).flatMap((row) => words(row.split('|')[1] ?? ''))
    expect(real.length).toBeGreaterThan(5)
    expect(named.filter((name) => name !== 'doctor').toSorted()).toEqual(real.toSorted())
  })

  test('operations names every metric, and no other', async () => {
    const real = [...(await createMetrics().text()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name ?? '')
    const part = textOf('docs/operations.md').split('## Metrics')[1]?.split('\n## ')[0] ?? ''
    const named = rows(part).flatMap((row) => words(row.split('|')[1] ?? '').map((name) => name.replace(/\{.*$/, '')))
    expect(named.toSorted()).toEqual(real.toSorted())
  })

  test('the lines to try are directives, and the runtimes are those that may be named', () => {
    const known = new Set<string>(directives.map((directive) => directive.name))
    const tried = texts.flatMap(({ text }) => typed(text)).flatMap((line) => /^!(\w+)/.exec(line)?.[1] ?? [])
    expect(tried.length).toBeGreaterThan(5)
    expect(tried.filter((name) => !known.has(name))).toEqual([])
    const row = rows(textOf('README.md')).find((line) => line.startsWith('| `MANAGER_ENDPOINT`')) ?? ''
    expect(words(row.split('|')[2] ?? '').toSorted()).toEqual([...endpoints].toSorted())
  })

  test('nothing of a machine that they were written on is in them', () => {
    const private_ = /(?<![\w.])\/(?:work|tmp|home|root|Users)\//
    expect(texts.filter(({ text }) => private_.test(text)).map(({ path }) => path)).toEqual([])
  })

  test('the Chinese page prints commands and scopes that the English one has too', () => {
    const plain = (line: string) => !/^!|^\s*$/.test(line)
    const english = new Set(typed(textOf('README.md')))
    expect(typed(textOf('README.zh.md')).filter((line) => plain(line) && !english.has(line))).toEqual([])
    const scopes = (path: string) => [...new Set(textOf(path).match(/\bim:[\w.:]+\w/g))].toSorted()
    expect(scopes('README.zh.md')).toEqual(scopes('README.md'))
  })
})

describe('the check can fail', () => {
  test.each([
    ['[x](docs/walkthrough.md)', []],
    ['[x](docs/walkthroughs.md)', ['docs/walkthroughs.md']],
    ['[x](docs/operations.md#backup)', []],
    ['[x](docs/operations.md#back-up)', ['docs/operations.md#back-up']],
    ['[x](#here)\n\n# Here', ['#here']],
    ['[x](https://example.com/nowhere)', []],
  ])('%s', (text, expected) => {
    expect(brokenLinks('README.md', text)).toEqual(expected)
  })
})

/** Whether the command line takes these words; nothing is called. */
async function isCommand(call: string): Promise<boolean> {
  const argv = call.split(/\s+/)
  if (ownCommands.has(argv[0] ?? '')) return true
  let called = false
  const code = await runCli(argv, {
    stdout: () => {},
    stderr: () => {},
    env: { url: 'http://127.0.0.1:9', token: '', lang: 'en' },
    fetch: () => {
      called = true
      return Promise.reject(new Error('not called in this test'))
    },
    newId: () => 'id',
  })
  return called && code === 3
}
