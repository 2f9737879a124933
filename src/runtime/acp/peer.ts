import {
  client,
  type ClientConnection,
  type ContentBlock,
  type InitializeResponse,
  PROTOCOL_VERSION,
  type RequestPermissionOutcome,
  type RequestPermissionRequest,
} from '@agentclientprotocol/sdk'
import type { QuiesceProof } from '../../collab/ports.js'
import { endMarked, MARK } from '../marked.js'
import { ProcessGroup } from '../process-group.js'
import { type LineTrouble, messageStream } from './lines.js'
import type { AcpSettings } from './options.js'
import { scrub } from '../scrub.js'
import { readUpdate, type Update } from './updates.js'
import type { Trouble } from '../trouble.js'

/** Whoever runs the current turn. */
export interface Listener {
  update(update: Update): void
  permission(request: RequestPermissionRequest): Promise<RequestPermissionOutcome>
}

/** How an agent process begins. */
export interface Start {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** How long a process may take to end by itself once its input has ended; some write their history then. */
const INPUT_END_MS = 300

/** One agent process and the protocol connection to it. */
export class AcpPeer {
  readonly #group: ProcessGroup
  readonly #connection: ClientConnection
  #listener: Listener | null = null
  #listeningTo = ''
  #initialized: InitializeResponse | null = null
  #prompted = false
  #strays = 0
  #lastStderr = ''
  #lineTrouble: LineTrouble | null = null
  #ending: Promise<QuiesceProof> | null = null
  /** Resolves once, when the agent is of no use any more, for whatever reason. */
  readonly ended: Promise<Trouble>

  constructor(
    start: Start,
    cwd: string,
    /** Carried by it and by everything that it starts. */
    private readonly mark: string,
    private readonly settings: AcpSettings,
  ) {
    const env = { ...start.env, [MARK]: mark }
    this.#group = new ProcessGroup({ file: start.file, args: start.args, cwd, env })
    const { child } = this.#group
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#lastStderr = (this.#lastStderr + text).slice(-2000)
    })
    let onBadLine: (trouble: Trouble) => void = () => {}
    const badLine = new Promise<Trouble>((resolve) => (onBadLine = resolve))
    const stream = messageStream(child.stdin, child.stdout, {
      strict: () => this.#initialized !== null,
      onUpdate: (params) => {
        const { session, update } = readUpdate(params)
        if (session === this.#listeningTo) this.#listener?.update(update)
      },
      onStray: () => void this.#strays++,
      onTrouble: (trouble) => {
        this.#lineTrouble = trouble
        onBadLine(this.#ofLine(trouble))
      },
    })
    this.#connection = this.#connect(stream)
    const exited = this.#group.ended.then((): Trouble => this.#ofExit())
    this.ended = Promise.race([badLine, exited])
    // What an agent leaves behind when it dies must not act on.
    void this.ended.then(() => this.end())
    // An agent that closes its output can report nothing more.
    void this.#connection.closed.then(() => this.end())
  }

  get capabilities(): NonNullable<InitializeResponse['agentCapabilities']> {
    return this.#initialized?.agentCapabilities ?? {}
  }

  /** Name and version as the agent gives them. */
  get version(): string | null {
    const info = this.#initialized?.agentInfo
    return info === undefined || info === null ? null : `${info.name} ${info.version}`.slice(0, 120)
  }

  get pid(): number | undefined {
    return this.#group.pid
  }

  get usable(): boolean {
    return this.#ending === null && !this.#connection.signal.aborted
  }

  async initialize(): Promise<Trouble | null> {
    const response = await this.#connection.agent.request('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: 'lark-manager', version: '0.1.0' },
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    })
    this.#initialized = response
    if (response.protocolVersion === PROTOCOL_VERSION) return null
    const detail = `the agent speaks version ${response.protocolVersion} of the protocol; ${PROTOCOL_VERSION} is needed`
    return { because: 'unavailable', detail }
  }

  get agent(): ClientConnection['agent'] {
    return this.#connection.agent
  }

  /** Until the returned function is called, reports about `session` go to `listener`. */
  listen(session: string, listener: Listener): () => void {
    this.#listener = listener
    this.#listeningTo = session
    return () => {
      if (this.#listener === listener) this.#listener = null
    }
  }

  async prompt(sessionId: string, prompt: ContentBlock[]): Promise<string> {
    this.#prompted = true
    const { stopReason } = await this.#connection.agent.request('session/prompt', { sessionId, prompt })
    return stopReason
  }

  async cancel(sessionId: string): Promise<void> {
    await this.#connection.agent.notify('session/cancel', { sessionId }).catch(() => {})
  }

  /** Ends the process and everything in its group; asked twice, it is the same end. */
  end(): Promise<QuiesceProof> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<QuiesceProof> {
    const proof = await this.#group.end(this.#lineTrouble === null ? INPUT_END_MS : 0, this.settings.killAfterMs)
    this.#connection.close()
    // Commands that it began in sessions of their own are in no group of it.
    const { gone } = await endMarked(this.mark, null, this.settings.killAfterMs)
    if (!gone) return { executor: 'unknown' }
    if (proof.executor === 'unknown') this.settings.logger.error('an agent process group is still alive after SIGKILL')
    return proof
  }

  #connect(stream: ReturnType<typeof messageStream>): ClientConnection {
    return client({ name: 'lark-manager' })
      .onRequest('session/request_permission', async ({ params }) => {
        const ours = params.sessionId === this.#listeningTo ? this.#listener : null
        return { outcome: (await ours?.permission(params)) ?? { outcome: 'cancelled' } }
      })
      .connect(stream)
  }

  #ofLine(trouble: LineTrouble): Trouble {
    return trouble === 'garbage'
      ? { because: 'garbage', detail: 'the agent wrote lines that are not its protocol' }
      : { because: 'too-large', detail: 'the agent wrote a message that is over the limit' }
  }

  #ofExit(): Trouble {
    if (this.#lineTrouble !== null) return this.#ofLine(this.#lineTrouble)
    if (this.#group.pid === undefined) return { because: 'unavailable', detail: 'the agent could not be started' }
    if (this.#initialized === null && this.#strays > 0) return this.#ofLine('garbage')
    const { exitCode, signalCode } = this.#group.child
    const how = signalCode === null ? `with code ${exitCode ?? 'unknown'}` : `by ${signalCode}`
    // Before the first prompt its words cannot hold anything of a message.
    const words = this.#prompted ? '' : scrub(this.#lastStderr, this.settings.env)
    return { because: 'exited', detail: `the agent ended ${how}${words === '' ? '' : `: ${words}`}` }
  }
}
