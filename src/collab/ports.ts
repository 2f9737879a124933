import type { GrantedPath, SessionProfile } from './audience.js'
import type { OutgoingFile } from './channel.js'
import type { OperationUse } from './grant.js'
import type { HostRefusal } from './host-refusal.js'
import type { WorkReceipt } from './observation.js'
import type { AgentId, Instant, LaneId, TurnId } from './refs.js'

/**
 * Why a turn gave no answer; the same words in cards, CLI, doctor and metrics. `internal` is a fault of our own around
 * the turn: the agent may have been right.
 */
export type TurnFailure =
  | 'exited'
  | 'hung'
  | 'no-output'
  | 'garbage'
  | 'unavailable'
  | 'too-large'
  /** The session holds more than the model can read. */
  | 'context-full'
  /** The provider takes no more for now: too many requests, or a used-up allowance. */
  | 'rate-limit'
  /** The provider does not accept the sign-in. */
  | 'signed-out'
  /** The provider does not answer this by a rule of its own: the same again would be refused again. */
  | 'refused-by-provider'
  | 'internal'

/* ---------- runtimes ---------- */

export type RuntimeAbility =
  'resume' | 'steer' | 'durable-message-id' | 'single-writer' | 'fence' | 'policy-refusals' | 'sandbox' | 'activity'

/** How the runtime itself names a session; only its own adapter reads it. */
export interface SessionRef {
  readonly runtime: string
  readonly id: string
}

export interface SessionSpec {
  readonly lane: LaneId
  /** Absolute path of the lane's private workspace; it exists and holds AGENTS.md. */
  readonly workspace: string
  /** The session to continue, or null for a new one; it was opened with this very profile. */
  readonly resume: SessionRef | null
  /** What the whole session runs with, from its first process to its last. */
  readonly profile: SessionProfile
  /**
   * Asked for when an executor process really begins, not for each turn: each call begins a new epoch, and tokens of
   * older ones are refused. Null: the agent gets no tools of ours.
   */
  readonly tools?: (() => Promise<ToolAccess>) | null
}

/** Where the agent's tools are (MCP, streamable HTTP) and the bearer token of this executor. */
export interface ToolAccess {
  readonly url: string
  readonly token: string
}

/** What the runtime says is really in force; null where it does not say (RFC §5.1). */
export interface EffectiveProfile {
  readonly runtime: string
  readonly version: string | null
  readonly model: string | null
  readonly effort: string | null
  /** False for `rehearsal`: every answer is then labelled. */
  readonly realModel: boolean
  /** Absent in what was recorded before profiles were. */
  readonly confinement?: Confinement
  /** What is in force otherwise than it was set, by the words of the settings; absent: nothing. */
  readonly differs?: readonly string[]
}

/** What is in force around the commands and files of a session; null where nobody can say. */
export interface Confinement {
  readonly profile: SessionProfile['kind']
  /** Beside programs and the few files of the system that they need. */
  readonly reads: 'nothing' | 'workspace' | 'everything' | null
  readonly writes: 'nothing' | 'workspace' | 'everything' | null
  readonly paths: readonly GrantedPath[]
  /** Of its commands. */
  readonly network: 'none' | 'open' | null
  /** Who enforces it: the runtime itself, a mount namespace around the whole process, or nobody. */
  readonly by: 'runtime' | 'namespace' | 'nobody'
}

export interface TurnInput {
  readonly turn: TurnId
  readonly text: string
  readonly attachments: readonly { readonly path: string; readonly fileName: string; readonly mediaType: string }[]
}

/** Why a file of an agent was not taken. */
export type FileLeftOut = 'outside-workspace' | 'unreadable' | 'too-large' | 'empty' | 'too-many'

/**
 * What a runtime reports while a turn runs. A stream always ends with exactly one `ended`.
 *
 * `final` is the human answer and nothing else; no effect is ever read out of it. Reasoning content never
 * leaves the adapter: only the fact that it was thinking does.
 */
