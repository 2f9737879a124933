import type { Choice } from '../../collab/choice.js'
import type { AgentFacts, HeldBecause, StatusOfPlace } from '../../collab/notice.js'
import type { ControlCatalogue } from './control.js'
import { beginning } from './limited.js'

/** What is said around control words and buttons. */
export const controlEn: ControlCatalogue = {
  'late-released': ({ count, results = 0 }) =>
    said([
      count === 0 ? '' : `${messages(count)} ${count === 1 ? 'is' : 'are'} running now, in order.`,
      results === 0 ? '' : `${resultsOf(results)} kept back ${results === 1 ? 'is' : 'are'} shown now.`,
    ]),
  'late-skipped': ({ count, results = 0 }) =>
    said([
      count === 0
        ? ''
        : `${messages(count)} ${count === 1 ? 'was' : 'were'} let go. Nothing of ${it(count)} runs from here on.`,
      results === 0 ? '' : `${resultsOf(results)} kept back ${results === 1 ? 'was' : 'were'} dropped.`,
    ]),
  'newest-released': ({ skipped }) =>
    said([
      'The newest message is running now.',
      skipped === 0 ? '' : `${messages(skipped)} before it ${skipped === 1 ? 'was' : 'were'} let go.`,
    ]),
  'nothing-held': () => 'Nothing is waiting here.',
  'late-control': ({ word, minutes }) =>
    `${beginning(word)} was sent ${ago(minutes)} and reached me too late. It was not carried out, and nothing changed because of it.`,
  stopping: ({ turns }) =>
    turns === 1
      ? 'Stopping what runs here. I say here when it has ended.'
      : `Stopping the ${turns} turns that run here. I say here when they have ended.`,
  stopped: ({ turns, finished, queued }) => {
    const held = turns + queued
    return said([
      finished === 0 ? '' : 'What was running had just finished: its answer stands.',
      turns === 0
        ? ''
        : `Stopped: ${turns === 1 ? 'the turn that was running has' : `the ${turns} turns that were running have`} ended without an answer. What was already done stays done.`,
      held === 0
        ? ''
        : turns === 0
          ? `${messages(queued)} that waited ${queued === 1 ? 'is' : 'are'} held, and nothing of ${it(queued)} starts by itself.`
          : queued === 0
            ? 'What was asked is held, and nothing of it starts by itself.'
            : `What was asked and ${messages(queued)} that waited behind it are held, and nothing of them starts by itself.`,
      held === 0 ? '' : words(held),
    ])
  },
  'nothing-running': ({ held }) =>
    said([
      'Nothing is running here.',
      held === 0
        ? ''
        : `${messages(held)} ${held === 1 ? 'is' : 'are'} held, and nothing of ${it(held)} starts by itself.`,
      held === 0 ? '' : words(held),
    ]),
  'fresh-context': ({ owed, running }) =>
    said([
      'A fresh conversation begins here: the next message starts without what was said before it.',
      running === 0 ? '' : 'What runs now ends in the old one and still answers; /stop ends it.',
      owed === 0
        ? ''
        : `${messages(owed)} from before ${owed === 1 ? 'is' : 'are'} still owed in the old one and held there, and ${owed === 1 ? 'does' : 'do'} not come into the new one.`,
      owed === 0 ? '' : words(owed),
    ]),
  'result-withheld': () =>
    'A message here was withdrawn while I worked on it. The result is kept and was not sent. Say /run to show it here, or /skip to drop it.',
  'edit-taken-up': () =>
    'You changed your message after I began with it. The new words are noted, and I take them up next; what I say before that is about the old ones.',
  'edited-after-answer': () =>
    'You changed your message after I had answered it. The answer stands for the words as they were. Shall I take up the new ones?',
  'edit-left': () => 'The answer stays as it is.',
  status: ({ status }) => statusOf(status),
  help: () =>
    [
      'Each of these counts as a message of its own:',
      '/status · what is owed here, and on what it waits',
      '/stop · ends what runs here, and holds what waits behind it',
      '/run · starts what is held, or shows a result that was kept back',
      '/skip · lets go what is held, or drops a result that was kept back',
      '/new · a fresh conversation from the next message on',
      '/agents · who can be asked, and what is known of each',
      '/chat · who may start work here and when, and how to change it',
      '/help · this list',
      'Anything else is a message to me.',
    ].join('\n'),
  agents: ({ agents, more }) =>
    agents.length === 0
      ? 'No agents are registered. I work alone.'
      : [
          'Registered agents:',
          ...agents.map(agentLine),
          more === 0 ? '' : `${more} more are on the page of the agents.`,
        ]
          .filter((line) => line !== '')
          .join('\n'),
  'choice-not-yours': () => 'Only the owner can decide this here. Nothing was changed.',
  'choice-unknown': () => 'This button belongs to something that is not here any more. Nothing was changed.',
  'choice-made': ({ act }) => `This was decided already: ${decided[act]}.`,
  'choice-under-way': () => 'Taken. This card says in a moment what became of it.',
}

