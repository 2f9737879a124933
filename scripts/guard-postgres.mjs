// Corrects five defects of the database driver `postgres` 3.4.9 in node_modules. Each of them shows when Postgres or
// one of its sessions dies (upstream reports 1066, 1154, 1208; no release has the corrections):
//
//   1. A statement on a connection that is already gone is written from a timer and throws there, which ends the
//      whole process. It must be refused with CONNECTION_CLOSED like any other.
//   2. A closed connection keeps the bytes it had not sent, so its next start-up message is never sent.
//   3. A closed connection keeps the last error of the server and gives it to the first statement after reconnecting.
//   4. The function of a lost transaction can go on and write through the connection after somebody else got it,
//      outside its transaction. Its statements must be refused.
//   5. What is handed over between the error of a connection and its end (the rollback of a lost transaction) stays in
//      its list of sent statements. The next transaction there waits for an answer to it for ever.
//
// Run by `npm start`, `npm test`, the image and the tests themselves; safe to run again. When the source is not the one
// this was written for, nothing is changed and the reason is said: look whether the new version still needs it.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const marker = 'lark-manager-2'

const closedError = "Errors.connection('CONNECTION_CLOSED', options, socket)"

const connection = [
  [
    `    if (q.cancelled)
      return

    try {
      q.state = backend`,
    `    if (q.cancelled)
      return

    if (socket === null)
      return queryError(q, ${closedError}), true

    try {
      q.state = backend`,
  ],
  [
    `  function write(x, fn) {
    chunk =`,
    `  function write(x, fn) {
    if (socket === null)
      return error(${closedError}), false
    chunk =`,
  ],
  [
    `  function nextWrite(fn) {
    const x = socket.write(chunk, fn)`,
    `  function nextWrite(fn) {
    if (socket === null) {
      nextWriteTimer !== null && clearImmediate(nextWriteTimer)
      chunk = nextWriteTimer = null
      error(${closedError})
      return false
    }
    const x = socket.write(chunk, fn)`,
  ],
  [
    `    clearImmediate(nextWriteTimer)
    if (socket) {`,
    `    clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
    if (socket) {`,
  ],
  [
    `    clearImmediate(nextWriteTimer)
    socket.removeListener('data', data)`,
    `    clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
    socket.removeListener('data', data)`,
  ],
  [`    !hadError && (query || sent.length) && error(`, `    ;(query || sent.length) && error(`],
  [
    `error(Errors.connection('CONNECTION_CLOSED', options, socket))
    closedTime =`,
    `error(Errors.connection('CONNECTION_CLOSED', options, socket))
    query = results = errorResponse = null
    result = new Result()
    closedTime =`,
  ],
]

const index = [
  [
    `Object.assign(Postgres, {
`,
    `Object.assign(Postgres, {
  guard: '${marker}',
`,
  ],
  [
    `    let savepoints = 0
      , connection`,
    `    let savepoints = 0
      , lost = null
      , connection`,
  ],
  [
    `connection.onclose = reject)`,
    `connection.onclose = e => {
          lost = e
          while (queries.length)
            queries.shift().reject(e)
          reject(e)
        })`,
  ],
  [
    `        q.catch(e => uncaughtError || (uncaughtError = e))
`,
    `        q.catch(e => uncaughtError || (uncaughtError = e))
        if (lost)
          return q.reject(lost)
`,
  ],
]

const files = [
  ['src', connection, index],
  ['cjs/src', connection, index],
  ['cf/src', connection, index],
]

/**
 * @param {string} root the folder that holds node_modules
 * @returns {'applied' | 'present'}
 */
export function guardPostgres(root) {
  const driver = join(root, 'node_modules', 'postgres')
  const changes = []
  for (const [folder, ...sets] of files) {
    for (const [name, edits] of [
      ['connection.js', sets[0]],
      ['index.js', sets[1]],
    ]) {
      const file = join(driver, folder, name)
      const before = readFileSync(file, 'utf8')
      const after = edited(before, edits, `${folder}/${name}`)
      if (after !== before) changes.push([file, after])
    }
  }
  for (const [file, text] of changes) {
    const half = `${file}.${process.pid}`
    writeFileSync(half, text)
    renameSync(half, file)
  }
  return changes.length > 0 ? 'applied' : 'present'
}

function edited(text, edits, label) {
  let result = text
  for (const [before, after] of edits) {
    if (result.includes(after)) continue
    const first = result.indexOf(before)
    if (first === -1 || result.indexOf(before, first + 1) !== -1)
      throw new Error(
        `node_modules/postgres/${label} is not the source of 3.4.9 that scripts/guard-postgres.mjs corrects. ` +
          'Nothing was changed. Install the pinned version (npm ci), or look whether the new one needs the corrections.',
      )
    result = result.slice(0, first) + after + result.slice(first + before.length)
  }
  return result
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..')
  process.stderr.write(`database driver guard: ${guardPostgres(root)}\n`)
}