export type TurnEvent =
  | { readonly kind: 'started'; readonly hostTurn: string }
  | { readonly kind: 'activity'; readonly activity: 'thinking' | 'answering' | 'tool' | 'other' }
  /**
   * The agent asks to do something it may not do by itself. It waits until `answer` is called. `use` is what that would
   * do, thing by thing, as far as the runtime says it by kind; null: unknown, and only its exact words can be allowed.
   */
  | {
      readonly kind: 'approval'
      readonly approval: string
      readonly operation: string
      readonly use: OperationUse | null
    }
  /** The agent's host refused an operation, and nobody was asked. */
  | (HostRefusal & { readonly kind: 'refused-by-host' })
  /** A command that the turn left running and that was ended with it; as a person reads it. */
  | { readonly kind: 'ended-with-turn'; readonly tool: string; readonly command: string }
  /** A file that the agent gives with its answer. */
  | { readonly kind: 'file'; readonly fileName: string; readonly mediaType: string; readonly bytes: Uint8Array }
  /** A file that it wanted to give and that was not taken; only its last name, never where it lies. */
  | { readonly kind: 'file-left-out'; readonly fileName: string; readonly because: FileLeftOut }
  | TurnEnded

export type TurnEnded =
  | { readonly kind: 'ended'; readonly ended: 'completed'; readonly final: string; readonly conclusion: string | null }
  | { readonly kind: 'ended'; readonly ended: 'interrupted' }
  | { readonly kind: 'ended'; readonly ended: 'failed'; readonly because: TurnFailure; readonly detail: string }

export type Verdict = 'allow-once' | 'reject-once'

/** Did the session's executor really stop? Proved by the process group being gone. */
export interface QuiesceProof {
  readonly executor: 'gone' | 'unknown'
}

export type StopOutcome = 'stopped' | 'already-ended' | 'unknown'

/** What a session still has of an input that it was given before its executor was lost. */
export type KnownInput =
  /** It never took it. */
  | { readonly known: 'absent' }
  /** It has the words, and no finished answer to them. */
  | { readonly known: 'unanswered' }
  /** It finished: what is still to be had of that turn, from its start to its end. */
  | { readonly known: 'answered'; readonly events: readonly TurnEvent[] }
  | { readonly known: 'unknown' }

export interface RuntimeSession {
  readonly ref: SessionRef
  readonly opened: 'new' | 'resumed'
  readonly effective: EffectiveProfile
  turn(input: TurnInput, signal: AbortSignal): AsyncIterable<TurnEvent>
  steer(turn: TurnId, input: TurnInput): Promise<'taken' | 'too-late' | 'unsupported'>
  /** Asked between turns, of a session that goes on, where `durable-message-id` is declared. Never throws. */
  lookUp(turn: TurnId): Promise<KnownInput>
  /** Interrupts the turn and ends its commands. */
  stop(turn: TurnId): Promise<StopOutcome>
  answer(approval: string, verdict: Verdict): Promise<void>
  close(): Promise<QuiesceProof>
}

export type Opening =
  | { readonly outcome: 'opened'; readonly session: RuntimeSession }
  | { readonly outcome: 'unavailable'; readonly because: TurnFailure; readonly detail: string }
  /** This host cannot hold the profile that was asked for; it is never run with a wider one. */
  | { readonly outcome: 'not-confined'; readonly detail: string }

/** A new adapter is one folder, one line in the registry, one contract suite. It reports; it does not record. */
export interface AgentRuntime {
  readonly name: string
  readonly abilities: ReadonlySet<RuntimeAbility>
  /** Can a turn start now? `detail` names the mend, and holds no secret and no private path. */
  available(): Promise<{ readonly available: true } | { readonly available: false; readonly detail: string }>
  /** Can this host hold a restricted session of it now? Absent: it cannot. */
  confines?(): Promise<boolean>
  /** New or resumed; says which. A session that cannot be had now is an answer, not an exception. */
  open(session: SessionSpec, signal: AbortSignal): Promise<Opening>
  /**
   * Ends the executor that this process holds for a session of a lane, if it holds one: before another one takes its
   * place. Absent: a session has none between its turns.
   */
  quiesce?(session: SessionRef, lane: LaneId): Promise<QuiesceProof>
}

/* ---------- work and agents ---------- */

/** How an agent is reached: run by this gateway on a runtime, or by itself, pulling through MCP, HTTP or CLI. */
export type AgentEndpoint =
  | { readonly kind: 'managed'; readonly runtime: string; readonly command: string | null }
  | { readonly kind: 'attached' }

/** One registered agent at one goal; unknown stays null. */
export interface RegisteredAgent {
  readonly agent: AgentId
  readonly goal: string
  readonly goalState: 'active' | 'stopped'
  readonly role: string
  readonly responsibility: string
  readonly host: string
  readonly endpoint: AgentEndpoint
  readonly abilities: readonly string[]
  /** Turns at the same time. */
  readonly capacity: number
  readonly lastEvidenceAt: Instant | null
  /** Null: nobody has tried. */
  readonly reachable: boolean | null
}

