import type { Candidate, Deferral, DoubtEnds, Verdict } from './observation.js'
import type { Receipt, Refusal } from './decision.js'
import type { RegisteredAgent, TodoView, VisionView, WorkOutcome } from './ports.js'
import type { RequestView } from './project/request-view.js'
import type { AgentId, AskId, EffectId, EventId, LaneId, RequestId, Revision, TurnId } from './refs.js'
import type { RecallAnswer } from './recall.js'
import type { Intent } from './request.js'
import type { SavedBrief } from './saved-brief.js'

/** Who calls a tool, as the door proved it: a token bound to agent, session and epoch. */
export interface ToolCaller {
  readonly agent: AgentId
  readonly session: string
  readonly epoch: number
  /** Of a managed agent. */
  readonly lane: LaneId | null
  /** The turn that runs in the lane now; null for an attached agent. */
  readonly turn: TurnId | null
}

/** Every write carries the caller's own event id: the same call again is the same command. */
interface Write {
  readonly eventId: EventId
}

export interface InboxEntry {
  readonly request: RequestId
  readonly revision: Revision
  readonly from: string
  readonly intent: Intent
  readonly openedAt: number
  readonly asks: readonly { readonly id: AskId; readonly text: string | null; readonly state: string }[]
  /** Original messages verbatim with their provenance, then the brief; other people's text is evidence. */
  readonly brief: string
  readonly omissions: readonly { readonly what: string; readonly because: string }[]
}

/** A stored file as its readers know it. `digest` is SHA-256 in lower-case hex, `size` in bytes. */
export interface ArtifactView {
  readonly artifact: string
  readonly fileName: string
  readonly mediaType: string
  readonly size: number
  readonly digest: string
}

/** Storing a file is no fact of a request, so its receipt has no place in one. */
export type PutReceipt =
  | ({ readonly outcome: 'accepted' | 'already-applied'; readonly eventId: EventId } & ArtifactView)
  | { readonly outcome: 'conflict'; readonly eventId: EventId }
  | { readonly outcome: 'rejected'; readonly refusal: Refusal }

/** What the owner of work state said, or why it was not asked. */
export type WorkAnswer =
  | WorkOutcome
  | { readonly outcome: 'rejected'; readonly because: string }
  | { readonly outcome: 'rejected'; readonly refusal: Refusal }

