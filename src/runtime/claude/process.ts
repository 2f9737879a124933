import type { QuiesceProof } from '../../collab/ports.js'
import { errorLabel } from '../../lib/log.js'
import type { Program } from '../confine/confiner.js'
import { scrub } from '../scrub.js'
import { commandsOf, endMarked, markedProcesses } from '../marked.js'
import { ProcessGroup } from '../process-group.js'
import { within } from '../wait.js'
import { Input } from './input.js'
import { watchedLines } from './lines.js'
import { type Said, readMessage } from './messages.js'
import type { ClaudeDeps } from './options.js'
import type { ClaudeSdk, PermissionAnswer, Query, QueryOptions, SpawnedProcess, UserMessage } from './sdk.js'
import type { Trouble } from '../trouble.js'

/** Whoever runs the current turn. */
export interface Listener {
  said(said: Said): void
  permission(tool: string, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<PermissionAnswer>
}

/** How long the program may take to write down its history and end once its input has ended. */
const INPUT_END_MS = 1_500

/** How long a command that outlived its turn may take after SIGTERM. */
const COMMAND_TERM_MS = 300

/** Our tools as the agent calls them: `mcp__NAME__tool`. */
export const SERVER = 'lark-manager'

type OwnOptions = 'abortController' | 'stderr' | 'canUseTool' | 'spawnClaudeCodeProcess'

/** One `claude` process in a group of its own, and the conversation with it. */
export class ClaudeProcess {
  readonly #input = new Input()
  readonly #query: Query
  readonly #abort = new AbortController()
  #group: ProcessGroup | null = null
  #listener: Listener | null = null
  #ending: Promise<QuiesceProof> | null = null
  #lineTrouble: Trouble | null = null
  #lastStderr = ''
  #prompted = false
  /** Resolves once, when the program is of no use any more, for whatever reason. */
  readonly ended: Promise<Trouble>
  #onEnded: (trouble: Trouble) => void = () => {}

  /** @param of what it and everything that it starts carry in their environment, and what it alone is given */
  constructor(
    sdk: ClaudeSdk,
    options: Omit<QueryOptions, OwnOptions>,
    private readonly settings: ClaudeDeps,
    private readonly of: {
      readonly mark: string
      readonly secret: string | null
      /** Makes a command line one that starts confined; null: it starts as it is. */
      readonly confine: ((program: Program) => Program) | null
    },
  ) {
    this.ended = new Promise((resolve) => (this.#onEnded = resolve))
    this.#query = sdk.query({
      prompt: this.#input,
      options: {
        ...options,
        abortController: this.#abort,
        stderr: (text) => this.#hear(text),
        canUseTool: async (name, input, { signal }) => {
          // Our own tools decide by themselves what they do for whom.
          if (name.startsWith(`mcp__${SERVER}__`)) return { behavior: 'allow', updatedInput: input }
          return (await this.#listener?.permission(name, input, signal)) ?? nobody
        },
        spawnClaudeCodeProcess: (request) => this.#spawn(request, options),
      },
    })
    // What it leaves behind when it dies must not act on.
    void this.ended.then(() => this.end())
    void this.#read()
  }

  get pid(): number | undefined {
    return this.#group?.pid
  }

  get usable(): boolean {
    const child = this.#group?.child
    return this.#ending === null && child?.exitCode === null && child.signalCode === null
  }

  /** Resolves when the program has started and has its session; rejects when it could not. */
  started(): Promise<unknown> {
    return this.#query.initializationResult()
  }

  send(message: UserMessage): void {
    this.#prompted = true
    this.#input.put(message)
  }

  /** Until the returned function is called, reports go to `listener`. */
  listen(listener: Listener): () => void {
    this.#listener = listener
    return () => {
      if (this.#listener === listener) this.#listener = null
    }
  }

  /** Ends the running turn and its commands, and drops what still waits to be read. */
  async interrupt(): Promise<void> {
    await this.#query.interrupt({ cancelQueued: true }).catch((error: unknown) => {
      this.settings.logger.debug('an interrupt was not taken', { error: errorLabel(error) })
    })
  }

