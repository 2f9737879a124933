import type { Notice } from '../../collab/notice.js'
import { controlEn } from './control-en.js'
import { beginning } from './limited.js'
import { cancellationText, tooLateText } from './cancel.js'
import type { Catalogue } from './notice.js'
import { permissionEn } from './permission.js'
import { policyEn } from './policy-en.js'
import { progressWords } from './progress.js'
import { hostRefusalText } from './refusal.js'
import { whyUndelivered } from './refused.js'

export const en: Catalogue = {
  'not-an-owner': ({ openId }) =>
    `I only work for my owners, and you are not one of them yet. Whoever runs me can add your id: ${openId}`,
  'owner-only-in-group': () =>
    'In this group I only start work for my owners. Your message starts nothing here; an owner can admit you.',
  'owner-not-bound-yet': () =>
    'You are named as an owner. Send me one direct message first; from then on I also answer you here.',
  'voice-without-words': () =>
    'I cannot turn a voice message into words. The agent gets the sound file and may not understand it; what must be understood is safer written.',
  'bots-paused': ({ turns }) =>
    `I have answered ${turns} messages of other bots in a row here. I stay silent to bots now, until a person writes something in this chat.`,
  'empty-message': () => 'There was nothing to read in that message. Write what you need, or attach a file.',
  'late-held': ({ count, oldestMinutes }) =>
    `${messages(count)} reached me late, the oldest sent ${ago(oldestMinutes)}. ${count === 1 ? 'It is' : 'They are'} kept and nothing has run. Say /run to start ${count === 1 ? 'it' : 'them'}, or /skip to let ${count === 1 ? 'it' : 'them'} go.`,
  'backlog-held': ({ count, oldestMinutes }) =>
    `${messages(count)} ${count === 1 ? 'waits' : 'wait'} here behind a turn that runs and ${count === 1 ? 'is' : 'are'} held: too many waited, or for too long. ${count === 1 ? 'It' : 'The oldest'} was sent ${ago(oldestMinutes)}. What waits before ${count === 1 ? 'it' : 'them'} still runs, in order. Say /run to start ${count === 1 ? 'it' : 'all of them'} after that, or /skip to let ${count === 1 ? 'it' : 'them'} go.`,
  ...controlEn,
  ...policyEn,
  progress: ({ progress }) => progressWords(progress, 'en'),
  'turn-failed': ({ reason, requestId }) =>
    `${failure[reason]} Your message is kept, and nothing of it runs again by itself. Send /run to try it once more, or write here how to go on. Request: ${requestId}`,
  'runtime-unavailable': ({ detail }) =>
    `I cannot start yet: ${detail}. Your message is kept and starts by itself as soon as this is mended.`,
  'answered-in-private': () => 'Taken up. The answer goes to the direct chat of whoever asked.',
  'not-confined': ({ detail }) =>
    `I cannot start this here: what is asked where others can read must run confined to its own workspace, and this host cannot do that: ${detail}. Your message is kept and starts by itself as soon as this is mended. In the direct chat with its owner it runs as usual; after \`/chat owner=private-return\` an owner’s own messages here do, too.`,
  'agent-asked-permission': ({ operation }) =>
    `The agent asked to do this, and no permission covers it, so it was not done. Nobody refused it: nobody could be asked, or nobody answered in time. An owner who still wants it asks for it and allows it on the card that comes: ${operation}`,
  'ended-with-turn': ({ commands }) =>
    `Ended with the turn, since nothing of a turn outlives it: ${commands.map(beginning).join('; ')}`,
  'refused-by-host': (notice) => hostRefusalText(notice, 'en'),
  ...permissionEn,
  'cancel-asked': ({ waitsFor }) => cancellationText({ stands: 'asked', waitsFor, happened: [] }, 'en'),
  cancelled: () => cancellationText({ stands: 'acknowledged' }, 'en'),
  'cancel-too-late': (notice) => tooLateText(notice, 'en'),
  'delivery-failed': ({ arrived, total, reason, page = null }) =>
    total === 0
      ? `An answer could not be made ready to send (${whyUndelivered(reason, 'en')}). What there is of it is kept on its page${at(page)}`
      : `An answer could not be delivered where it was asked: ${arrived} of ${total} parts arrived (${whyUndelivered(reason, 'en')}). The whole answer is kept on its page${at(page)}`,
  'delivery-parked': ({ part, arrived, total, page }) =>
    `Nobody can prove whether part ${part} of ${total} of an answer arrived, so nothing more of it is sent by itself; ${arrived} of ${total} parts arrived for certain. Look in the chat, then say one of three things: it arrived; it is not there, send it; let it be. The answer and the three choices are on its page${at(page)}`,
  'answer-withheld': () => 'The answer to this cannot be shown here. Its owner can read it on its page.',
  'answer-withheld-owner': ({ arrived, total, page }) =>
    `Lark's content check refused an answer, so it is not sent in any other form: ${arrived} of ${total} parts arrived. The whole answer is kept on its page${at(page)}`,
  'answers-gone': ({ words, minutes, request }) =>
    `This answers ${words === null ? 'a message' : `“${beginning(words)}”`}${minutes === null ? '' : `, sent ${ago(minutes)}`}, which can no longer be replied to${request === null ? '' : ` (request ${request})`}:`,
  'file-left-out': ({ fileName, reason }) =>
    `The agent wanted to give the file ${fileName} with this answer, and it was not taken: ${leftOut[reason]}`,
  'file-not-sent': ({ fileName, reason, page = null }) =>
    `The file ${fileName} ${notSent[reason]} It is kept on the page of this request${at(page)}`,
}