/** The words on the buttons. */
export const buttonsEn: Readonly<Record<Choice['act'], string>> = {
  stop: 'Stop',
  'run-held': 'Run all',
  'run-newest': 'Run only the newest',
  'skip-held': 'Skip',
  'show-result': 'Show it here',
  'drop-result': 'Drop it',
  'take-edit': 'Take them up',
  'leave-edit': 'Leave it',
  'allow-once': 'Allow once',
  'allow-always': 'Always allow this',
  'allow-offered': 'Always, as offered',
  refuse: 'Refuse',
  'admit-here': 'This chat',
  'admit-trial': 'This chat, for a week',
  'admit-everywhere': 'All chats',
  'admit-refuse': 'Refuse',
}

const decided: Readonly<Record<Choice['act'], string>> = {
  stop: 'stop',
  'run-held': 'run',
  'run-newest': 'run only the newest',
  'skip-held': 'skip',
  'show-result': 'show it here',
  'drop-result': 'drop it',
  'take-edit': 'take up the new words',
  'leave-edit': 'leave the answer as it is',
  'allow-once': 'allowed once',
  'allow-always': 'allowed from here on',
  'allow-offered': 'allowed as offered from here on',
  refuse: 'refused',
  'admit-here': 'admitted in that chat',
  'admit-trial': 'admitted in that chat for a week',
  'admit-everywhere': 'admitted in all chats',
  'admit-refuse': 'refused',
}

const heldWords: Readonly<Record<Exclude<HeldBecause, 'failed'>, string>> = {
  late: 'that came late',
  stopped: 'held by a stop or a fresh conversation',
  backlog: 'that waited too long, or behind too many',
  'result-withheld': 'whose result is kept back',
}

function statusOf(status: StatusOfPlace): string {
  const { told = 0 } = status
  const lines = [
    ...status.running.map(
      (turn) =>
        `${states[turn.state]} for ${spoken(turn.seconds)}${turn.agent === null ? '' : `, by ${turn.agent}`} (${turn.runtime}): ${quoted(turn.about)}`,
    ),
    told === 0 ? '' : `Told to the turn that runs: ${messages(told)}; what it does not take up gets its own turn.`,
    status.waiting === 0 ? '' : `Waiting: ${messages(status.waiting)}, in order.`,
    ...status.held.map(({ because, count }) =>
      because === 'failed'
        ? `Failed: ${messages(count)}; /run tries ${it(count)} once more.`
        : `Held until your word: ${messages(count)} ${heldWords[because]}.`,
    ),
    ...status.deferred.map(
      (one) =>
        `Deferred: ${quoted(one.about)} (${beginning(one.reason)}). Next: ${one.owner}, ${conditionOf(one.on)}; looked at in ${spoken(one.seconds)}.`,
    ),
    ...status.handed.map((one) => `With ${one.agent}: ${quoted(one.about)}`),
    status.held.every((one) => one.because === 'failed')
      ? ''
      : 'Say /run to start what is held, or /skip to let it go.',
  ].filter((line) => line !== '')
  return lines.length === 0 ? 'Nothing is owed here.' : lines.join('\n')
}

const states = { starting: 'Starting', working: 'Running', stopping: 'Being stopped, after running' } as const

function conditionOf(on: StatusOfPlace['deferred'][number]['on']): string {
  switch (on.when) {
    case 'at':
      return 'at its time'
    case 'request-resolved':
      return `when request ${on.request.slice(-8)} is resolved`
    case 'host-back':
      return `when host ${on.host} is back`
    case 'agent-free':
      return `when ${on.agent} is free`
    case 'answer-from-owner':
      return 'when you have answered'
    case 'note':
      return beginning(on.note)
  }
}

function agentLine(one: AgentFacts): string {
  const facts = [
    one.discoverable ? 'can be found' : 'cannot be found',
    one.readable ? 'state can be read' : 'state cannot be read',
    known(one.deliverable, 'reachable', 'not reachable', 'reachable: unknown'),
    known(one.executable, 'can run now', 'cannot run now', 'can run now: unknown'),
  ]
  return `${one.agent} (${beginning(one.role)}) · ${facts.join(' · ')}`
}

const known = (fact: boolean | null, yes: string, no: string, unknown: string): string =>
  fact === null ? unknown : fact ? yes : no

const said = (sentences: readonly string[]): string => sentences.filter((one) => one !== '').join(' ')
const quoted = (text: string): string => `“${beginning(text)}”`
const it = (count: number): string => (count === 1 ? 'it' : 'them')
const words = (held: number): string => `Say /run to start ${it(held)}, or /skip to let ${it(held)} go.`

function messages(count: number): string {
  return count === 1 ? '1 message' : `${count} messages`
}

function resultsOf(count: number): string {
  return count === 1 ? '1 result' : `${count} results`
}

function ago(minutes: number): string {
  if (minutes < 60) return minutes === 1 ? '1 minute ago' : `${minutes} minutes ago`
  const hours = Math.floor(minutes / 60)
  return hours === 1 ? '1 hour ago' : `${hours} hours ago`
}

function spoken(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3_600)} h`
}