  /** Ends commands that are still there at the end of a turn; the program itself stays. */
  async endCommands(): Promise<{ readonly gone: boolean; readonly commands: readonly string[] }> {
    const apart = this.#group?.pid ?? null
    const commands = await commandsOf(await markedProcesses(this.of.mark, apart))
    const { gone, count } = await endMarked(this.of.mark, apart, COMMAND_TERM_MS)
    if (count > 0) this.settings.logger.info('commands that outlived their turn were ended', { count })
    return { gone, commands }
  }

  /** Ends the process and everything that it started. */
  end(): Promise<QuiesceProof> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<QuiesceProof> {
    this.#input.close()
    const group = this.#group
    // One that was told nothing has nothing to write down.
    const patience = this.#prompted && this.#lineTrouble === null ? INPUT_END_MS : 0
    const ended = await group?.end(patience, this.settings.killAfterMs)
    // Its commands run in sessions of their own: what it could not end itself is ended here.
    const { gone } = await endMarked(this.of.mark, null, this.settings.killAfterMs)
    const proof: QuiesceProof = { executor: gone && ended?.executor !== 'unknown' ? 'gone' : 'unknown' }
    this.#abort.abort()
    try {
      this.#query.close()
    } catch (error) {
      this.settings.logger.debug('a conversation was closed already', { error: errorLabel(error) })
    }
    if (proof.executor === 'unknown') this.settings.logger.error('processes of an agent are still alive after SIGKILL')
    this.#onEnded({ because: 'exited', detail: 'the session was closed' })
    return proof
  }

  #spawn(
    {
      command,
      args,
      cwd,
    }: { readonly command: string; readonly args: readonly string[]; readonly cwd?: string | undefined },
    options: Omit<QueryOptions, OwnOptions>,
  ): SpawnedProcess {
    // The environment is the one that was built, not what the SDK adds out of the gateway's own.
    const program = { file: command, args }
    const group = new ProcessGroup({
      ...(this.of.confine?.(program) ?? program),
      cwd: cwd ?? options.cwd,
      env: options.env,
      secret: this.of.secret,
    })
    this.#group = group
    const { child } = group
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.#hear(text))
    void group.ended.then(() => this.#onEnded(this.#ofExit()))
    const stdout = watchedLines(child.stdout, (trouble) => {
      this.#lineTrouble = trouble
      this.#onEnded(trouble)
    })
    return {
      stdin: child.stdin,
      stdout,
      get killed() {
        return child.killed
      },
      get exitCode() {
        return child.exitCode
      },
      get signalCode() {
        return child.signalCode
      },
      // The SDK asks for an end: the whole group ends, so that no command is left.
      kill: () => {
        void this.end()
        return true
      },
      on: child.on.bind(child),
      once: child.once.bind(child),
      off: child.off.bind(child),
    }
  }

  async #read(): Promise<void> {
    try {
      for await (const message of this.#query) this.#listener?.said(readMessage(message, SERVER))
    } catch (error) {
      // After an error result the iterator throws, too; the result was heard already.
      this.settings.logger.debug('a conversation ended', { error: errorLabel(error) })
    }
    if (this.#group === null) {
      this.#onEnded({ because: 'unavailable', detail: 'Claude Code could not be started' })
      return
    }
    // Its process says more than the end of its output, and it can report nothing more.
    await within(1_000, this.#group.ended, null)
    this.#onEnded(this.#ofExit())
  }

  #hear(text: string): void {
    this.#lastStderr = (this.#lastStderr + text).slice(-2_000)
  }

  #ofExit(): Trouble {
    if (this.#lineTrouble !== null) return this.#lineTrouble
    const group = this.#group
    if (group?.pid === undefined) return { because: 'unavailable', detail: 'Claude Code could not be started' }
    const { exitCode, signalCode } = group.child
    const how = signalCode === null ? `with code ${exitCode ?? 'unknown'}` : `by ${signalCode}`
    // Before the first message its words cannot hold anything of one.
    const words = this.#prompted ? '' : scrub(this.#lastStderr, { ...this.settings.env, ...this.settings.credential })
    return { because: 'exited', detail: `the agent ended ${how}${words === '' ? '' : `: ${words}`}` }
  }
}

const nobody: PermissionAnswer = { behavior: 'deny', message: 'nobody can be asked now', interrupt: true }
