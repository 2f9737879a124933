import type { Notice } from './notice.js'

export const admitActs = ['admit-here', 'admit-trial', 'admit-everywhere', 'admit-refuse'] as const

/**
 * What a button of ours asks for. It stands whole in the button's value, so that a card of any age can be clicked
 * after a restart; who may click is judged from the envelope's operator alone (Lark: card.action.trigger).
 */
export type Choice =
  /** Ends the turn that runs in this conversation. */
  | { readonly act: 'stop'; readonly conversation: string }
  /** Starts or lets go what this conversation holds: late messages, and those held by a stop. */
  | { readonly act: 'run-held' | 'skip-held'; readonly conversation: string }
  /** Of what waited too long, or behind too many, starts only the newest. */
  | { readonly act: 'run-newest'; readonly conversation: string }
  /** Shows or drops the result whose question was withdrawn while the work ran. */
  | { readonly act: 'show-result' | 'drop-result'; readonly request: string }
  /** Takes up the words of a message that was changed after its answer, or leaves the answer as it stands. */
  | { readonly act: 'take-edit' | 'leave-edit'; readonly request: string }
  /** Answers what an agent asked to do: once, now and from here on, also everything that the card offers, or not. */
  | {
      readonly act: 'allow-once' | 'allow-always' | 'allow-offered' | 'refuse'
      readonly request: string
      readonly approval: string
    }
  /** Answers whether somebody may start work: here, here for a while, in every chat, or not. */
  | { readonly act: (typeof admitActs)[number]; readonly ask: string }

const MARK = 'lark-manager'

/** The value of a button; `form` tells a later version what it reads. */
export function valueOfChoice(choice: Choice): Readonly<Record<string, string>> {
  return { of: MARK, form: '1', ...choice }
}

/** What a click asks for; null when it is no button of ours. */
export function choiceOfValue(value: Readonly<Record<string, unknown>>): Choice | null {
  if (value['of'] !== MARK || value['form'] !== '1') return null
  const { act, conversation, request, approval, ask } = value
  switch (act) {
    case 'stop':
    case 'run-held':
    case 'skip-held':
    case 'run-newest':
      return typeof conversation === 'string' ? { act, conversation } : null
    case 'show-result':
    case 'drop-result':
    case 'take-edit':
    case 'leave-edit':
      return typeof request === 'string' ? { act, request } : null
    case 'allow-once':
    case 'allow-always':
    case 'allow-offered':
    case 'refuse':
      return typeof request === 'string' && typeof approval === 'string' ? { act, request, approval } : null
    case 'admit-here':
    case 'admit-trial':
    case 'admit-everywhere':
    case 'admit-refuse':
      return typeof ask === 'string' ? { act, ask } : null
    default:
      return null
  }
}

/** What the card of a notice offers, the first one as the usual choice; none: it is a text. */
export function choicesOf(notice: Notice): readonly Choice[] {
  switch (notice.kind) {
    case 'late-held':
      return notice.conversation === undefined ? [] : heldChoices(notice.conversation)
    case 'backlog-held':
      return newestChoices(notice.conversation)
    case 'stopped':
      return notice.turns + notice.queued === 0 ? [] : heldChoices(notice.conversation)
    case 'nothing-running':
      return notice.held === 0 ? [] : heldChoices(notice.conversation)
    case 'fresh-context':
      return notice.owed === 0 ? [] : heldChoices(notice.conversation)
    case 'progress':
      return notice.progress.state === 'working' || notice.progress.state === 'waiting'
        ? [{ act: 'stop', conversation: notice.conversation }]
        : []
    case 'result-withheld':
      return [
        { act: 'show-result', request: notice.requestId },
        { act: 'drop-result', request: notice.requestId },
      ]
    case 'edited-after-answer':
      return [
        { act: 'take-edit', request: notice.requestId },
        { act: 'leave-edit', request: notice.requestId },
      ]
    case 'approval':
      return approvalActs(notice).map((act) => ({ act, request: notice.requestId, approval: notice.approval }))
    case 'admission-asked':
      return admitActs.map((act) => ({ act, ask: notice.ask }))
    default:
      return []
  }
}

/** What nobody can read whole is not allowed for good. */
function approvalActs({ offer, cut }: Extract<Notice, { kind: 'approval' }>) {
  const always = cut === undefined ? (['allow-always'] as const) : []
  const offered = offer === undefined ? [] : (['allow-offered'] as const)
  return ['allow-once', ...always, ...offered, 'refuse'] as const
}

function heldChoices(conversation: string): readonly Choice[] {
  return [
    { act: 'run-held', conversation },
    { act: 'skip-held', conversation },
  ]
}

function newestChoices(conversation: string): readonly Choice[] {
  const [all, none] = heldChoices(conversation)
  return [all, { act: 'run-newest', conversation } as const, none].flatMap((choice) => choice ?? [])
}
