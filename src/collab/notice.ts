import type { ChatPolicy, PolicyRef, StartRefusal } from './chat-policy.js'
import type { Choice } from './choice.js'
import type { Gap } from './grant.js'
import type { Offer } from './grant-offer.js'
import type { Deferral, HandedOver } from './observation.js'
import type { HostRefusal } from './host-refusal.js'
import type { FileLeftOut } from './ports.js'
import type { Happened } from './project/cancellation.js'
import type { Progress } from './project/progress.js'

/**
 * Everything that the gateway itself says in a chat; the words stand in one catalogue per language (`render/text`).
 * `operation` is what an agent asked for, as it named it. Ages are in whole minutes.
 */
export type Notice =
  | { readonly kind: 'not-an-owner'; readonly openId: string }
  | { readonly kind: 'owner-only-in-group' }
  | { readonly kind: 'owner-not-bound-yet' }
  /** Named by somebody who may not start work here, for another reason than that they are no owner. */
  | { readonly kind: 'start-refused'; readonly because: StartRefusal }
  /** Somebody who may start work and nothing else said a control word. */
  | { readonly kind: 'operate-owner-only' }
  /** Work that waited is not started any more: whoever asked for it lost the right meanwhile. */
  | { readonly kind: 'authority-gone' }
  /** To an owner: may this person start work? `words` are the beginning of what they wrote. */
  | {
      readonly kind: 'admission-asked'
      readonly ask: string
      readonly openId: string
      readonly chatId: string
      readonly direct: boolean
      readonly words: string
    }
  /** `chatId` null: in every chat. */
  | {
      readonly kind: 'admission-given'
      readonly openId: string
      readonly chatId: string | null
      readonly starts: number | null
      readonly days: number | null
    }
  | { readonly kind: 'admission-refused'; readonly openId: string; readonly days: number }
  /** What holds in a chat; `everywhere`: in every chat that says nothing else. */
  | {
      readonly kind: 'chat-policy'
      readonly everywhere: boolean
      readonly policy: ChatPolicy
      readonly ref: PolicyRef
      readonly readable: boolean
      readonly isolated: boolean
      readonly members: number
      readonly setBy: string | null
      readonly changed: boolean
    }
  | { readonly kind: 'chat-command-wrong'; readonly wrong: string }
  | { readonly kind: 'chat-policy-refused'; readonly because: 'policy-not-isolated' | 'policy-conflict' }
  | { readonly kind: 'member-removed'; readonly openId: string; readonly count: number }
  | { readonly kind: 'empty-message' }
  /** A voice message is passed on as a sound file: nobody here turns it into words. */
  | { readonly kind: 'voice-without-words' }
  /** Other bots started so many turns in a row; the next waits for a person. */
  | { readonly kind: 'bots-paused'; readonly turns: number }
  /** With its conversation it is a card with buttons; one that was stored without it stays a text. */
  | {
      readonly kind: 'late-held'
      readonly count: number
      readonly oldestMinutes: number
      readonly conversation?: string
    }
  /** They waited behind a turn that runs: too many, or for too long. */
  | {
      readonly kind: 'backlog-held'
      readonly count: number
      readonly oldestMinutes: number
      readonly conversation: string
    }
  /** Of what was held so, the newest runs and the others were let go. */
  | { readonly kind: 'newest-released'; readonly skipped: number }
  /** What a word of the owner started or let go; `results` of withdrawn questions were shown or dropped with them. */
  | { readonly kind: 'late-released'; readonly count: number; readonly results?: number }
  | { readonly kind: 'late-skipped'; readonly count: number; readonly results?: number }
  | { readonly kind: 'nothing-held' }
  /** A control word that came too late, or was written before this process began. */
  | { readonly kind: 'late-control'; readonly word: string; readonly minutes: number }
  /** Turns were asked to end and have not said yet that they did. */
  | { readonly kind: 'stopping'; readonly turns: number }
  /** What a stop did to each thing: turns that it ended, turns that were done before it, messages that waited. */
  | {
      readonly kind: 'stopped'
      readonly turns: number
      readonly finished: number
      readonly queued: number
      readonly conversation: string
    }
  /** `held` waits for the owner's word since before. */
  | { readonly kind: 'nothing-running'; readonly held: number; readonly conversation: string }
  /** `owed` messages from before are held; `running` turns end in the old context and still answer. */
  | {
      readonly kind: 'fresh-context'
      readonly owed: number
      readonly running: number
      readonly conversation: string
    }
  /** The question was withdrawn while the work ran: its result is kept and was not sent. */
  | { readonly kind: 'result-withheld'; readonly requestId: string }
  /** A message was changed while the agent worked on it: the new words are owed next. */
  | { readonly kind: 'edit-taken-up' }
  /** A message was changed after it was answered: the owner says whether the new words are taken up. */
  | { readonly kind: 'edited-after-answer'; readonly requestId: string }
  | { readonly kind: 'edit-left' }
  | { readonly kind: 'status'; readonly status: StatusOfPlace }
  | { readonly kind: 'help' }
  | { readonly kind: 'agents'; readonly agents: readonly AgentFacts[]; readonly more: number }
  /** Answers to a press on a button. */
  | { readonly kind: 'choice-not-yours' }
  | { readonly kind: 'choice-unknown' }
  | { readonly kind: 'choice-made'; readonly act: Choice['act'] }
  | { readonly kind: 'choice-under-way' }
  | { readonly kind: 'turn-failed'; readonly reason: HandedOver; readonly requestId: string }
  /** The one live card of a request whose answer takes long. */
  | { readonly kind: 'progress'; readonly progress: Progress; readonly conversation: string }
  /** What is missing; the message is kept and starts by itself when the runtime is usable again. */
  | { readonly kind: 'runtime-unavailable'; readonly detail: string }
  /** In a group: the work is the owner's own, and so is its answer. */
  | { readonly kind: 'answered-in-private' }
  /** This host cannot hold the profile that this audience asks for; nothing wider is run instead. */
  | { readonly kind: 'not-confined'; readonly detail: string }
  | { readonly kind: 'agent-asked-permission'; readonly operation: string }
  /** What the agent's host refused by itself, one operation or several alike. */
  | ({ readonly kind: 'refused-by-host' } & HostRefusal)
  /** Commands that the turn left running and that ended with it. */
  | { readonly kind: 'ended-with-turn'; readonly commands: readonly string[] }
  /** A turn waits for the owner's word about one exact operation, for so many minutes. */
  | {
      readonly kind: 'approval'
      readonly operation: string
      readonly agent: string
      readonly minutes: number
      readonly requestId: string
      readonly approval: string
      /** What is missing. */
      readonly gap?: Gap
      /** A wider permission that may be given instead of exactly this. */
      readonly offer?: Offer
      /** The operation is longer than what is shown: so many characters more, and the digest of the whole. */
      readonly cut?: { readonly more: number; readonly digest: string }
    }
  /** `scope`: what stands is this, and not only exactly that operation. */
  | { readonly kind: 'approval-given'; readonly standing: boolean; readonly scope?: Offer }
  /** Nobody was asked: what had allowed it has ended. */
  | { readonly kind: 'permission-ended'; readonly gap: Gap }
  | { readonly kind: 'approval-denied' }
  /** The turn that asked is over, or nobody answered in time. */
  | { readonly kind: 'approval-lapsed' }
  /** Asked for and not in effect yet: a turn runs, or the outcome of an outside act is not known. */
  | { readonly kind: 'cancel-asked'; readonly waitsFor: 'turn' | 'effect' }
  | { readonly kind: 'cancelled' }
  /** What had already happened and stays; `rest`: something was left that will not run. `by`: what an agent below did. */
  | {
      readonly kind: 'cancel-too-late'
      readonly happened: readonly Happened[]
      readonly rest: boolean
      readonly by: string | null
    }
  /** To the owner's direct chat, when the answer could not reach the place where it was asked. */
  | {
      readonly kind: 'delivery-failed'
      readonly arrived: number
      readonly total: number
      readonly reason: string
      /** Address of the owner's page. */
      readonly page?: string | null
    }
  /** A part of unknown outcome waits for the owner's word; `part` counts from 1. */
  | {
      readonly kind: 'delivery-parked'
      readonly part: number
      readonly arrived: number
      readonly total: number
      readonly page: string | null
    }
  /** Where the platform's content check refused an answer: says nothing of what it was. */
  | { readonly kind: 'answer-withheld' }
  /** The same for the owner. */
  | {
      readonly kind: 'answer-withheld-owner'
      readonly arrived: number
      readonly total: number
      readonly page: string | null
    }
  /**
   * Before an answer that could not reply to its question. `words` are the question's own, null where they must not be
   * said again; `request` and `minutes` are null for what belongs to no request.
   */
  | {
      readonly kind: 'answers-gone'
      readonly words: string | null
      readonly minutes: number | null
      readonly request: string | null
    }
  /** A file that the agent wanted to give with its answer and that was not taken. */
  | { readonly kind: 'file-left-out'; readonly fileName: string; readonly reason: FileLeftOut }
  /** Files of an answer that the platform does not carry. */
  | {
      readonly kind: 'file-not-sent'
      readonly fileName: string
      readonly reason: 'too-large' | 'empty' | 'refused' | 'bad-name'
      readonly page?: string | null
    }

