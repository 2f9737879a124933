import type { QuiesceProof } from '../../collab/ports.js'
import { ProcessGroup, type ProcessSpec } from '../process-group.js'
import { scrub } from '../scrub.js'
import { descendantsOf, endAll } from './descendants.js'
import { readLines } from './lines.js'
import type { CodexDeps } from './options.js'
import { fields, text } from './read.js'
import type { Trouble } from '../trouble.js'

/** An error that codex answered a request with. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}

/** The process ended, or its output is of no use any more, before it answered. */
export class PeerGone extends Error {
  override readonly name = 'PeerGone'
}

/** Whoever runs the current turn. */
export interface Listener {
  notified(method: string, params: unknown): void
  /** What is asked of the client; null: nothing is answered. Rejects with RpcError to refuse. */
  asked(method: string, params: unknown): Promise<unknown>
}

/** How long codex may take to end by itself once its input has ended (measured: 50 ms). */
const INPUT_END_MS = 300
/** How long its commands may take to end after it. */
const COMMAND_END_MS = 300
/** Lines of another kind that it may print before it speaks the protocol. */
const TOLERATED = 50
const METHOD_NOT_FOUND = -32601

/**
 * One `codex app-server` and the connection to it: JSON objects, one a line, in the manner of JSON-RPC but without its
 * `jsonrpc` member. Notifications of unknown kind are handed on like all others; whoever listens ignores them.
 */
export class CodexPeer {
  readonly #group: ProcessGroup
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  #next = 0
  #listener: Listener | null = null
  #spoken = false
  #strays = 0
  #prompted = false
  #lastStderr = ''
  #bad: Trouble | null = null
  #gone = false
  #ending: Promise<QuiesceProof> | null = null
  /** Resolves once, when the process is of no use any more, for whatever reason. */
  readonly ended: Promise<Trouble>

  constructor(
    spec: ProcessSpec,
    private readonly deps: CodexDeps,
  ) {
    this.#group = new ProcessGroup(spec)
    const { child } = this.#group
    child.stderr.setEncoding('utf8').on('data', (said: string) => {
      this.#lastStderr = (this.#lastStderr + said).slice(-2000)
    })
    let onBad: (trouble: Trouble) => void = () => {}
    const bad = new Promise<Trouble>((resolve) => (onBad = resolve))
    const fail = (trouble: Trouble): void => {
      this.#bad ??= trouble
      onBad(this.#bad)
    }
    readLines(child.stdout, {
      line: (line) => {
        if (this.#bad === null && !this.#take(line)) fail(garbage)
      },
      tooLong: (head) => {
        if (this.#bad === null && !this.#mayMiss(head)) fail(tooLarge)
      },
    })
    const exited = this.#group.ended.then((): Trouble => this.#ofExit())
    this.ended = Promise.race([bad, exited])
    void this.ended.then(() => {
      this.#gone = true
      for (const { reject } of this.#waiting.values()) reject(new PeerGone('codex has ended'))
      this.#waiting.clear()
      // What it leaves behind when it dies must not act on.
      return this.end()
    })
  }

  get pid(): number | undefined {
    return this.#group.pid
  }

  get usable(): boolean {
    return this.#ending === null && !this.#gone
  }

  /** From now on its words may hold something of a message, and are told to nobody. */
  prompted(): void {
    this.#prompted = true
  }

  /** Until the returned function is called, what codex says and asks goes to `listener`. */
  listen(listener: Listener): () => void {
    this.#listener = listener
    return () => {
      if (this.#listener === listener) this.#listener = null
    }
  }

  /** @throws RpcError when codex refuses; PeerGone when it ends before it answers */
  request(method: string, params: unknown): Promise<unknown> {
    if (!this.usable) return Promise.reject(new PeerGone('codex has ended'))
    const id = this.#next++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#write({ id, method, params })
    })
  }

  notify(method: string): void {
    this.#write({ method })
  }

  /** Ends the process and everything in its group; asked twice, it is the same end. */
  end(): Promise<QuiesceProof> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<QuiesceProof> {
    // Each command is in a session of its own; sandboxed ones end with codex, and others are ended here.
    const commands = this.pid === undefined ? [] : await descendantsOf(this.pid)
    let proof = await this.#group.end(this.#bad === null ? INPUT_END_MS : 0, this.deps.killAfterMs)
    if (!(await endAll(commands, COMMAND_END_MS))) proof = { executor: 'unknown' }
    if (proof.executor === 'unknown') this.deps.logger.error('a codex process group is still alive after SIGKILL')
    return proof
  }

  #write(message: unknown): void {
    const { stdin } = this.#group.child
    if (!stdin.destroyed && !stdin.writableEnded) stdin.write(`${JSON.stringify(message)}\n`)
  }

  /** False: that was no message, and by now every line must be one. */
  #take(line: string): boolean {
    let message
    try {
      message = fields(JSON.parse(line))
    } catch {
      message = fields(null)
    }
    const { id, method } = message
    if (typeof method === 'string') {
      if (id === undefined) this.#listener?.notified(method, message['params'])
      else void this.#answer(id, method, message['params'])
      return true
    }
    const waiting = typeof id === 'number' ? this.#waiting.get(id) : undefined
    if (waiting === undefined) {
      // An answer that nobody waits for any more is no harm; anything else is no message.
      return id !== undefined || (!this.#spoken && ++this.#strays <= TOLERATED)
    }
    this.#waiting.delete(id as number)
    this.#spoken = true
    if ('error' in message) {
      const error = fields(message['error'])
      waiting.reject(new RpcError(Number(error['code']), text(error['message']) ?? 'unknown error'))
    } else waiting.resolve(message['result'])
    return true
  }

  async #answer(id: unknown, method: string, params: unknown): Promise<void> {
    try {
      if (this.#listener === null) throw new RpcError(METHOD_NOT_FOUND, 'no turn is running')
      const result = await this.#listener.asked(method, params)
      if (result !== null) this.#write({ id, result })
    } catch (error) {
      const known = error instanceof RpcError
      this.#write({ id, error: { code: known ? error.code : -32603, message: known ? error.message : 'refused' } })
    }
  }

  /** A notification about a command or a patch may be longer than anything that is read out of it. */
  #mayMiss(head: string): boolean {
    const method = /^\{"method":"([\w/]+)","params"/u.exec(head)?.[1] ?? ''
    const item = method.startsWith('item/') && !/"type":"(?:agentMessage|userMessage)"/u.test(head)
    if (!item && method !== 'turn/diff/updated') return false
    this.deps.logger.warn('a report of codex was too long and was left out', { reason: 'too-large' })
    return true
  }

  #ofExit(): Trouble {
    if (this.#bad !== null) return this.#bad
    if (this.#group.pid === undefined) return { because: 'unavailable', detail: 'codex could not be started' }
    if (!this.#spoken && this.#strays > 0) return garbage
    const { exitCode, signalCode } = this.#group.child
    const how = signalCode === null ? `with code ${exitCode ?? 'unknown'}` : `by ${signalCode}`
    const words = this.#prompted ? '' : scrub(this.#lastStderr, this.deps.env)
    return { because: 'exited', detail: `codex ended ${how}${words === '' ? '' : `: ${words}`}` }
  }
}

const garbage: Trouble = { because: 'garbage', detail: 'codex wrote lines that are not its protocol' }
const tooLarge: Trouble = { because: 'too-large', detail: 'codex wrote a message that is over the limit' }