const failure: Readonly<Record<Extract<Notice, { kind: 'turn-failed' }>['reason'], string>> = {
  exited: 'The agent ended before it answered.',
  hung: 'The agent stopped responding and was ended.',
  'no-output': 'The agent finished without an answer.',
  internal: 'Something on our side broke while the agent worked.',
  garbage: 'The agent answered in a form I could not read.',
  unavailable: 'The agent could not be reached.',
  'too-large': 'This was more than the agent can take at once.',
  'context-full': 'This conversation is longer than the model can read. Write /new for a fresh one, or ask with less.',
  'rate-limit': 'The model takes no more for now: its limit is reached. Try again later, or raise the limit.',
  'signed-out':
    'The model did not accept the sign-in. Sign in again on the machine of the gateway, then run this again.',
  'refused-by-provider':
    'The model provider does not answer this by a rule of its own. Nobody here refused it, and the same words would meet the same rule: ask in another way, or use another model.',
  interrupted: 'The work was interrupted before there was an answer.',
  'repeated-crash':
    'Three times in a row everything ended in the middle of this work, so it may be the work itself that does it.',
}

const leftOut: Readonly<Record<Extract<Notice, { kind: 'file-left-out' }>['reason'], string>> = {
  'outside-workspace': 'it lies outside the folder that the agent may give files from.',
  unreadable: 'it could not be read.',
  'too-large': 'it is too large.',
  empty: 'it is empty.',
  'too-many': 'there were too many files with one answer.',
}

const notSent: Readonly<Record<Extract<Notice, { kind: 'file-not-sent' }>['reason'], string>> = {
  empty: 'is empty, and Lark takes no empty files.',
  'too-large': 'is larger than Lark accepts.',
  refused: 'was not accepted by Lark.',
  'bad-name': 'was not sent: its name was a path, which is not told here.',
}

/** The end of a sentence about a page. A full stop behind an address would be taken for a part of it. */
function at(page: string | null): string {
  return page === null ? '.' : `: ${page}`
}

function messages(count: number): string {
  return count === 1 ? '1 message' : `${count} messages`
}

function ago(minutes: number): string {
  if (minutes < 60) return minutes === 1 ? '1 minute ago' : `${minutes} minutes ago`
  const hours = Math.floor(minutes / 60)
  return hours === 1 ? '1 hour ago' : `${hours} hours ago`
}
