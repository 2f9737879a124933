// `npm test`: installs what is missing, then formatting, lint, types and every suite. Each step's result is shown, and
// the last line is `N passed, N failed` with `, N skipped` behind it when something was. Arguments are handed to
// vitest as file filters.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareModules, requireNode, root } from './prepare.mjs'

const ci = process.env.CI === 'true' || process.env.CI === '1'
const filters = process.argv.slice(2)
const deadline = performance.now() + 22 * 60_000
const debian15 = '/usr/lib/postgresql/15/bin'

const total = { passed: 0, failed: 0, skipped: 0 }
const failures = []
const skips = []
const secondTries = []

requireNode()
prepareModules({ dev: true })
lookForPrograms()
lookForRuntimes()

const present = ['src', 'test', 'scripts', 'bench', 'drizzle'].filter((folder) => existsSync(join(root, folder)))
await step('format', ['prettier', '--check', '.'])
await step('lint', ['oxlint', '--deny-warnings', ...present])
await step('types', ['tsc', '--noEmit'])
await suite('pure', 'pure')
await suite('pg', 'pg')
if (existsSync(debian15)) {
  const rooms = filters.length > 0 ? filters : ['test/stores/db', 'test/stores/ledger.pg']
  await suite('pg on Postgres 15', 'pg', rooms, { TEST_PG: 'debian15' })
} else {
  // An addition: not every Debian has this version, so its absence never fails a run.
  total.skipped++
  skips.push('the suites on Postgres 15: not installed (apt-get install --no-install-recommends postgresql-15)')
}

for (const line of skips) process.stdout.write(`skipped  ${line}\n`)
for (const line of secondTries) process.stdout.write(`passed only when run again, alone  ${line}\n`)
for (const line of failures) process.stdout.write(`FAILED   ${line}\n`)
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
process.stdout.write(`${total.passed} passed, ${total.failed} failed${skipped}\n`)
process.exitCode = total.failed > 0 ? 1 : 0

function lookForPrograms() {
  const needed = [
    [['redis-server', 'valkey-server'], 'tests of the queue on Redis', 'redis-server'],
    [['chromium', 'chromium-browser', 'google-chrome'], 'tests in a browser', 'chromium'],
    [['git'], 'tests on a real repository', 'git'],
    [['bwrap'], 'tests of confined agent processes', 'bubblewrap'],
  ]
  for (const [names, what, debian] of needed) {
    if (names.some(onPath)) continue
    skip(`${what}: ${names[0]} is not installed (apt-get install --no-install-recommends ${debian})`)
  }
}

/** The real runtimes are large, so only `.ci/run` installs them by itself; their tests are skipped without them. */
function lookForRuntimes() {
  const install = 'npm ci --prefix test/runtimes --ignore-scripts'
  const folder = join(root, 'test', 'runtimes')
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    if (existsSync(join(folder, 'node_modules', name))) continue
    skip(`tests on the real ${name}: it is not installed (${install})`)
  }
}

function onPath(name) {
  return (process.env.PATH ?? '').split(':').some((folder) => folder !== '' && existsSync(join(folder, name)))
}

/** In CI nothing may be left out, so there a skip is a failure. */
function skip(line) {
  if (ci) fail(line)
  else {
    total.skipped++
    skips.push(line)
  }
}

function fail(line) {
  total.failed++
  failures.push(line)
}

/** One check without tests of its own: it counts as one. */
async function step(name, [program, ...args]) {
  const ended = await run(name, program, args, {})
  if (ended.ok) total.passed++
  else fail(`${name}: ${ended.reason}`)
}

/**
 * One vitest project; its tests are counted from vitest's own report. In CI a file with a failed test is run once more,
 * alone: real processes, sockets and clocks on shared cores are sometimes late, and a fault fails twice. What passed
 * only then is said.
 */
async function suite(name, project, files = filters, env = {}) {
  const first = await report(name, project, files, env)
  let failed = first.failed
  const again = [...new Set(failed.map(({ file }) => file))]
  if (ci && again.length > 0 && again.length <= 10) {
    const second = await report(`${name}, again and alone`, project, again, env, ['--no-file-parallelism'])
    const stillFailed = new Set(second.failed.map(({ line }) => line))
    for (const { line, reason } of failed) {
      if (stillFailed.has(line) || !second.complete) continue
      total.passed++
      secondTries.push(`${name}: ${line}: ${reason}`)
    }
    failed = second.complete ? second.failed : failed
  }
  for (const { line, reason } of failed) fail(`${name}: ${line}: ${reason}`)
  // An error outside every test, a missing report or the time limit.
  if (!first.ok && first.failed.length === 0) fail(`${name}: ${first.reason}`)
}

/** Runs vitest once, counts what passed and was skipped in a first run, and returns what failed. */
async function report(name, project, files, env, more = []) {
  const folder = mkdtempSync(join(tmpdir(), 'lark-manager-report-'))
  const path = join(folder, 'report.json')
  try {
    const args = ['run', '--config', 'test/vitest.config.ts', '--project', project, '--passWithNoTests', ...more]
    args.push('--reporter=default', '--reporter=json', `--outputFile.json=${path}`, ...files)
    const ended = await run(name, 'vitest', args, env)
    const complete = existsSync(path)
    const results = complete ? JSON.parse(readFileSync(path, 'utf8')).testResults : []
    return { ...ended, complete, failed: results.flatMap((file) => count(name, file, more.length === 0)) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function count(name, result, first) {
  const file = result.name.replace(`${join(root)}/`, '')
  const failed = []
  // A file that could not be loaded, or one whose `beforeAll` failed: its tests are named as skipped then.
  const noTest = result.status === 'failed' && !result.assertionResults.some(({ status }) => status === 'failed')
  if (noTest) failed.push({ file, line: file, reason: firstLine(result.message) })
  for (const test of result.assertionResults) {
    const line = `${file} > ${test.fullName}`
    if (test.status === 'failed') failed.push({ file, line, reason: firstLine(test.failureMessages[0]) })
    else if (!first) continue
    else if (test.status === 'passed') total.passed++
    else if (test.status !== 'todo' && !noTest) skip(`${name}: ${line}`)
  }
  return failed
}

function firstLine(text) {
  return (text || 'the file or one of its hooks failed; what it said is above').split('\n')[0].slice(0, 300)
}

/** Runs one program of node_modules with its output shown, at most until the deadline of the whole run. */
function run(name, program, args, env) {
  process.stdout.write(`\n── ${name}\n`)
  const began = performance.now()
  const { NODE_ENV: _, ...rest } = process.env
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'node_modules', '.bin', program), ...args], {
      cwd: root,
      env: { ...rest, ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    let late = false
    const limit = setTimeout(
      () => {
        late = true
        child.kill('SIGTERM')
        setTimeout(() => child.kill('SIGKILL'), 10_000).unref()
      },
      Math.max(1_000, deadline - performance.now()),
    )
    child.once('error', (error) => done(false, error.message))
    child.once('exit', (code, signal) =>
      done(code === 0, late ? 'the time limit of the whole run was reached' : `ended with ${code ?? signal}`),
    )
    function done(ok, reason) {
      clearTimeout(limit)
      const seconds = ((performance.now() - began) / 1_000).toFixed(1)
      process.stdout.write(`── ${name}: ${ok ? 'ok' : reason} (${seconds} s)\n`)
      resolve({ ok, reason })
    }
  })
}