/** Everything registered; the caller sees the stopped ones only when it asks. */
export interface AgentDirectory {
  find(agent: AgentId): Promise<RegisteredAgent | null>
  list(options: { readonly includeStopped: boolean }): Promise<readonly RegisteredAgent[]>
}

/** A command of one agent to the owner of work state. `operation` makes a repeated one the same one. */
export interface WorkCommand {
  readonly operation: string
  readonly agent: AgentId
  readonly goal: string
  readonly change:
    | {
        readonly kind: 'todo-write'
        readonly todo: string | null
        readonly title: string
        readonly state: 'open' | 'done' | 'dropped'
        readonly onRevision: number | null
      }
    | { readonly kind: 'todo-claim'; readonly todo: string; readonly leaseMs: number }
    | { readonly kind: 'todo-release'; readonly todo: string; readonly epoch: number }
    | {
        readonly kind: 'vision-replan'
        readonly direction: string
        readonly acceptance: string
        readonly onRevision: number
      }
}

/** What the owner of work state answers; a failure never falls back to another source (RFC §5.12). */
export type WorkOutcome =
  | { readonly outcome: 'committed' | 'already'; readonly receipt: WorkReceipt }
  | { readonly outcome: 'conflict'; readonly because: string }
  | { readonly outcome: 'unavailable'; readonly because: string }
  | { readonly outcome: 'ambiguous'; readonly because: string }

export interface TodoView {
  readonly id: string
  readonly goal: string
  readonly title: string
  readonly state: 'open' | 'done' | 'dropped'
  readonly revision: number
  readonly claim: { readonly agent: AgentId; readonly epoch: number; readonly until: Instant } | null
}

export interface VisionView {
  readonly goal: string
  readonly direction: string
  readonly acceptance: string
  readonly revision: number
}

export interface WorkAuthority {
  apply(command: WorkCommand): Promise<WorkOutcome>
  todos(goal: string): Promise<readonly TodoView[]>
  vision(goal: string): Promise<VisionView | null>
}

/* ---------- bytes ---------- */

/** Content-addressed bytes; the rows that name them are in `stores/artifacts`. Size in bytes. */
export interface ArtifactBytes {
  /** Streams to disk; refuses with `too-large` above `limit` bytes and with `empty` for nothing. */
  put(
    bytes: AsyncIterable<Uint8Array>,
    limit: number,
  ): Promise<
    | { readonly stored: true; readonly digest: string; readonly size: number; readonly mediaType: string }
    | { readonly stored: false; readonly because: 'too-large' | 'empty' }
  >
  /** Throws before its end when the bytes are gone or are not those of the digest any more. */
  read(digest: string): AsyncIterable<Uint8Array>
  /** What the bytes were sniffed as, or else what the name says. */
  typeOf(sniffed: string, fileName: string): string
  /** A name that can stand in any folder: no path, nothing hidden, no control or direction characters. */
  nameOf(name: string): string
  /** Absolute path for a runtime that reads files. */
  pathOf(digest: string): string
}

/** The lane's private folder and the managed AGENTS.md in it. */
export interface Workspaces {
  /** Makes it if missing; a custom AGENTS.md is never overwritten. */
  ensure(lane: LaneId): Promise<string>
  /** Puts a copy of an artifact where the agent can read it; returns its absolute path. */
  place(lane: LaneId, file: OutgoingFile): Promise<string>
}

/* ---------- waking ---------- */

export type WakeKind = 'accept' | 'turn' | 'deliver' | 'reaction' | 'upkeep'
export type QueueName = 'request' | 'delivery' | 'upkeep'

/** A row of `wakes` that was just committed. */
export interface WakeRef {
  readonly kind: WakeKind
  readonly subject: string
  readonly generation: number
}

/** The queue, seen from below: a hint that rows wait. Losing it loses nothing. */
export interface Wake {
  /** Never throws, never waits: the sweep finds what a failed kick left. */
  kick(wakes: readonly WakeRef[]): void
}

/* ---------- measuring ---------- */

/** Names are those of the contract; a label value is never an id. */
export interface Meter {
  observe(
    name:
      | 'ingress_receipt_seconds'
      | 'ingress_ack_seconds'
      | 'first_answer_seconds'
      | 'assessment_seconds'
      | 'result_to_verified_seconds',
    seconds: number,
  ): void
  api(api: string, code: string, seconds: number): void
  count(
    name:
      | 'deliveries_total'
      | 'reactions_total'
      | 'routing_refused_total'
      | 'approvals_repeated_total'
      | 'context_coverage',
    label: string,
  ): void
  lastEvent(at: Instant): void
}
