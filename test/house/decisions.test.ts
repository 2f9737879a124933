import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './source.js'

const lines = readFileSync(join(root, 'docs', 'decisions.md'), 'utf8')
  .trimEnd()
  .split('\n')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
  'dependencies' | 'devDependencies',
  Readonly<Record<string, string>>
>
const packages = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })

/** Packages that no line names in backticks. */
const unexplained = (names: readonly string[], text: readonly string[]): readonly string[] =>
  names.filter((name) => !text.some((line) => line.includes(`\`${name}\``)))

describe('docs/decisions.md', () => {
  test('every dependency has its line', () => {
    expect(packages.length).toBeGreaterThan(30)
    expect(unexplained(packages, lines)).toEqual([])
  })

  test('every line is dated, and in the order of the days', () => {
    const days = lines.map((line) => /^- (\d{4}-\d{2}-\d{2}) — \S/.exec(line)?.[1])
    expect(lines.filter((_, at) => days[at] === undefined)).toEqual([])
    expect(days).toEqual(days.toSorted())
  })

  test('a version that a line names beside a package is the one that is locked', () => {
    const locked = (
      JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
        packages: Readonly<Record<string, { version?: string }>>
      }
    ).packages
    const stated = lines.flatMap((line) =>
      [...line.matchAll(/`([@\w./-]+)` (\d+\.\d+\.\d+(?:-[\w.]+)?)(?![\w-])/g)].map(([, name = '', version = '']) => ({
        name,
        version: version.replace(/\.$/, ''),
      })),
    )
    const wrong = stated.filter(
      ({ name, version }) => packages.includes(name) && locked[`node_modules/${name}`]?.version !== version,
    )
    expect(stated.length).toBeGreaterThan(20)
    expect(wrong).toEqual([])
  })

  test('the check can fail', () => {
    expect(unexplained(['left-pad'], lines)).toEqual(['left-pad'])
    expect(unexplained(['zod'], ['- 2026-11-30 — zod without its ticks'])).toEqual(['zod'])
  })
})
