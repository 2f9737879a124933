import { Worker } from 'node:worker_threads'

/**
 * A test whose process does nothing but compute would hold up the whole run: no time limit of a test can fire in it. A
 * thread beside it notices that, says where it stands, and ends what it does, so that the limit fires.
 */
const beats = new Int32Array(new SharedArrayBuffer(4))
setInterval(() => Atomics.add(beats, 0, 1), 500).unref()

const watch = `
  const { workerData: beats } = require('node:worker_threads')
  const { Session } = require('node:inspector')
  const { writeSync } = require('node:fs')
  let seen = -1
  let since = Date.now()
  setInterval(() => {
    const now = Atomics.load(beats, 0)
    if (now !== seen) [seen, since] = [now, Date.now()]
    if (Date.now() - since < 40_000) return
    since = Date.now()
    const session = new Session()
    session.connectToMainThread()
    const files = new Map()
    session.on('Debugger.scriptParsed', ({ params }) => files.set(params.scriptId, params.url))
    session.on('Debugger.paused', ({ params }) => {
      const frames = params.callFrames.map((f) => '  ' + f.functionName + ' ' + files.get(f.location.scriptId) + ':' + (f.location.lineNumber + 1))
      writeSync(2, 'stuck, and ended where it stood:\\n' + frames.slice(0, 30).join('\\n') + '\\n')
      session.post('Debugger.resume')
      session.post('Runtime.terminateExecution', () => session.disconnect())
    })
    session.post('Debugger.enable', () => session.post('Debugger.pause'))
  }, 1_000)
`
new Worker(watch, { eval: true, workerData: beats }).unref()