/** One typed receipt for every act: accepted, already-applied, conflict, or rejected with a refusal. */
export interface AgentTools {
  /** Shows what stands in the caller's inbox; without a host turn it records `context-provided` per request. */
  inboxRead(
    caller: ToolCaller,
    page: { readonly cursor: string | null; readonly limit: number },
  ): Promise<{ readonly items: readonly InboxEntry[]; readonly nextCursor: string | null }>
  assess(
    caller: ToolCaller,
    said: Write & {
      readonly request: RequestId
      readonly onRevision: Revision
      readonly asks: readonly {
        readonly ask: AskId
        readonly judgment: 'accepted' | 'no-change' | 'rejected' | 'deferred'
        readonly reason: string
        readonly until?: Deferral | undefined
      }[]
    },
  ): Promise<Receipt & { readonly verdict?: Verdict }>
  /** Commits a result for asks that the caller assessed; `conclusion` is what is told first. */
  report(
    caller: ToolCaller,
    said: Write & {
      readonly request: RequestId
      readonly covers: readonly AskId[]
      readonly text: string
      readonly conclusion: string | null
      readonly artifacts: readonly string[]
      readonly supersedes: string | null
    },
  ): Promise<Receipt>
  discover(
    caller: ToolCaller,
    query: { readonly need: string; readonly named: AgentId | null; readonly includeStopped: boolean },
  ): Promise<readonly Discovered[]>
  /** The host attaches the origin messages with provenance; the caller cannot replace them or set a priority. */
  ask(
    caller: ToolCaller,
    said: Write & {
      readonly request: RequestId
      readonly receiver: AgentId
      readonly intent: Intent
      readonly asks: readonly AskId[]
      readonly question: string
      readonly brief: string
      readonly refs: readonly string[]
      readonly reason: string
      readonly direct: boolean
    },
  ): Promise<Receipt & { readonly child?: RequestId }>
  revise(
    caller: ToolCaller,
    said: Write & {
      readonly request: RequestId
      readonly onRevision: Revision
      readonly text: string
      /** Asks of the caller's own request, for which it asked, that are passed on with this. */
      readonly asks?: readonly AskId[]
    },
  ): Promise<Receipt>
  cancel(
    caller: ToolCaller,
    said: Write & { readonly request: RequestId; readonly onRevision: Revision },
  ): Promise<Receipt>
  reassign(
    caller: ToolCaller,
    said: Write & { readonly request: RequestId; readonly receiver: AgentId; readonly reason: string },
  ): Promise<Receipt>
  relate(
    caller: ToolCaller,
    said: Write & {
      readonly earlier: RequestId
      readonly later: RequestId
      readonly onRevision: Revision
      readonly as: 'addition' | 'correction' | 'context'
    },
  ): Promise<Receipt>
  /** `asks` are the questions that the one became, in their order: from now on they are judged and answered. */
  split(
    caller: ToolCaller,
    said: Write & {
      readonly request: RequestId
      readonly onRevision: Revision
      readonly ask: AskId
      readonly into: readonly string[]
    },
  ): Promise<Receipt & { readonly asks?: readonly AskId[] }>
  linkWork(
    caller: ToolCaller,
    said: Write & { readonly request: RequestId; readonly operation: string },
  ): Promise<Receipt>
  /** Keeps what whoever goes on with the request must know. */
  saveBrief(
    caller: ToolCaller,
    said: Write & { readonly request: RequestId; readonly onRevision: Revision; readonly brief: SavedBrief },
  ): Promise<Receipt>
  /** One bounded question about what was before; evidence of then, never a state of now. */
  recallGap(
    caller: ToolCaller,
    said: { readonly request: RequestId; readonly gap: string },
  ): Promise<RecallAnswer | Extract<Receipt, { outcome: 'rejected' }>>
  declareEffect(
    caller: ToolCaller,
    said: Write & {
      readonly request: RequestId
      readonly effectKind: string
      readonly target: string
      readonly input: string
      readonly doubt: DoubtEnds
    },
  ): Promise<Receipt & { readonly effect?: EffectId; readonly providerKey?: string }>
  settleEffect(
    caller: ToolCaller,
    said: Write & {
      readonly request: RequestId
      readonly effect: EffectId
      readonly became: 'submitted' | 'confirmed' | 'failed' | 'outcome-unknown'
      readonly evidence: string | null
    },
  ): Promise<Receipt>
  /**
   * Stores a file for one request: who may see that request's conversation may be given it, and a result may cite it.
   * The same event id with other bytes, another name or another request is a conflict.
   */
  artifactPut(
    caller: ToolCaller,
    said: Write & { readonly request: RequestId; readonly fileName: string; readonly bytes: AsyncIterable<Uint8Array> },
  ): Promise<PutReceipt>
  /**
   * A file that belongs to a request. Null when the request is not the caller's to see or the file is none of it;
   * nobody can tell which.
   */
  artifactGet(
    caller: ToolCaller,
    said: { readonly request: RequestId; readonly artifact: string },
  ): Promise<{ readonly file: ArtifactView; readonly bytes: AsyncIterable<Uint8Array> } | null>
  /** Null when it is not the caller's to see; hidden identities are never revealed. */
  show(caller: ToolCaller, request: RequestId): Promise<RequestView | null>
  list(
    caller: ToolCaller,
    page: { readonly cursor: string | null; readonly limit: number },
  ): Promise<{ readonly items: readonly RequestView[]; readonly nextCursor: string | null }>
  todoList(caller: ToolCaller, goal: string): Promise<readonly TodoView[] | null>
  todoWrite(
    caller: ToolCaller,
    said: Write & {
      readonly goal: string
      readonly todo: string | null
      readonly title: string
      readonly state: 'open' | 'done' | 'dropped'
      readonly onRevision: number | null
    },
  ): Promise<WorkAnswer>
  todoClaim(
    caller: ToolCaller,
    said: Write & { readonly goal: string; readonly todo: string; readonly leaseMs: number },
  ): Promise<WorkAnswer>
  /** Gives a claim of the caller's own back; `epoch` is the claim's. */
  todoRelease(
    caller: ToolCaller,
    said: Write & { readonly goal: string; readonly todo: string; readonly epoch: number },
  ): Promise<WorkAnswer>
  visionRead(caller: ToolCaller, goal: string): Promise<VisionView | null>
  visionReplan(
    caller: ToolCaller,
    said: Write & {
      readonly goal: string
      readonly direction: string
      readonly acceptance: string
      readonly onRevision: number
    },
  ): Promise<WorkAnswer>
}

/** Four separate facts about one registered agent, and its place in the order with the reasons. */
export interface Discovered extends Candidate {
  readonly registered: RegisteredAgent
  readonly discoverable: boolean
  readonly readable: boolean
  readonly deliverable: boolean | null
  readonly executable: boolean | null
  readonly rank: number | null
}