/** What is owed in one conversation, as its facts say it. Durations in seconds. */
export interface StatusOfPlace {
  readonly running: readonly {
    /** Null: the manager itself. */
    readonly agent: string | null
    readonly seconds: number
    /** `starting` until the runtime has said that the turn began; `stopping` once it was asked to end. */
    readonly state: 'starting' | 'working' | 'stopping'
    readonly runtime: string
    /** The beginning of what was asked. */
    readonly about: string
  }[]
  readonly waiting: number
  /** What waits, too, and a turn that runs was told of; that turn may take it up. */
  readonly told?: number
  /** What waits for the owner's word, by why it is held. */
  readonly held: readonly { readonly because: HeldBecause; readonly count: number }[]
  readonly deferred: readonly {
    readonly about: string
    readonly reason: string
    readonly owner: string
    readonly on: Deferral['condition']
    /** Until the next look, also when the condition has not come. */
    readonly seconds: number
  }[]
  /** Handed on and not back yet. */
  readonly handed: readonly { readonly agent: string; readonly about: string }[]
}

export const heldReasons = ['late', 'stopped', 'backlog', 'failed', 'result-withheld'] as const
export type HeldBecause = (typeof heldReasons)[number]

/** Four facts about one registered agent, told apart; null where nobody knows (RFC §5.5). */
export interface AgentFacts {
  readonly agent: string
  readonly role: string
  readonly discoverable: boolean
  readonly readable: boolean
  readonly deliverable: boolean | null
  readonly executable: boolean | null
}
